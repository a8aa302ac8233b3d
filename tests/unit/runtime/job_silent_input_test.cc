// A job whose input stays open while nothing comes.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A source in which nothing comes any more, as in a pipe that stays open.
class SilentSource final : public Source {
 public:
  // `on_silence` is called over and over while nothing comes; it may be null.
  explicit SilentSource(std::unique_ptr<Source> inner,
                        std::function<void()> on_silence = nullptr)
      : inner_(std::move(inner)), on_silence_(std::move(on_silence)) {}
  const std::string& name() const override { return inner_->name(); }
  absl::Status Open() override { return inner_->Open(); }
  absl::Status SeekTo(const SourcePosition& position) override {
    return inner_->SeekTo(position);
  }
  absl::StatusOr<SourceRead> Next(SourceLine& line) override {
    absl::StatusOr<SourceRead> read = inner_->Next(line);
    if (!read.ok() || *read != SourceRead::kEnd) return read;
    if (on_silence_ != nullptr) on_silence_();
    return SourceRead::kIdle;
  }
  std::optional<std::uint64_t> total_bytes() const override {
    return std::nullopt;
  }

 private:
  const std::unique_ptr<Source> inner_;
  const std::function<void()> on_silence_;
};

class SilentInputTest : public JobFixture {
 protected:
  std::unique_ptr<Source> Silent() const {
    return std::make_unique<SilentSource>(MakeFileSource(input()));
  }
};

TEST_F(SilentInputTest, AnErrorEndsTheWaitForMoreInput) {
  WriteFile(input(), "a@1000\n");
  EXPECT_THAT(
      RunJob({.before_each =
                  [](const Visit&) { return absl::AbortedError("struck"); },
              .change =
                  [&](VisitJob& job) {
                    job.From(
                        std::make_unique<SilentSource>(MakeFileSource(input())),
                        ParseVisit);
                  }}),
      StatusIs(absl::StatusCode::kAborted));
}

TEST_F(SilentInputTest, WhatWasReadIsProcessedWhileNothingComes) {
  WriteFile(input(), "a@1000\n");
  options_.commit_records_max = 1'000'000;
  VisitJob* running = nullptr;
  const auto summary = RunJob(
      {.before_each =
           [&](const Visit&) {
             running->RequestStop();
             return absl::OkStatus();
           },
       .change =
           [&](VisitJob& job) {
             running = &job;
             job.From(std::make_unique<SilentSource>(MakeFileSource(input())),
                      ParseVisit);
           }});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->records, 1u);
  ExpectOutputFor({"a@1000"});
}

TEST_F(SilentInputTest, ARestartOnAPipeSaysWhatItTakesForRead) {
  WriteFile(input(), "a@1000\n");
  ASSERT_THAT(RunJob(), IsOk());
  VisitJob* running = nullptr;
  ASSERT_THAT(RunJob({.change =
                          [&](VisitJob& job) {
                            running = &job;
                            job.From(Silent(), ParseVisit);
                            running->RequestStop();
                          }}),
              IsOk());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("its first 7 bytes are taken")));
}

// Calls back when a shard has given its output to the system, which it does to
// commit.
class TellsOfCommits final : public Sink {
 public:
  TellsOfCommits(std::string path, std::function<void()> tell)
      : inner_(MakeFileSink(std::move(path))), tell_(std::move(tell)) {}

  const std::string& name() const override { return inner_->name(); }
  absl::Status Check(int shards) override { return inner_->Check(shards); }
  absl::StatusOr<std::unique_ptr<SinkWriter>> OpenShard(
      int shard, int shards,
      std::optional<std::uint64_t> committed_bytes) override {
    auto writer = inner_->OpenShard(shard, shards, committed_bytes);
    if (!writer.ok()) return writer;
    return std::make_unique<Writer>(*std::move(writer), tell_);
  }

 private:
  class Writer final : public SinkWriter {
   public:
    Writer(std::unique_ptr<SinkWriter> inner, const std::function<void()>& tell)
        : inner_(std::move(inner)), tell_(tell) {}
    const std::string& name() const override { return inner_->name(); }
    absl::Status Write(std::string_view line) override {
      return inner_->Write(line);
    }
    absl::StatusOr<std::uint64_t> Flush(Durability durability) override {
      tell_();
      return inner_->Flush(durability);
    }

   private:
    const std::unique_ptr<SinkWriter> inner_;
    const std::function<void()>& tell_;
  };

  const std::unique_ptr<Sink> inner_;
  const std::function<void()> tell_;
};

TEST_F(SilentInputTest, WhatWasProcessedIsCommittedWhileNothingComes) {
  WriteFile(input(), "a@1000\n");
  options_.commit_records_max = 1'000'000;
  options_.commit_interval = std::chrono::milliseconds(1);
  // The job ends only because there is a commit: it is never asked to stop
  // before.
  VisitJob* running = nullptr;
  const auto summary = RunJob({.change =
                                   [&](VisitJob& job) {
                                     running = &job;
                                     job.From(Silent(), ParseVisit);
                                   },
                               .sink = std::make_unique<TellsOfCommits>(
                                   output(), [&] { running->RequestStop(); })});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->shards[0].commits, 1u);
  ExpectOutputFor({"a@1000"});
}

TEST_F(SilentInputTest, MalformedLinesStayCountedAtACutOffEnd) {
  WriteFile(input(), "bad\na@1000\n");
  VisitJob* running = nullptr;
  ASSERT_THAT(RunJob({.before_each =
                          [&](const Visit&) {
                            running->RequestStop();
                            return absl::OkStatus();
                          },
                      .change =
                          [&](VisitJob& job) {
                            running = &job;
                            job.From(Silent(), ParseVisit);
                          }}),
              IsOk());
  AppendToFile(input(), "b");
  for (int run = 0; run < 2; ++run) {
    const auto summary = RunJob();
    ASSERT_THAT(summary, IsOk());
    EXPECT_EQ(summary->malformed_lines, 2u);
  }
}

// Case C57: the wall clock goes on although nothing comes, and what expires by
// it leaves memory and disk. The job is stopped by the commit that says so.
class IdleJobTest : public SilentInputTest,
                    public ::testing::WithParamInterface<BackendKind> {};

INSTANTIATE_TEST_SUITE_P(Backends, IdleJobTest,
                         ::testing::Values(BackendKind::kHeap,
                                           BackendKind::kRocksdb),
                         [](const auto& at) {
                           return at.param == BackendKind::kHeap ? "Heap"
                                                                 : "Rocksdb";
                         });

class Remembers final : public VisitFunction {
 public:
  absl::Status Open(RuntimeContext& context) override {
    ValueStateDescriptor<std::int64_t> descriptor("seen");
    descriptor.EnableTimeToLive(
        StateTtlConfig::NewBuilder(std::chrono::milliseconds(100))
            .CleanupIncrementally(5, false)
            .Build()
            .value());
    MAYFLY_ASSIGN_OR_RETURN(seen_, context.GetState(descriptor));
    return absl::OkStatus();
  }
  absl::Status ProcessElement(const Visit& visit, Context&,
                              Collector<VisitCount>&) override {
    return seen_->Update(visit.time_ms);
  }

 private:
  ValueState<std::int64_t>* seen_ = nullptr;
};

TEST_P(IdleJobTest, CaseC57CleansUpByTheWallClock) {
  WriteInput({"a@1", "b@2", "c@3"});
  options_.backend = GetParam();
  options_.commit_interval = std::chrono::milliseconds(1);
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  options_.processing_clock = clock;
  VisitJob* running = nullptr;
  int commits = 0;
  const auto summary =
      RunJob({.change =
                  [&](VisitJob& job) {
                    running = &job;
                    job.From(Silent(), ParseVisit).Process([] {
                      return std::make_unique<Remembers>();
                    });
                  },
              .sink = std::make_unique<TellsOfCommits>(output(), [&] {
                // The first one is of the records themselves. The clock moves
                // on then, and nothing else happens any more.
                if (++commits == 1) clock->Advance(std::chrono::hours(1));
                if (commits == 2) running->RequestStop();
              })});
  ASSERT_THAT(summary, IsOk());
  ASSERT_EQ(summary->states.size(), 1u);
  EXPECT_EQ(summary->states[0].live_entries, 0u);
  EXPECT_EQ(summary->states[0].expired_entries, 0u);
}

// In which, once the inner one has ended, a line comes now and then.
class TricklingSource final : public Source {
 public:
  // Each line comes after `before_each` was called.
  TricklingSource(std::unique_ptr<Source> inner, std::string line, int times,
                  std::function<void()> before_each)
      : inner_(std::move(inner)),
        line_(std::move(line)),
        left_(2 * times),
        before_each_(std::move(before_each)) {}
  const std::string& name() const override { return inner_->name(); }
  absl::Status Open() override { return inner_->Open(); }
  absl::Status SeekTo(const SourcePosition& position) override {
    return inner_->SeekTo(position);
  }
  absl::StatusOr<SourceRead> Next(SourceLine& line) override {
    if (!trickles_) {
      absl::StatusOr<SourceRead> read = inner_->Next(line);
      if (!read.ok() || *read != SourceRead::kEnd) {
        end_ = line.end;
        return read;
      }
      trickles_ = true;
    }
    if (left_-- == 0) return SourceRead::kEnd;
    // Handed over before the next one comes.
    if (left_ % 2 == 0) return SourceRead::kIdle;
    before_each_();
    line.text = line_;
    line.terminated = true;
    line.number = ++end_.lines;
    end_.bytes += line_.size() + 1;
    line.end = end_;
    return SourceRead::kLine;
  }
  std::optional<std::uint64_t> total_bytes() const override {
    return std::nullopt;
  }

 private:
  const std::unique_ptr<Source> inner_;
  const std::string line_;
  int left_;
  const std::function<void()> before_each_;
  bool trickles_ = false;
  SourcePosition end_;
};

// A little input of one key is too little to pay for what has expired under all
// others, and yet the shard is never without.
TEST_P(IdleJobTest, CleansUpWhileLittleComes) {
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) {
    lines.push_back(absl::StrCat("user", i, "@1"));
  }
  WriteInput(lines);
  options_.backend = GetParam();
  options_.disk_sweeps.reset();
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  options_.processing_clock = clock;
  const auto summary = RunJob({.change = [&](VisitJob& job) {
    job.From(std::make_unique<TricklingSource>(
                 MakeFileSource(input()), "late@2", 200,
                 [&] { clock->Advance(std::chrono::milliseconds(400)); }),
             ParseVisit)
        .Process([] { return std::make_unique<Remembers>(); });
  }});
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->records, 3200u);
  ASSERT_EQ(summary->states.size(), 1u);
  EXPECT_EQ(
      summary->states[0].live_entries + summary->states[0].expired_entries, 1u);
  EXPECT_GE(summary->states[0].cleanup.incremental.entries, 2'990u);
}

// By sweeps of the disk, too, which write to a file what was in memory before
// they can take it away. The job stops when there is such a file.
TEST_F(SilentInputTest, CaseC57SweepsTheDiskWhileNothingComes) {
  WriteInput({"a@1", "b@2", "c@3"});
  options_.disk_sweeps = {
      .sweep = {.staleness_max = std::chrono::milliseconds(1000)},
      .interval = std::chrono::milliseconds(1000)};
  options_.commit_interval = std::chrono::milliseconds(1);
  const auto clock = std::make_shared<ManualClock>(1'000'000);
  options_.processing_clock = clock;
  VisitJob* running = nullptr;
  const auto look = [&] {
    clock->Advance(std::chrono::milliseconds(100));
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(
             options_.state_directory + "/shard-00000/db", gone)) {
      if (entry.path().extension() == ".sst") running->RequestStop();
    }
  };
  const auto summary = RunJob({.change = [&](VisitJob& job) {
    running = &job;
    job.From(std::make_unique<SilentSource>(MakeFileSource(input()), look),
             ParseVisit)
        .Process([] { return std::make_unique<Remembers>(); });
  }});
  ASSERT_THAT(summary, IsOk());
  EXPECT_GE(summary->swept.flushes, 1u);
  ASSERT_FALSE(summary->sweeps.empty());
  EXPECT_EQ(summary->sweeps.front().shard, "shard 0");
  EXPECT_THAT(summary->sweeps.front().status, IsOk());
}

}  // namespace
}  // namespace mayfly
