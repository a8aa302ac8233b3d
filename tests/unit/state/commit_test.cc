// What commits keep and crashes lose.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Value = ValueStateDescriptor<std::string>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class CommitTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // A state of each kind, some with TTL and some without.
  void Register() {
    value_ = &shard_.Get(Describe<Value>("value", Ttl(1000)));
    list_ = &shard_.Get(Describe<List>("list", Ttl(1000)));
    map_ = &shard_.Get(Describe<Map>("map", Ttl(1000)));
    plain_ = &shard_.Get(Value("plain"));
  }

  void Write(const std::string& text) {
    Must(value_->Update(text));
    Must(list_->Add(text));
    Must(map_->Put(text, text));
    Must(plain_->Update(text));
  }

  Shard<> shard_{GetParam()};
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
  ValueState<std::string>* plain_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Setups, CommitTest, AllSetups(), SetupName);

TEST_P(CommitTest, WhatIsCommittedIsThereAfterARestart) {
  Register();
  for (int key = 0; key < 300; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    Write("one");
    if (key % 50 == 0) shard_.Commit();
  }
  shard_.Commit();
  shard_.Reopen();
  Register();
  for (int key = 0; key < 300; ++key) {
    shard_->SetCurrentKey(std::to_string(key));
    ASSERT_EQ(Read(*value_), "one");
    ASSERT_THAT(Read(*list_), ElementsAre("one"));
    ASSERT_THAT(Read(*map_), ElementsAre(Pair("one", "one")));
    ASSERT_EQ(Read(*plain_), "one");
  }
}

TEST_P(CommitTest, WhatIsNotCommittedIsNot) {
  Register();
  shard_->SetCurrentKey("kept");
  Write("one");
  shard_.Commit();
  Write("two");
  Must(map_->Remove("one"));
  shard_->SetCurrentKey("lost");
  Write("two");
  shard_.Reopen();
  Register();
  shard_->SetCurrentKey("kept");
  EXPECT_EQ(Read(*value_), "one");
  EXPECT_THAT(Read(*list_), ElementsAre("one"));
  EXPECT_THAT(Read(*map_), ElementsAre(Pair("one", "one")));
  EXPECT_EQ(Read(*plain_), "one");
  shard_->SetCurrentKey("lost");
  EXPECT_EQ(Read(*value_), std::nullopt);
  EXPECT_THAT(Read(*list_), IsEmpty());
  EXPECT_THAT(Read(*map_), IsEmpty());
  EXPECT_EQ(Read(*plain_), std::nullopt);
}

// The real thing: no destructor runs.
TEST_P(CommitTest, AKilledProcessLeavesItsLastCommit) {
  // The child runs this test from the start and must find the same directory.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr char kVariable[] = "MAYFLY_KILLED_SHARD";
  ASSERT_EQ(::setenv(kVariable, shard_.options.directory.c_str(), 0), 0);
  shard_.Close();
  const auto run_until_killed = [&] {
    shard_.options.directory = std::getenv(kVariable);
    shard_.Reopen();
    Register();
    shard_->SetCurrentKey("k");
    Write("one");
    shard_.Commit("first");
    Write("two");
    std::raise(SIGKILL);
  };
  EXPECT_EXIT(run_until_killed(), ::testing::KilledBySignal(SIGKILL), "");
  ASSERT_EQ(::unsetenv(kVariable), 0);

  shard_.Reopen();
  EXPECT_EQ(shard_->committed_position(), "first");
  Register();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), "one");
  EXPECT_THAT(Read(*list_), ElementsAre("one"));
  EXPECT_THAT(Read(*map_), ElementsAre(Pair("one", "one")));
}

TEST_P(CommitTest, ThePositionIsPartOfTheCommit) {
  EXPECT_FALSE(shard_->has_commit());
  EXPECT_EQ(shard_->committed_position(), "");
  shard_.Reopen();
  EXPECT_FALSE(shard_->has_commit());

  const std::string position("line\0 42\xff", 9);
  shard_.Commit(position);
  EXPECT_TRUE(shard_->has_commit());
  EXPECT_EQ(shard_->committed_position(), position);
  shard_.Reopen();
  EXPECT_TRUE(shard_->has_commit());
  EXPECT_EQ(shard_->committed_position(), position);

  shard_.Commit("");
  shard_.Reopen();
  EXPECT_TRUE(shard_->has_commit());
  EXPECT_EQ(shard_->committed_position(), "");
}

TEST_P(CommitTest, SurvivesTheMachineIfAsked) {
  shard_.options.durability = Durability::kMachine;
  shard_.Reopen();
  Register();
  shard_->SetCurrentKey("k");
  Write("one");
  shard_.Commit("p");
  shard_.Reopen();
  EXPECT_EQ(shard_->committed_position(), "p");
  Register();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), "one");
}

TEST_P(CommitTest, CaseC70AnEmptyShardRestartsAndGoesOn) {
  Register();
  shard_.Commit();
  shard_.Reopen();
  Register();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), std::nullopt);
  Write("one");
  shard_.clock().SetMs(1000);
  shard_.Commit();
  Must(shard_->Compact());
  shard_.Reopen();
  Register();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), std::nullopt);
  EXPECT_EQ(Read(*plain_), "one");
  Write("two");
  shard_.Commit();
  shard_.Reopen();
  Register();
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value_), "two");
  EXPECT_THAT(Read(*list_), ElementsAre("two"));
}

TEST_P(CommitTest, ACommitWithoutAPositionKeepsTheLastOne) {
  const auto commit_and_reopen = [&](auto... position) {
    Register();
    shard_->SetCurrentKey("k");
    Write("text");
    Must(shard_->Commit(position...));
    const std::string position_before = shard_->committed_position();
    shard_.Reopen();
    EXPECT_EQ(shard_->committed_position(), position_before);
    return position_before;
  };
  EXPECT_EQ(commit_and_reopen(), "");
  EXPECT_EQ(commit_and_reopen("one"), "one");
  EXPECT_EQ(commit_and_reopen(), "one");
  EXPECT_EQ(commit_and_reopen(), "one");
  EXPECT_EQ(commit_and_reopen("two"), "two");
  // One that is given counts, an empty one too.
  EXPECT_EQ(commit_and_reopen(""), "");
  EXPECT_EQ(commit_and_reopen(), "");
}

TEST_P(CommitTest, InPartsAndWithoutAPositionItHasThatOfTheCommitBefore) {
  Register();
  shard_.Commit("before");
  Must(shard_->BeginCommit());
  Must(shard_->FinishCommit());
  EXPECT_EQ(shard_->committed_position(), "before");
  // The second finishes the first, and takes its position over.
  Must(shard_->BeginCommit("one"));
  Must(shard_->BeginCommit());
  Must(shard_->FinishCommit());
  EXPECT_EQ(shard_->committed_position(), "one");
  shard_.Reopen();
  EXPECT_EQ(shard_->committed_position(), "one");
}

TEST(HeapCommitTest, APositionThatWasNeverCommittedIsNotKept) {
  Shard<> shard(kHeap);
  shard.Commit("before");
  std::filesystem::create_symlink("/dev/full",
                                  shard.options.directory + "/snapshot.tmp");
  Must(shard->BeginCommit("one"));
  EXPECT_FALSE(shard->FinishCommit().ok());
  Must(shard->BeginCommit());
  Must(shard->FinishCommit());
  EXPECT_EQ(shard->committed_position(), "before");
}

TEST_P(CommitTest, TwoShardsInOneProcessDoNotMix) {
  const std::shared_ptr<StorageResources> storage =
      StorageResources::Create({.memory_bytes = std::size_t{8} << 20}).value();
  shard_.options.storage = storage;
  shard_.Reopen();
  Register();
  Shard<> other(GetParam());
  other.options.storage = storage;
  other.Reopen();
  auto& other_value = other.Get(Describe<Value>("value", Ttl(1000)));
  shard_->SetCurrentKey("k");
  other->SetCurrentKey("k");
  Write("mine");
  Must(other_value.Update("other's"));
  shard_.Commit("mine");
  other.Commit("other's");
  EXPECT_EQ(Read(*value_), "mine");
  shard_.Close();
  other.Reopen();
  EXPECT_EQ(other->committed_position(), "other's");
  auto& restored = other.Get(Describe<Value>("value", Ttl(1000)));
  other->SetCurrentKey("k");
  EXPECT_EQ(Read(restored), "other's");
}

TEST_P(CommitTest, ATableOfAnySizeGivesTheSameAnswers) {
  Register();
  for (int round = 0; round < 3; ++round) {
    for (int key = 0; key < 100; ++key) {
      shard_->SetCurrentKey(std::to_string(key));
      ASSERT_EQ(Read(*list_).size(), static_cast<std::size_t>(round));
      Write(std::to_string(round) + std::string(50, 'x'));
    }
    shard_.Commit();
    for (int key = 0; key < 100; key += 7) {
      shard_->SetCurrentKey(std::to_string(key));
      ASSERT_EQ(Read(*map_).size(), static_cast<std::size_t>(round + 1));
      ASSERT_EQ(Read(*value_), std::to_string(round) + std::string(50, 'x'));
    }
  }
}

// --- One backend alone ---

class RocksdbCommitTest : public ::testing::Test {
 protected:
  std::uint64_t SequenceNumber() {
    shard_.Close();
    const std::uint64_t number =
        RawDatabase(shard_.options.directory).SequenceNumber();
    shard_.Reopen();
    return number;
  }

  Shard<> shard_{kRocksdb};
};

TEST_F(RocksdbCommitTest, CaseC19ACommitOfNothingWritesOneRecord) {
  const auto descriptor = Describe<Map>("map", Ttl(1000));
  auto* map = &shard_.Get(descriptor);
  shard_->SetCurrentKey("k");
  for (int i = 0; i < 500; ++i) Must(map->Put(std::to_string(i), "v"));
  shard_.Commit();
  const std::uint64_t before = SequenceNumber();
  map = &shard_.Get(descriptor);
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*map).size(), 500u);
  shard_.Commit();
  EXPECT_EQ(SequenceNumber(), before + 1);

  map = &shard_.Get(descriptor);
  shard_->SetCurrentKey("k");
  for (int i = 0; i < 10; ++i) Must(map->Put("0", "w"));
  shard_.Commit();
  EXPECT_EQ(SequenceNumber(), before + 3);
}

TEST_F(RocksdbCommitTest, IsDueWhenHalfTheTableWaits) {
  shard_.options.table_bytes_max = 100'000;
  shard_.Reopen();
  auto& value = shard_.Get(Value("value"));
  EXPECT_FALSE(shard_->commit_due());
  shard_->SetCurrentKey("a");
  Must(value.Update(std::string(40'000, 'x')));
  EXPECT_FALSE(shard_->commit_due());
  shard_->SetCurrentKey("b");
  Must(value.Update(std::string(20'000, 'x')));
  EXPECT_TRUE(shard_->commit_due());
  shard_.Commit();
  EXPECT_FALSE(shard_->commit_due());
}

TEST(HeapWithoutDirectoryTest, CommitsForItsLifetime) {
  BackendOptions options;
  options.kind = BackendKind::kHeap;
  const auto backend = KeyedStateBackend<std::string>::Open(options).value();
  auto& value = *backend->GetState(Value("value")).value();
  backend->SetCurrentKey("k");
  Must(value.Update("one"));
  EXPECT_THAT(backend->Commit("p"), IsOk());
  EXPECT_EQ(backend->committed_position(), "p");
  EXPECT_EQ(Read(value), "one");
  EXPECT_FALSE(backend->commit_due());
  EXPECT_THAT(backend->Compact(), IsOk());
}

TEST(BackendOptionsTest, AreChecked) {
  BackendOptions options;
  options.kind = BackendKind::kRocksdb;
  EXPECT_THAT(KeyedStateBackend<std::string>::Open(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("needs a directory")));
  options.kind = BackendKind::kHeap;
  options.table_bytes_max = 0;
  EXPECT_THAT(KeyedStateBackend<std::string>::Open(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("table_bytes_max must be > 0, got 0")));
}

}  // namespace
}  // namespace mayfly::state_test
