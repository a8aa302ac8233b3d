// A state directory that does not fit the job: refused in words that name the
// thing and the way out, and left as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mayfly/state/internal/record_file.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/v1/job.pb.h"
#include "mayfly/v1/state.pb.h"
#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matcher;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A job that has run to its end, and what it wrote.
class BadStateTest : public ::testing::TestWithParam<std::string> {
 protected:
  BadStateTest() {
    const ProcessResult result = job_.Run();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    parts_ = job_.Parts();
    EXPECT_THAT(Lines(parts_[0]), SizeIs(testing::Gt(5'000)));
  }

  void ExpectRefused(const std::vector<std::string>& command,
                     const Matcher<const std::string&>& says) {
    const ProcessResult result = RunProcess(command);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(Lines(result.err), SizeIs(1)) << result.err;
    EXPECT_THAT(result.err, AllOf(StartsWith("airport_delays: "), says));
    ExpectNothingIsLost();
  }

  void ExpectNothingIsLost() { EXPECT_TRUE(job_.Parts() == parts_); }

  void ExpectStillGood() {
    const ProcessResult result = job_.Run();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("Nothing to do"));
    ExpectNothingIsLost();
  }

  std::vector<std::string> With(const std::string& flag) const {
    std::vector<std::string> command = job_.Command();
    command.push_back(flag);
    return command;
  }

  DemoJob job_{DemoFlags{GetParam(), 2}};
  std::vector<std::string> parts_;
};

INSTANTIATE_TEST_SUITE_P(Backends, BadStateTest,
                         ::testing::Values("heap", "rocksdb"),
                         [](const auto& test) { return test.param; });

TEST_P(BadStateTest, OfAnotherNumberOfShards) {
  ExpectRefused(With("--shards=3"),
                AllOf(HasSubstr(job_.state_path()),
                      HasSubstr("written with 2 shards, and 3 are asked for"),
                      HasSubstr("start with 2"), HasSubstr("restore_from")));
  ExpectStillGood();
}

TEST_P(BadStateTest, OfTheOtherBackend) {
  const bool is_heap = job_.flags().backend == "heap";
  ExpectRefused(With(is_heap ? "--backend=rocksdb" : "--backend=heap"),
                AllOf(HasSubstr(job_.shard_path(0)),
                      HasSubstr("written by the " + job_.flags().backend),
                      HasSubstr("start with the old backend"),
                      HasSubstr("restore a savepoint or a checkpoint")));
  ExpectStillGood();
}

TEST_P(BadStateTest, OnTheOtherTime) {
  ExpectRefused(
      With("--time=processing"),
      AllOf(HasSubstr("StateMigration: state 'streak'"),
            HasSubstr("stored with timestamps in event time and asked for with "
                      "processing time"),
            HasSubstr("start with the old setting")));
  ExpectStillGood();
}

// Mistyped, or lost.
TEST_P(BadStateTest, ThatIsNew) {
  const std::string path = job_.Path("stat");
  ExpectRefused(
      With("--state-dir=" + path),
      AllOf(HasSubstr("'" + path + "' holds no job"),
            HasSubstr("'" + job_.output_path() + "/part-00000'"),
            HasSubstr("restore_from"), HasSubstr("move the output away")));
  EXPECT_FALSE(fs::exists(path));
  ExpectStillGood();
}

TEST_P(BadStateTest, OfANewerJob) {
  const std::string path = job_.state_path() + "/JOB.mayfly";
  const std::string bytes = ReadFileOrDie(path);
  v1::JobRecord record;
  ASSERT_TRUE(state_internal::ReadRecordFile(path, record).ok());
  record.set_format_version(99);
  ASSERT_TRUE(
      state_internal::WriteRecordFile(path, record, /*sync=*/false).ok());
  const std::string newer = ReadFileOrDie(path);
  ExpectRefused(job_.Command(),
                AllOf(HasSubstr(job_.state_path()), HasSubstr("version 99"),
                      HasSubstr("use the newer program")));
  EXPECT_EQ(ReadFileOrDie(path), newer);
  WriteFileOrDie(path, bytes);
  ExpectStillGood();
}

TEST_P(BadStateTest, ThatIsNoJobsAnyMore) {
  const std::string path = job_.state_path() + "/JOB.mayfly";
  const std::string bytes = ReadFileOrDie(path);
  WriteFileOrDie(path, "\xff");
  ExpectRefused(job_.Command(),
                AllOf(HasSubstr("JOB.mayfly that cannot be read"),
                      HasSubstr("new directory")));
  fs::remove(path);
  ExpectRefused(job_.Command(),
                AllOf(HasSubstr("no JOB.mayfly"), HasSubstr("new directory")));
  WriteFileOrDie(path, bytes);
  ExpectStillGood();
}

TEST_P(BadStateTest, ThatIsAFile) {
  const std::string path = job_.Path("file");
  WriteFileOrDie(path, "precious");
  ExpectRefused(With("--state-dir=" + path),
                AllOf(HasSubstr(path), HasSubstr("irectory")));
  EXPECT_EQ(ReadFileOrDie(path), "precious");
  ExpectStillGood();
}

TEST_P(BadStateTest, WhoseOutputIsGone) {
  const std::string path = job_.output_path() + "/part-00001";
  fs::remove(path);
  const ProcessResult result = job_.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr(path), HasSubstr("put it back"),
                                HasSubstr("new state directory")));
  WriteFileOrDie(path, parts_[1]);
  ExpectStillGood();
}

TEST_P(BadStateTest, InUseByARunningJob) {
  DemoJob running(DemoFlags{.backend = GetParam(),
                            .input = "-",
                            .more = {"--progress-interval=1ms"}});
  const std::string flights = ReadFileOrDie(FlightsPath());
  Process process(running.Command(), Process::Input::kPipe);
  process.Write(std::string_view(flights).substr(0, flights.size() / 2));
  while (process.err().find("records") == std::string::npos) {
    ASSERT_FALSE(process.EndsWithin(std::chrono::microseconds(1000)))
        << process.err();
  }

  const ProcessResult second = running.Run();
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, AllOf(HasSubstr("'" + running.state_path() +
                                          "' is in use by "
                                          "process " +
                                          std::to_string(process.pid())),
                                HasSubstr("stop it first")));

  process.Write(std::string_view(flights).substr(flights.size() / 2));
  const ProcessResult first = process.Wait();
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(Lines(running.Parts()[0]), SizeIs(20'000));
}

// The directory of one shard, written by a program of other ideas.
class OtherStateTest : public ::testing::TestWithParam<std::string> {
 protected:
  using Backend = KeyedStateBackend<std::string>;

  // An empty run makes the directory of the job; then `set_up` has its shard.
  void WriteShard(const std::function<void(Backend&)>& set_up) {
    job_.flags().input = "/dev/null";
    ASSERT_EQ(job_.Run().exit_code, 0);
    job_.flags().input = FlightsPath();
    fs::remove_all(job_.shard_path(0));
    BackendOptions options;
    options.kind =
        GetParam() == "heap" ? BackendKind::kHeap : BackendKind::kRocksdb;
    options.directory = job_.shard_path(0);
    auto backend = Backend::Open(options);
    ASSERT_THAT(backend, IsOk());
    (*backend)->SetCurrentKey("DTW");
    set_up(**backend);
    ASSERT_THAT((*backend)->Commit(), IsOk());
  }

  void ExpectRefused(const Matcher<const std::string&>& says) {
    for (int run = 0; run < 2; ++run) {
      const ProcessResult result = job_.Run();
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_THAT(Lines(result.err), SizeIs(1)) << result.err;
      EXPECT_THAT(result.err, says);
    }
  }

  static StateTtlConfig Ttl() {
    return *StateTtlConfig::NewBuilder(std::chrono::hours(3))
                .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
                .Build();
  }

  DemoJob job_{DemoFlags{GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(Backends, OtherStateTest,
                         ::testing::Values("heap", "rocksdb"),
                         [](const auto& test) { return test.param; });

TEST_P(OtherStateTest, WithoutATtl) {
  const ValueStateDescriptor<std::int64_t> streak("streak");
  const auto set_up = [&](KeyedStateBackend<std::string>& backend) {
    const auto state = backend.GetState(streak);
    ASSERT_THAT(state, IsOk());
    ASSERT_THAT((*state)->Update(7), IsOk());
  };
  WriteShard(set_up);
  ExpectRefused(AllOf(HasSubstr("StateMigration: state 'streak'"),
                      HasSubstr("stored with no TTL and asked for "
                                "with a TTL"),
                      HasSubstr("empty state directory")));

  BackendOptions options;
  options.kind =
      GetParam() == "heap" ? BackendKind::kHeap : BackendKind::kRocksdb;
  options.directory = job_.shard_path(0);
  auto backend = Backend::Open(options);
  ASSERT_THAT(backend, IsOk());
  const auto state = (*backend)->GetState(streak);
  ASSERT_THAT(state, IsOk());
  (*backend)->SetCurrentKey("DTW");
  const auto value = (*state)->Value();
  ASSERT_THAT(value, IsOk());
  ASSERT_NE(*value, nullptr);
  EXPECT_EQ(**value, 7);
}

TEST_P(OtherStateTest, WithAnotherSerializer) {
  WriteShard([](KeyedStateBackend<std::string>& backend) {
    ValueStateDescriptor<std::string> streak("streak");
    streak.EnableTimeToLive(Ttl());
    const auto state = backend.GetState(streak);
    ASSERT_THAT(state, IsOk());
    ASSERT_THAT((*state)->Update("seven"), IsOk());
  });
  ExpectRefused(AllOf(HasSubstr("state 'streak'"),
                      HasSubstr("stored with the value serializer string@1 and "
                                "asked for with int64@1"),
                      HasSubstr("empty state directory")));
}

TEST_P(OtherStateTest, OfAnotherKind) {
  WriteShard([](KeyedStateBackend<std::string>& backend) {
    ListStateDescriptor<std::int64_t> streak("streak");
    streak.EnableTimeToLive(Ttl());
    ASSERT_THAT(backend.GetState(streak), IsOk());
  });
  ExpectRefused(AllOf(HasSubstr("state 'streak'"),
                      HasSubstr("stored with the kind list and asked for with "
                                "value")));
}

// The shards of a RocksDB job have a record; those of a heap job have it in
// their snapshot.
TEST(OtherShard, OfANewerVersion) {
  DemoJob job({});
  ASSERT_EQ(job.Run().exit_code, 0);
  const std::vector<std::string> parts = job.Parts();
  const std::string path = job.shard_path(0) + "/MANIFEST.mayfly";
  const std::string bytes = ReadFileOrDie(path);
  v1::ShardRecord record;
  ASSERT_TRUE(state_internal::ReadRecordFile(path, record).ok());
  record.set_format_version(99);
  ASSERT_TRUE(
      state_internal::WriteRecordFile(path, record, /*sync=*/false).ok());
  ProcessResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr(path), HasSubstr("newer version of Mayfly"),
                    HasSubstr("format 99"), HasSubstr("start with that")));
  WriteFileOrDie(path, bytes);
  result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(job.Parts() == parts);
}

}  // namespace
}  // namespace mayfly::e2e
