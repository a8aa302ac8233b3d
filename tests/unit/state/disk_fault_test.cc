// Whatever a disk does amid a commit, a checkpoint, a savepoint, a restore or a
// migration: what was committed is there afterwards, what was not is not, and
// the error says where it was.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/fault_rounds.h"
#include "tests/unit/state/faulty_disk.h"
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

constexpr DiskFault kFaults[] = {
    {"OpenFails", EMFILE, DiskCall::kOpen},
    {"ReadFails", EIO, DiskCall::kRead},
    {"ReadsFail", EIO, DiskCall::kRead, /*is_short=*/false, /*lasts=*/true},
    {"ReadIsShort", 0, DiskCall::kRead, /*is_short=*/true},
    {"WriteFails", EIO, DiskCall::kWrite},
    {"WriteIsShort", 0, DiskCall::kWrite, /*is_short=*/true},
    {"WriteIsTorn", EIO, DiskCall::kWrite, /*is_short=*/true},
    {"DiskIsFull", ENOSPC, DiskCall::kWrite, /*is_short=*/true, /*lasts=*/true},
    {"SyncFails", EIO, DiskCall::kSync},
    {"SyncsFail", EIO, DiskCall::kSync, /*is_short=*/false, /*lasts=*/true},
    {"LinkFails", EIO, DiskCall::kLink},
    {"RenameFails", EIO, DiskCall::kRename},
};

// One go at something, in a directory of its own.
class Round {
 public:
  Round(const DiskFault& fault, std::string directory, int nth)
      : fault_(fault), directory_(std::move(directory)), nth_(nth) {}

  std::string Path(const std::string& name) const {
    return directory_ + "/" + name;
  }

  // Does it on the faulty disk. An error must come of the fault, and name the
  // file, or the state if RocksDB does not say which.
  absl::Status Try(const std::function<absl::Status()>& act) {
    {
      const FaultyDisk disk(fault_, directory_, nth_);
      status_ = act();
    }
    calls_ = FaultyDisk::calls();
    if (FaultyDisk::hits() == 0 || fault_.error == 0) {
      EXPECT_THAT(status_, IsOk());
    }
    if (!status_.ok()) {
      EXPECT_THAT(std::string(status_.message()),
                  AnyOf(HasSubstr(directory_), HasSubstr("state '")));
    }
    if (!status_.ok() && fault_.error == ENOSPC) {
      EXPECT_EQ(status_.code(), absl::StatusCode::kResourceExhausted)
          << status_;
    }
    return status_;
  }

  int calls() const { return calls_; }
  bool failed() const { return !status_.ok(); }

 private:
  const DiskFault fault_;
  const std::string directory_;
  const int nth_;
  int calls_ = 0;
  absl::Status status_;
};

class DiskFaultTest
    : public ::testing::TestWithParam<std::tuple<BackendSetup, DiskFault>> {
 protected:
  static constexpr int kKeys = 20;

  DiskFaultTest() {
    Shard<> shard(Backend());
    Open(shard, Path("shard"));
    Fill(shard, "one");
    shard.Commit("one");
    // Some of it in table files, some in the log.
    Must(shard->Compact());
    Fill(shard, "two");
    shard.Commit("two");
    shard.Close();
    two_ = ReadContent(Path("shard")).value();
    Must(WriteSavepoint(Path("shard"), Path("savepoint")).status());
  }

  static BackendSetup Backend() { return std::get<0>(GetParam()); }

  std::string Path(const std::string& name) const {
    return directory_.Path(name);
  }

  static absl::Status TryOpen(Shard<>& shard, const std::string& directory) {
    shard.options.directory = directory;
    shard.options.durability = Durability::kMachine;
    return shard.TryReopen();
  }
  static void Open(Shard<>& shard, const std::string& directory) {
    Must(TryOpen(shard, directory));
  }

  static void Fill(Shard<>& shard, const std::string& text) {
    auto& value = shard.Get(Describe<Text>("value", Ttl(1'000'000)));
    auto& list = shard.Get(Describe<Texts>("list"));
    auto& map = shard.Get(Describe<TextMap>("map", Ttl(1'000'000)));
    for (int key = 0; key < kKeys; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      Must(value.Update(text + std::string(200, 'v')));
      Must(list.Add(text));
      Must(map.Put(text, std::string(200, 'm')));
    }
  }

  // Does `round` for `rounds_max` of the calls that may fail, or for all.
  void AtCalls(int rounds_max, const std::function<void(Round&)>& round) {
    int calls = 0;
    int failed = 0;
    const auto go = [&](int nth) {
      const TempDirectory directory;
      fs::copy(directory_.path(), directory.path(),
               fs::copy_options::recursive);
      Round now(std::get<1>(GetParam()), directory.path(), nth);
      SCOPED_TRACE("the call " + std::to_string(nth) + " of " +
                   std::to_string(calls));
      round(now);
      if (now.failed()) ++failed;
      return now.calls();
    };
    calls = go(FaultyDisk::kNever);
    const int rounds = std::min(calls, FaultRounds(rounds_max));
    for (int i = 0; i < rounds; ++i) {
      go(static_cast<int>(std::int64_t{i} * calls / rounds));
      if (HasFailure()) return;
    }
    if (HasFailure()) return;
    // Or nothing was tried. A short call is followed by the error.
    const DiskFault& fault = std::get<1>(GetParam());
    const bool can_fail = fault.error != 0 && calls > (fault.is_short ? 1 : 0);
    EXPECT_TRUE(failed > 0 || !can_fail) << calls << " calls";
  }

  static void ExpectContent(const std::string& path,
                            const StoredContent& expected) {
    const auto content = ReadContent(path);
    ASSERT_THAT(content, IsOk());
    EXPECT_EQ(content->position, expected.position);
    // Not EXPECT_EQ: it would print all of it.
    EXPECT_TRUE(*content == expected) << "in " << path;
  }

  static void ExpectNothingAt(const std::string& path) {
    EXPECT_FALSE(fs::exists(path)) << path;
    EXPECT_FALSE(fs::exists(path + ".tmp")) << path;
  }

  const TempDirectory directory_;
  StoredContent two_;
};

INSTANTIATE_TEST_SUITE_P(All, DiskFaultTest,
                         ::testing::Combine(BothBackends(),
                                            ::testing::ValuesIn(kFaults)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) +
                                  std::get<1>(test.param).name;
                         });

TEST_P(DiskFaultTest, ACommitIsThereOrItIsNot) {
  StoredContent three;
  AtCalls(8, [&](Round& round) {
    Shard<> shard(Backend());
    Open(shard, round.Path("shard"));
    Fill(shard, "three");
    const absl::Status status =
        round.Try([&] { return shard->Commit("three"); });
    if (three.position.empty()) {
      shard.Close();
      three = ReadContent(round.Path("shard")).value();
    }
    // On heap what a failed commit had is in the next one. RocksDB refuses to
    // write to a disk that it cannot trust until it is opened again.
    if (!status.ok() && Backend().kind == BackendKind::kHeap) {
      EXPECT_THAT(shard->Commit("three"), IsOk());
    }
    shard.Close();
    const auto content = ReadContent(round.Path("shard"));
    ASSERT_THAT(content, IsOk());
    if (!status.ok() && content->position == "two") {
      EXPECT_TRUE(*content == two_);
      EXPECT_EQ(Backend().kind, BackendKind::kRocksdb);
      shard.Reopen();
      Fill(shard, "three");
      EXPECT_THAT(shard->Commit("three"), IsOk());
      shard.Close();
    }
    ExpectContent(round.Path("shard"), three);
  });
}

TEST_P(DiskFaultTest, ACheckpointIsWholeOrNotThere) {
  AtCalls(8, [&](Round& round) {
    Shard<> shard(Backend());
    Open(shard, round.Path("shard"));
    Fill(shard, "not committed");
    const std::string copy = round.Path("copy");
    const absl::Status status =
        round.Try([&] { return shard->Checkpoint(copy).status(); });
    if (!status.ok()) {
      ExpectNothingAt(copy);
      shard.Reopen();
      ASSERT_THAT(shard->Checkpoint(copy), IsOk());
    }
    ExpectContent(copy, two_);
    shard.Close();
    ExpectContent(round.Path("shard"), two_);
  });
}

TEST_P(DiskFaultTest, ASavepointIsWholeOrNotThere) {
  AtCalls(8, [&](Round& round) {
    const std::string file = round.Path("new_savepoint");
    const auto write = [&] {
      return WriteSavepoint(round.Path("shard"), file,
                            {.durability = Durability::kMachine})
          .status();
    };
    if (!round.Try(write).ok()) {
      ExpectNothingAt(file);
      ASSERT_THAT(write(), IsOk());
    }
    ExpectContent(file, two_);
    ExpectContent(round.Path("shard"), two_);
  });
}

TEST_P(DiskFaultTest, ARestoreIsWholeOrNotThere) {
  for (const char* const source : {"savepoint", "shard"}) {
    SCOPED_TRACE(source);
    AtCalls(8, [&](Round& round) {
      BackendOptions target;
      target.kind = Backend().kind;
      target.directory = round.Path("restored");
      const auto restore = [&] {
        return RestoreShard(
                   {.sources = {round.Path(source)},
                    .processing_clock = std::make_shared<ManualClock>()},
                   target, {.durability = Durability::kMachine})
            .status();
      };
      if (!round.Try(restore).ok()) {
        ExpectNothingAt(target.directory);
        ASSERT_THAT(restore(), IsOk());
      }
      ExpectContent(target.directory, two_);
      ExpectContent(round.Path(source), two_);
    });
  }
}

// What can be read is right, and what cannot be read is an error.
TEST_P(DiskFaultTest, AnOpeningChangesNothing) {
  AtCalls(8, [&](Round& round) {
    Shard<> shard(Backend());
    const auto open_and_read = [&]() -> absl::Status {
      MAYFLY_RETURN_IF_ERROR(TryOpen(shard, round.Path("shard")));
      MAYFLY_ASSIGN_OR_RETURN(auto* const value, shard->GetState(Describe<Text>(
                                                     "value", Ttl(1'000'000))));
      absl::Status read;
      for (int key = 0; key < kKeys; ++key) {
        shard->SetCurrentKey(std::to_string(key));
        const auto text = value->Value();
        read.Update(text.status());
        if (!text.ok()) continue;
        EXPECT_NE(*text, nullptr);
        EXPECT_EQ(**text, "two" + std::string(200, 'v'));
      }
      return read;
    };
    round.Try(open_and_read).IgnoreError();
    shard.Close();
    ExpectContent(round.Path("shard"), two_);
    EXPECT_THAT(open_and_read(), IsOk());
  });
}

TEST_P(DiskFaultTest, AMigrationIsDoneOrItIsNot) {
  StoredContent migrated;
  AtCalls(8, [&](Round& round) {
    Shard<> shard(Backend());
    const auto migrate = [&]() -> absl::Status {
      MAYFLY_RETURN_IF_ERROR(TryOpen(shard, round.Path("shard")));
      auto value = Describe<Text>("value");
      value.AllowTtlMigration();
      MAYFLY_RETURN_IF_ERROR(shard->GetState(value).status());
      auto list = Describe<Texts>("list", Ttl(1'000'000));
      list.AllowTtlMigration();
      MAYFLY_RETURN_IF_ERROR(shard->GetState(list).status());
      return shard->Commit("three");
    };
    const absl::Status status = round.Try(migrate);
    shard.Close();
    const auto content = ReadContent(round.Path("shard"));
    ASSERT_THAT(content, IsOk());
    if (migrated.position.empty()) migrated = *content;
    if (!status.ok() && content->position == "two") {
      EXPECT_TRUE(*content == two_);
      ASSERT_THAT(migrate(), IsOk());
      shard.Close();
    }
    ExpectContent(round.Path("shard"), migrated);
    EXPECT_FALSE(fs::exists(round.Path("shard/rewriting")));
  });
}

// On heap it does nothing. RocksDB rests for a second after each error.
TEST_P(DiskFaultTest, ACompactionLosesNothing) {
  AtCalls(2, [&](Round& round) {
    Shard<> shard(Backend());
    Open(shard, round.Path("shard"));
    round.Try([&] { return shard->Compact(); }).IgnoreError();
    shard.Close();
    ExpectContent(round.Path("shard"), two_);
    shard.Reopen();
    EXPECT_THAT(shard->Compact(), IsOk());
    shard.Close();
    ExpectContent(round.Path("shard"), two_);
  });
}

}  // namespace
}  // namespace mayfly::state_test
