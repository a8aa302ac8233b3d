// Files that are not what they were: a bit flipped, cut short, or gone. The
// shard is refused, or opened at a commit that it had; a read is right, or an
// error that names the state. Never is anything else shown, and never as if
// nothing had been committed.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/fault_rounds.h"
#include "tests/unit/state/stored_content.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;

std::string Slurp(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void Spill(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// What has been committed, in this order, each under its own name.
const std::vector<std::string> kCommits = {"one", "two", "three"};

class DamageTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  static constexpr int kKeys = 20;
  static constexpr std::size_t kPadding = 100;

  DamageTest() {
    Shard<> shard(GetParam());
    shard.options.directory = whole_;
    shard.Reopen();
    States states(shard);
    for (const std::string& commit : kCommits) {
      for (int key = 0; key < kKeys; ++key) {
        shard->SetCurrentKey(std::to_string(key));
        Must(states.value.Update(commit + std::string(kPadding, 'v')));
        Must(states.list.Add(commit));
        Must(states.map.Put(commit, "m"));
      }
      shard.Commit(commit);
      // The first is in table files, the others in the log.
      if (commit == "one") Must(shard->Compact());
    }
  }

  struct States {
    explicit States(Shard<>& shard)
        : value(shard.Get(Describe<Text>("value", Ttl(1'000'000)))),
          list(shard.Get(Describe<Texts>("list"))),
          map(shard.Get(Describe<TextMap>("map", Ttl(1'000'000)))) {}

    ValueState<std::string>& value;
    ListState<std::string>& list;
    MapState<std::string, std::string>& map;
  };

  // Relative to the directory, in their order. What is in LOCK is nothing but a
  // word for whoever meets a lock.
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(whole_)) {
      const std::string path = entry.path().lexically_relative(whole_).string();
      if (entry.is_regular_file() && !path.ends_with("LOCK")) {
        files.push_back(path);
      }
    }
    std::ranges::sort(files);
    return files;
  }

  // Damages a copy, and opens it.
  void Damage(const std::string& file,
              const std::function<void(const std::string& path)>& damage) {
    const TempDirectory directory;
    const std::string shard = directory.Path("shard");
    fs::copy(whole_, shard, fs::copy_options::recursive);
    damage(shard + "/" + file);
    ExpectRightOrRefused(shard, file);
  }

  void ExpectRightOrRefused(const std::string& directory,
                            const std::string& damaged) {
    Shard<> shard(GetParam());
    shard.options.directory = directory;
    const absl::Status opened = shard.TryReopen();
    if (!opened.ok()) {
      ++refused_;
      ExpectError(opened, directory);
      return;
    }
    const auto commit =
        std::ranges::find(kCommits, shard->committed_position());
    ASSERT_NE(commit, kCommits.end())
        << "at position '" << shard->committed_position() << "'";
    // A log that is damaged ends there: RocksDB cannot tell that from a crash
    // amid a write.
    if (*commit != kCommits.back()) {
      ++earlier_;
      EXPECT_TRUE(damaged.ends_with(".log")) << "opened at " << *commit;
    }
    ExpectReads(shard, {kCommits.begin(), commit + 1}, directory);
  }

  void ExpectReads(Shard<>& shard, const std::vector<std::string>& commits,
                   const std::string& directory) {
    const auto value = shard->GetState(Describe<Text>("value", Ttl(1'000'000)));
    const auto list = shard->GetState(Describe<Texts>("list"));
    const auto map = shard->GetState(Describe<TextMap>("map", Ttl(1'000'000)));
    for (const absl::Status& status :
         {value.status(), list.status(), map.status()}) {
      if (status.ok()) continue;
      ExpectError(status, directory);
      return;
    }
    for (int key = 0; key < kKeys; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      const auto text = (*value)->Value();
      if (!text.ok()) {
        ExpectError(text.status(), directory);
      } else {
        ASSERT_NE(*text, nullptr) << key;
        EXPECT_EQ(**text, commits.back() + std::string(kPadding, 'v'));
      }
      const auto elements = (*list)->Get();
      if (!elements.ok()) {
        ExpectError(elements.status(), directory);
      } else {
        EXPECT_EQ(std::vector<std::string>(elements->begin(), elements->end()),
                  commits);
      }
      for (const std::string& commit : commits) {
        const auto entry = (*map)->Get(commit);
        if (!entry.ok()) {
          ExpectError(entry.status(), directory);
        } else {
          ASSERT_NE(*entry, nullptr) << key << " " << commit;
          EXPECT_EQ(**entry, "m");
        }
      }
    }
  }

  // An error of a shard in `directory`: it names the file.
  static void ExpectError(const absl::Status& status,
                          const std::string& directory) {
    EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kDataLoss,
                                     absl::StatusCode::kUnavailable,
                                     absl::StatusCode::kNotFound))
        << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(directory));
  }

  const TempDirectory directory_;
  const std::string whole_ = directory_.Path("whole");
  int refused_ = 0;
  int earlier_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Backends, DamageTest, BothBackends(), SetupName);

TEST_P(DamageTest, AFlippedBitInAnyFileIsFoundOrHarmless) {
  std::minstd_rand random(7);
  for (const std::string& file : Files()) {
    SCOPED_TRACE(file);
    const std::string bytes = Slurp(whole_ + "/" + file);
    refused_ = earlier_ = 0;
    const int rounds = FaultRounds(25);
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
      const std::size_t bit = random() % (bytes.size() * 8);
      SCOPED_TRACE("bit " + std::to_string(bit) + " of " +
                   std::to_string(bytes.size() * 8));
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      Damage(file, [&](const std::string& path) { Spill(path, flipped); });
    }
    RecordProperty(file + " refused", refused_);
    RecordProperty(file + " at an earlier commit", earlier_);
  }
}

TEST_P(DamageTest, AFileCutShortIsFoundOrHarmless) {
  for (const std::string& file : Files()) {
    const std::uintmax_t size = fs::file_size(whole_ + "/" + file);
    for (const std::uintmax_t left : {std::uintmax_t{0}, size / 2, size - 1}) {
      SCOPED_TRACE(file + " cut to " + std::to_string(left));
      Damage(file,
             [&](const std::string& path) { fs::resize_file(path, left); });
    }
  }
}

TEST_P(DamageTest, AMissingFileIsFoundOrHarmless) {
  for (const std::string& file : Files()) {
    SCOPED_TRACE(file);
    Damage(file, [&](const std::string& path) { fs::remove(path); });
  }
}

TEST_P(DamageTest, ADamagedSavepointIsRefusedByARestore) {
  const std::string path = directory_.Path("savepoint");
  Must(WriteSavepoint(whole_, path).status());
  const StoredContent content = ReadContent(path).value();
  const std::string bytes = Slurp(path);
  BackendOptions target;
  target.kind = GetParam().kind;
  target.directory = directory_.Path("restored");
  std::minstd_rand random(8);
  int refused = 0;
  const int rounds = FaultRounds(40);
  for (int round = 0; round < rounds; ++round) {
    const std::size_t bit = random() % (bytes.size() * 8);
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    Spill(path, flipped);
    const absl::Status status =
        RestoreShard({.sources = {path},
                      .processing_clock = std::make_shared<ManualClock>()},
                     target)
            .status();
    if (status.ok()) {
      EXPECT_TRUE(ReadContent(target.directory).value() == content)
          << "bit " << bit;
      fs::remove_all(target.directory);
    } else {
      ++refused;
      // What does not begin like a savepoint is taken for none.
      EXPECT_THAT(status.code(), AnyOf(absl::StatusCode::kDataLoss,
                                       absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(std::string(status.message()), HasSubstr(path));
      EXPECT_FALSE(fs::exists(target.directory));
    }
  }
  EXPECT_GT(refused, rounds / 2);
}

}  // namespace
}  // namespace mayfly::state_test
