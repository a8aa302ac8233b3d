// A job that ends badly, at whatever moment, and is started again writes in the
// end what an undisturbed one writes.
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kLines = 600;

struct Setting {
  BackendKind backend;
  int shards;
};

class JobRestartTest : public JobFixture,
                       public ::testing::WithParamInterface<Setting> {
 protected:
  JobRestartTest() {
    options_.backend = GetParam().backend;
    options_.shards = GetParam().shards;
    lines_ = VisitLines(kLines);
    WriteInput(lines_);
  }

  // Fails at the n-th element that is processed in a run.
  absl::Status FailAt(int n) {
    std::atomic<int> elements = 0;
    return RunJob({.before_each =
                       [&](const Visit&) {
                         return ++elements == n ? absl::AbortedError("struck")
                                                : absl::OkStatus();
                       }})
        .status();
  }

  std::vector<std::string> lines_;
};

TEST_P(JobRestartTest, AnUndisturbedRun) {
  ASSERT_THAT(RunJob(), IsOk());
  ExpectOutputFor(lines_);
}

TEST_P(JobRestartTest, AFailureAnywhere) {
  for (const int n : {1, 2, 9, 10, 11, 25, 137, 333, kLines - 1, kLines}) {
    ForgetAll();
    ASSERT_THAT(FailAt(n),
                StatusIs(absl::StatusCode::kAborted, HasSubstr("struck")));
    ASSERT_THAT(RunJob(), IsOk());
    ExpectOutputFor(lines_);
  }
}

TEST_P(JobRestartTest, FailureAfterFailure) {
  int runs = 0;
  while (!FailAt(130 + runs % 7).ok()) ASSERT_LT(++runs, kLines);
  EXPECT_GE(runs, 3);
  ExpectOutputFor(lines_);
}

TEST_P(JobRestartTest, OutputThatWentAheadOfTheCommitIsTakenBack) {
  options_.commit_records_max = 1'000'000;
  const std::string padding(2000, '.');
  const auto padded = [&](VisitJob& job) {
    job.To(MakeFileSink(output()),
           [&](const VisitCount& visit, std::string& line) {
             FormatVisitCount(visit, line);
             line += padding;
           });
  };
  std::atomic<int> elements = 0;
  const int struck = kLines - 5;
  ASSERT_THAT(RunJob({.before_each =
                          [&](const Visit&) {
                            return ++elements == struck
                                       ? absl::AbortedError("struck")
                                       : absl::OkStatus();
                          },
                      .change = padded}),
              StatusIs(absl::StatusCode::kAborted));
  ASSERT_THAT(RunJob({.change = padded}), IsOk());
  const auto expected = ExpectedVisits(lines_, options_.shards);
  for (std::size_t shard = 0; shard < expected.size(); ++shard) {
    std::vector<std::string> with_padding = expected[shard];
    for (std::string& line : with_padding) line += padding;
    EXPECT_EQ(LinesOf(Part(shard)), with_padding);
  }
}

// Fails when a shard has given its output to the system, just before it would
// commit: the worst moment there is.
class FailsBeforeCommit final : public Sink {
 public:
  FailsBeforeCommit(std::string path, int flush)
      : inner_(MakeFileSink(std::move(path))), flush_(flush) {}

  const std::string& name() const override { return inner_->name(); }
  absl::Status Check(int shards) override { return inner_->Check(shards); }
  absl::StatusOr<std::optional<OutputFound>> Look(int shard,
                                                  int shards) override {
    return inner_->Look(shard, shards);
  }

  absl::StatusOr<std::unique_ptr<SinkWriter>> OpenShard(
      int shard, int shards,
      std::optional<std::uint64_t> committed_bytes) override {
    auto writer = inner_->OpenShard(shard, shards, committed_bytes);
    if (!writer.ok()) return writer;
    return std::make_unique<Writer>(*std::move(writer), *this);
  }

 private:
  class Writer final : public SinkWriter {
   public:
    Writer(std::unique_ptr<SinkWriter> inner, FailsBeforeCommit& sink)
        : inner_(std::move(inner)), sink_(sink) {}
    const std::string& name() const override { return inner_->name(); }
    absl::Status Write(std::string_view line) override {
      return inner_->Write(line);
    }
    absl::StatusOr<std::uint64_t> Flush(Durability durability) override {
      auto bytes = inner_->Flush(durability);
      if (++sink_.flushes_ != sink_.flush_) return bytes;
      return absl::AbortedError("struck");
    }

   private:
    const std::unique_ptr<SinkWriter> inner_;
    FailsBeforeCommit& sink_;
  };

  const std::unique_ptr<Sink> inner_;
  const int flush_;
  std::atomic<int> flushes_ = 0;
};

TEST_P(JobRestartTest, AFailureBetweenOutputAndCommit) {
  for (const int flush : {1, 2, 5, 20}) {
    ForgetAll();
    ASSERT_THAT(
        RunJob({.sink = std::make_unique<FailsBeforeCommit>(output(), flush)}),
        StatusIs(absl::StatusCode::kAborted, HasSubstr("struck")));
    ASSERT_THAT(RunJob(), IsOk());
    ExpectOutputFor(lines_);
  }
}

TEST_P(JobRestartTest, MalformedLinesAreCountedOnce) {
  std::string bytes;
  for (int i = 0; i < kLines; ++i) {
    absl::StrAppend(&bytes, lines_[static_cast<std::size_t>(i)], "\n");
    if (i % 10 == 3) bytes += "malformed\n\n";
  }
  WriteFile(input(), bytes);
  int runs = 0;
  while (!FailAt(200).ok()) ASSERT_LT(++runs, kLines);
  EXPECT_GE(runs, 1);
  const auto summary = RunJob();
  ASSERT_THAT(summary, IsOk());
  EXPECT_TRUE(summary->already_complete);
  EXPECT_EQ(summary->malformed_lines, kLines / 10u);
  EXPECT_EQ(summary->input_lines, kLines + 2 * kLines / 10u);
  EXPECT_EQ(summary->records, static_cast<std::uint64_t>(kLines));
  ExpectOutputFor(lines_);
}

TEST_P(JobRestartTest, ShardsWithoutElementsDoNotLagBehind) {
  // One user alone lives in one shard alone; the others have nothing to do.
  WriteInput(std::vector<std::string>(100, "a@1000"));
  ASSERT_THAT(RunJob(), IsOk());
  log_.clear();
  ASSERT_THAT(RunJob(), IsOk());
  ASSERT_THAT(log_, SizeIs(1));
  EXPECT_THAT(log_[0], HasSubstr("goes on after line 100 of"));
}

class HeapJobRestartTest : public JobFixture {};

// The error comes when the commit is under way and records are processed again.
TEST_F(HeapJobRestartTest, ACommitThatTheDiskRefusesEndsTheJobAndLosesNothing) {
  options_.backend = BackendKind::kHeap;
  const std::vector<std::string> lines = VisitLines(kLines);
  WriteInput({lines.begin(), lines.begin() + kLines / 2});
  ASSERT_THAT(RunJob(), IsOk());
  WriteInput(lines);
  const std::string snapshot =
      options_.state_directory + "/shard-00000/snapshot.tmp";
  std::filesystem::create_symlink("/dev/full", snapshot);
  EXPECT_THAT(RunJob(), StatusIs(absl::StatusCode::kResourceExhausted,
                                 HasSubstr(snapshot)));
  std::filesystem::remove(snapshot);
  ASSERT_THAT(RunJob(), IsOk());
  ExpectOutputFor(lines);
}

INSTANTIATE_TEST_SUITE_P(BackendsAndShards, JobRestartTest,
                         ::testing::Values(Setting{BackendKind::kHeap, 1},
                                           Setting{BackendKind::kHeap, 2},
                                           Setting{BackendKind::kHeap, 7},
                                           Setting{BackendKind::kRocksdb, 1},
                                           Setting{BackendKind::kRocksdb, 2},
                                           Setting{BackendKind::kRocksdb, 7}),
                         [](const ::testing::TestParamInfo<Setting>& setting) {
                           return absl::StrCat(
                               setting.param.backend == BackendKind::kHeap
                                   ? "Heap"
                                   : "Rocksdb",
                               setting.param.shards);
                         });

}  // namespace
}  // namespace mayfly
