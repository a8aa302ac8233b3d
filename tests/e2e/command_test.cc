// The command mayfly, on what the demo job has left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/demo_job.h"

namespace mayfly::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  EXPECT_EQ(read["entries"][0]["expired"], false);
  EXPECT_THAT(
      Out({"inspect", job_.state_path(), "--state=recent", "--key-hex=445457"}),
      HasSubstr("last accessed 2001-03-31T"));
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
  EXPECT_THAT(result.err, HasSubstr("1 of 2 are not good"));
  const ProcessResult as_json = Run({"verify", job_.state_path(), "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  EXPECT_EQ(json::parse(as_json.out)["results"][1]["ok"], false);
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
           {"restore", "a", "--to=b", "--backend=tape"},
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
