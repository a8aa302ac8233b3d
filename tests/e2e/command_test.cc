// The command mayfly, on what the demo job has left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mayfly/testing/temp_directory.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CommandTest : public ::testing::TestWithParam<std::string> {
 protected:
  CommandTest() {
    const ProcessResult result = job_.Run();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  static ProcessResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MAYFLY_COMMAND);
    return RunProcess(arguments);
  }

  static std::string Out(const std::vector<std::string>& arguments) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }

  DemoJob job_{{.backend = GetParam(), .shards = 2}};
};

INSTANTIATE_TEST_SUITE_P(Backends, CommandTest,
                         ::testing::Values("heap", "rocksdb"));

TEST_P(CommandTest, InspectTellsTheSameToPeopleAndPrograms) {
  const std::string text = Out({"inspect", job_.state_path()});
  EXPECT_THAT(text, AllOf(HasSubstr(job_.shard_path(0)), HasSubstr(GetParam()),
                          HasSubstr("streak: value, key string@1, value "
                                    "int64@1, TTL 3h of event time")));
  const json read = json::parse(Out({"inspect", job_.state_path(), "--json"}));
  ASSERT_THAT(read["shards"], SizeIs(2));
  for (const json& shard : read["shards"]) {
    EXPECT_EQ(shard["backend"], GetParam());
    EXPECT_THAT(shard["states"], SizeIs(3));
    EXPECT_EQ(shard["states"][0]["ttl_ms"], 10'800'000);
    EXPECT_THAT(
        text, HasSubstr(std::to_string(shard["states"][0]["keys"].get<int>())));
  }
}

TEST_P(CommandTest, InspectFindsAKeyInItsShard) {
  const json read = json::parse(Out(
      {"inspect", job_.state_path(), "--state=recent", "--key=DTW", "--json"}));
  ASSERT_FALSE(read["entries"].empty());
  const json& entry = read["entries"][0];
  EXPECT_EQ(entry["expired"], false);
  EXPECT_EQ(entry["expires_ms"].get<std::int64_t>(),
            entry["timestamp_ms"].get<std::int64_t>() + 10'800'000);
  // All of them are in one shard, which says so.
  const std::string shard = entry["shard"];
  EXPECT_THAT(shard, AnyOf(job_.shard_path(0), job_.shard_path(1)));
  EXPECT_THAT(
      Out({"inspect", job_.state_path(), "--state=recent", "--key-hex=445457"}),
      AllOf(StartsWith(shard + ":\n"), HasSubstr("stamped 2001-03-31T"),
            HasSubstr(", expires 2001-")));
  EXPECT_THAT(
      Out({"inspect", job_.state_path(), "--state=recent", "--key=nowhere"}),
      HasSubstr("nothing is stored"));
}

// A savepoint is restored on the other backend, and shows what was there.
TEST_P(CommandTest, SavepointAndRestoreMoveAShard) {
  const std::string file = job_.Path("save");
  const std::string restored = job_.Path("restored");
  const std::string other = GetParam() == "heap" ? "rocksdb" : "heap";
  EXPECT_THAT(Out({"savepoint", job_.shard_path(0), file}),
              HasSubstr("keys read"));
  Out({"restore", file, "--to=" + restored, "--backend=" + other});
  const json before =
      json::parse(Out({"inspect", job_.shard_path(0), "--json"}))["shards"][0];
  const json after =
      json::parse(Out({"inspect", restored, "--json"}))["shards"][0];
  EXPECT_EQ(after["backend"], other);
  EXPECT_EQ(after["position_hex"], before["position_hex"]);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after["states"][i]["live_entries"],
              before["states"][i]["live_entries"]);
    EXPECT_EQ(after["states"][i]["expired_entries"], 0);
  }
}

// What the job itself would have written, and restores.
TEST_P(CommandTest, ASavepointOfAStoppedJobIsRestoredByTheJob) {
  const std::string savepoints = job_.Path("savepoints");
  EXPECT_THAT(Out({"savepoint", job_.state_path(), savepoints}),
              HasSubstr(savepoints + "/savepoint-00001: "));
  EXPECT_THAT(Out({"savepoint", job_.state_path(), savepoints}),
              HasSubstr(savepoints + "/savepoint-00002: "));
  EXPECT_THAT(Out({"verify", savepoints}), HasSubstr("savepoint-00002: good"));
  DemoJob other({.backend = GetParam() == "heap" ? "rocksdb" : "heap",
                 .shards = 2,
                 .more = {"--restore-from=" + savepoints}});
  const ProcessResult restored = other.Run();
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.err,
              HasSubstr("is restored from " + savepoints + "/savepoint-00002"));
  // What it held is live, and nothing of the input was left to do.
  const auto live = [](const std::string& state) {
    std::int64_t entries = 0;
    const json read = json::parse(Out({"inspect", state, "--json"}));
    for (const json& shard : read["shards"]) {
      entries += shard["states"][0]["live_entries"].get<std::int64_t>();
    }
    return entries;
  };
  EXPECT_EQ(live(other.state_path()), live(job_.state_path()));
  EXPECT_EQ(other.OutputBytes(), 0u);
}

TEST_P(CommandTest, ASavepointOfAJobNeedsAllShardsAtOnePlace) {
  const std::string savepoints = job_.Path("savepoints");
  // As after a kill: one shard is as it was when another job was younger.
  DemoJob younger({.backend = GetParam(), .shards = 2, .input = "/dev/null"});
  ASSERT_EQ(younger.Run().exit_code, 0);
  fs::remove_all(job_.shard_path(1));
  fs::copy(younger.shard_path(1), job_.shard_path(1),
           fs::copy_options::recursive);
  const ProcessResult result =
      Run({"savepoint", job_.state_path(), savepoints});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("same place of the input"));
  EXPECT_FALSE(fs::exists(savepoints));
}

TEST_P(CommandTest, WhoIsGivenTheWholeJobSaysWhereItsShardsAre) {
  const std::string savepoints = job_.Path("savepoints");
  Out({"savepoint", job_.state_path(), savepoints});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{
           {"restore", job_.state_path(), "--to=" + job_.Path("to")},
           {"restore", savepoints, "--to=" + job_.Path("to")},
           {"savepoint", savepoints, job_.Path("file")}}) {
    const ProcessResult result = Run(command);
    EXPECT_EQ(result.exit_code, 1) << ::testing::PrintToString(command);
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("/shard-00000"), HasSubstr("/shard-00001")));
  }
}

// The shards of a job stand at positions of their own.
TEST_P(CommandTest, ARestoreFromSeveralShardsAsksForThePosition) {
  const std::string to = job_.Path("restored");
  std::vector<std::string> command = {"restore", job_.shard_path(0),
                                      job_.shard_path(1), "--to=" + to};
  const ProcessResult asks = Run(command);
  EXPECT_EQ(asks.exit_code, 1);
  EXPECT_THAT(asks.err, HasSubstr("another position"));
  EXPECT_FALSE(fs::exists(to));
  command.push_back("--position-hex=6869");
  EXPECT_THAT(Out(command), HasSubstr("position 0x6869"));
  fs::remove_all(to);
  command.back() = "--no-position";
  EXPECT_THAT(Out(command), HasSubstr("position none"));
  const json read = json::parse(Out({"inspect", to, "--json"}));
  EXPECT_EQ(read["shards"][0]["position_hex"], "");
}

TEST_P(CommandTest, CompactHasWhatHasExpiredLeave) {
  Out({"compact", job_.state_path()});
  const json read = json::parse(Out({"inspect", job_.state_path(), "--json"}));
  if (GetParam() == "rocksdb") {
    EXPECT_EQ(read["shards"][0]["states"][0]["expired_entries"], 0);
  }
  // The job goes on with it.
  const ProcessResult again = job_.Run();
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_P(CommandTest, VerifyFindsWhatIsDamaged) {
  EXPECT_THAT(Out({"verify", job_.state_path()}), HasSubstr("good"));
  const std::string path = job_.shard_path(1) + "/MANIFEST.mayfly";
  const std::string bytes = ReadFileOrDie(path);
  WriteFileOrDie(path, bytes.substr(0, bytes.size() - 1));
  const ProcessResult result = Run({"verify", job_.state_path()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr(job_.shard_path(0) + ": good"),
                                HasSubstr("checksum is wrong")));
  EXPECT_THAT(result.err, HasSubstr("1 of 3 are not good"));
  const ProcessResult as_json = Run({"verify", job_.state_path(), "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  EXPECT_EQ(json::parse(as_json.out)["results"][2]["ok"], false);
}

TEST_P(CommandTest, VerifyComparesASavepointOfAJobWithItsManifest) {
  const std::string savepoints = job_.Path("savepoints");
  DemoJob job({.backend = GetParam(),
               .shards = 2,
               .more = {"--savepoint-on-stop=" + savepoints}});
  const ProcessResult stopped = job.Run();
  ASSERT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(Out({"verify", savepoints}),
              AllOf(HasSubstr("/savepoint-"), HasSubstr("shard-00001")));
  EXPECT_THAT(Run({"compact", savepoints}).err,
              HasSubstr("must stay as it is"));
  std::string second;
  for (const auto& entry : fs::recursive_directory_iterator(savepoints)) {
    if (entry.path().filename() == "shard-00001.savepoint") {
      second = entry.path();
    }
  }
  ASSERT_TRUE(fs::remove(second));
  const ProcessResult result = Run({"verify", savepoints});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr(second + "' is missing"));
}

// The state of a loop without a job, and without event time.
class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    EXPECT_EQ(
        RunProcess({MAYFLY_TALLY, "count", state_, file_}, "a\nb\n").exit_code,
        0);
  }

  static ProcessResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MAYFLY_COMMAND);
    return RunProcess(arguments);
  }

  const TempDirectory directory_;
  const std::string state_ = directory_.Path("state");
  const std::string file_ = directory_.Path("savepoint");
};

TEST_F(LoopTest, HasNoEventTime) {
  EXPECT_THAT(Run({"inspect", state_}).out, HasSubstr(", no event time\n"));
  const json read = json::parse(Run({"inspect", state_, "--json"}).out);
  EXPECT_TRUE(read["shards"][0]["event_clock_ms"].is_null());
}

TEST_F(LoopTest, ASavepointKeepsThePositionAndOverwritesNothing) {
  const ProcessResult again = Run({"savepoint", state_, file_});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, AllOf(HasSubstr(file_), HasSubstr("there already")));
  const std::string restored = directory_.Path("restored");
  // "2", the lines that it has counted.
  EXPECT_THAT(Run({"restore", file_, "--to=" + restored}).out,
              HasSubstr("position 0x32"));
}

TEST_F(LoopTest, AnotherFileIsNoSavepointRatherThanADamagedOne) {
  WriteFileOrDie(file_, "the notes of last week");
  const ProcessResult result =
      Run({"restore", file_, "--to=" + directory_.Path("restored")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is no savepoint"));
}

TEST_P(CommandTest, CompactLeavesTheShardsOfACheckpointAlone) {
  const std::string checkpoints = job_.Path("checkpoints");
  DemoJob job({.backend = GetParam(),
               .shards = 2,
               .more = {"--checkpoint-dir=" + checkpoints}});
  ASSERT_EQ(job.Run().exit_code, 0);
  const std::string checkpoint = checkpoints + "/checkpoint-00001";
  for (const std::string& path :
       {checkpoints, checkpoint, checkpoint + "/shard-00000",
        checkpoint + "/shard-00000/"}) {
    EXPECT_THAT(Run({"compact", path}).err, HasSubstr("must stay as it is"));
  }
  fs::remove(checkpoint + "/manifest");
  EXPECT_THAT(Run({"compact", checkpoint}).err,
              HasSubstr("must stay as it is"));
}

// The job would not go on with it, or not be restored from it.
TEST_P(CommandTest, VerifyMissesWhatIsNotThere) {
  const std::string savepoints = job_.Path("savepoints");
  Out({"savepoint", job_.state_path(), savepoints});
  const std::string savepoint = savepoints + "/savepoint-00001";
  fs::remove(savepoint + "/manifest");
  ProcessResult result = Run({"verify", savepoint});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr(savepoint + "/manifest"));
  fs::remove_all(job_.shard_path(1));
  result = Run({"verify", job_.state_path()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr("has lost shard-00001"));
}

// What cannot be read may be good.
TEST_P(CommandTest, VerifyTellsUnreadableFromDamaged) {
  // Nothing is there at its beginning, which is an error of the disk to whoever
  // reads it.
  const std::string record = job_.shard_path(1) + "/MANIFEST.mayfly";
  fs::remove(record);
  fs::create_symlink("/proc/self/mem", record);
  const ProcessResult result = Run({"verify", job_.state_path()});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("Input/output error"));
}

TEST_P(CommandTest, AnAnswerThatNobodyGetsIsAFailure) {
  for (const char* const command : {"inspect", "verify"}) {
    const ProcessResult result =
        RunProcess({"/bin/sh", "-c",
                    std::string(MAYFLY_COMMAND) + " " + command + " " +
                        job_.state_path() + " > /dev/full"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("cannot write to standard output"));
  }
}

TEST_P(CommandTest, InspectOfAStateThatIsNotThereSaysSo) {
  const ProcessResult result =
      Run({"inspect", job_.state_path(), "--state=streek"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("has a state 'streek'"));
}

// A path is bytes, and JSON is not.
TEST_P(CommandTest, JsonIsJsonWhateverThePathIs) {
  const std::string path = job_.Path("state\xff");
  fs::copy(job_.state_path(), path, fs::copy_options::recursive);
  EXPECT_THAT(json::parse(Out({"verify", path, "--json"}))["results"],
              SizeIs(3));
  EXPECT_THAT(json::parse(Out({"inspect", path, "--json"}))["shards"],
              SizeIs(2));
}

TEST(CommandUsageTest, AnArgumentThatIsTooLongIsRefused) {
  const ProcessResult result =
      RunProcess({MAYFLY_COMMAND, "inspect", "a", "--state=s",
                  "--key=" + std::string(60'000, 'k')});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("more than 16384 bytes"));
}

TEST(CommandUsageTest, WrongUsageSaysWhatWouldBeRight) {
  const auto run = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), MAYFLY_COMMAND);
    return RunProcess(arguments);
  };
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{
           {},
           {"frobnicate", "x"},
           {"inspect"},
           {"inspect", "a", "b"},
           {"inspect", "a", "--key=k"},
           {"inspect", "a", "--state=s", "--key-hex=abc"},
           {"inspect", "a", "--nothing"},
           {"verify", "a", "--state=s"},
           {"savepoint", "a"},
           {"restore", "a"},
           {"restore", "a", "--to="},
           {"restore", "a", "--to=b", "--shards=0"},
           {"restore", "a", "--to=b", "--shards=2", "--shard=2"},
           {"restore", "a", "--to=b", "--backend=tape"},
           {"restore", "a", "--to=b", "--position-hex=abc"},
           {"restore", "a", "--to=b", "--position-hex=ab", "--no-position"},
           {"restore", "a", "--to=b", "--shard=many"}}) {
    const ProcessResult result = run(wrong);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(wrong);
    EXPECT_FALSE(result.err.empty());
    EXPECT_THAT(result.out, IsEmpty());
  }
  const ProcessResult help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("exit code: 0 done"));
  const ProcessResult nothing = run({"inspect", "/nowhere"});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace mayfly::e2e
