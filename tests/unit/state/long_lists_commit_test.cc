// Commits of the heap backend over lists so long that a part of a segment is a
// step.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using List = ListStateDescriptor<std::string>;

// The lists are few enough for one segment of a table.
class LongListsCommitTest : public ::testing::Test {
 protected:
  static constexpr int kKeys = 400;
  static constexpr int kElements = 100;

  LongListsCommitTest() {
    for (int key = 0; key < kKeys; ++key) {
      shard_->SetCurrentKey(key);
      Must(list_->AddAll(std::vector<std::string>(kElements, "old")));
    }
    Must(shard_->BeginCommit("one"));
  }

  Shard<std::int32_t> shard_{kHeap};
  ListState<std::string>* list_ = &shard_.Get(List("list"));
};

TEST_F(LongListsCommitTest, AStepSavesAPartOfASegment) {
  int steps = 1;
  while (shard_->StepCommit() == CommitProgress::kSaving) ++steps;
  // 72 lists make the 7168 entries of a step.
  EXPECT_EQ(steps, 6);
}

TEST_F(LongListsCommitTest, RecordsPayForElements) {
  int records = 0;
  for (; records < 1000; ++records) shard_->SetCurrentKey(0);
  EXPECT_EQ(shard_->StepCommit(), CommitProgress::kSaving);
  for (; records < kKeys * kElements / 16; ++records) shard_->SetCurrentKey(0);
  EXPECT_NE(shard_->StepCommit(), CommitProgress::kSaving);
}

TEST_F(LongListsCommitTest, WhatChangesBetweenTheStepsIsNotInIt) {
  for (int key = 0; key < 4 * kKeys; ++key) {
    // New ones make the segment split when it is saved in part.
    if (key % 100 == 0) shard_->StepCommit();
    shard_->SetCurrentKey(key);
    Must(list_->Add("new"));
    shard_->SetCurrentKey(kKeys - 1 - key % kKeys);
    Must(list_->Clear());
  }
  Must(shard_->FinishCommit());
  shard_.Reopen();
  list_ = &shard_.Get(List("list"));
  EXPECT_EQ(shard_.StoredEntries("list"), 1u * kKeys * kElements);
  for (int key = 0; key < kKeys; ++key) {
    shard_->SetCurrentKey(key);
    ASSERT_EQ(Read(*list_), std::vector<std::string>(kElements, "old")) << key;
  }
}

}  // namespace
}  // namespace mayfly::state_test
