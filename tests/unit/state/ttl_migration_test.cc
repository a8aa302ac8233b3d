// A TTL that is switched on or off over what is stored: rows 30, 31, 71 to 78,
// 126 and 129 to 131, in all kinds.
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/migrating_states.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TtlMigrationTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  Kinds RestartWith(const std::optional<StateTtlConfig>& ttl) {
    shard_.Reopen();
    return Kinds(shard_, ttl);
  }

  const std::string& directory() const { return shard_.options.directory; }

  Shard<> shard_{GetParam(), /*now_ms=*/1000};
};

INSTANTIATE_TEST_SUITE_P(Setups, TtlMigrationTest, AllSetups(), SetupName);

TEST_P(TtlMigrationTest, Rows71To73And130SwitchedOnAllKindsAreStampedWithNow) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  shard_.clock().SetMs(5000);
  Kinds kinds = RestartWith(Ttl(100));
  EXPECT_EQ(kinds.Read(), "a|a|a=null|3|3");
  shard_.Commit();
  shard_.clock().SetMs(5099);
  EXPECT_EQ(kinds.Read(), "a|a|a=null|3|3");
  shard_.clock().SetMs(5100);
  EXPECT_EQ(kinds.Read(), "-|||-|-");
}

TEST_P(TtlMigrationTest, Rows74To76And129SwitchedOffWhatHadExpiredIsDropped) {
  Kinds(shard_, Ttl(100)).Write("old", 3);
  shard_.clock().SetMs(1050);
  RestartWith(Ttl(100));
  shard_.Reopen();
  Kinds kinds(shard_, Ttl(100));
  kinds.Write("old", 3);
  shard_.clock().SetMs(1100);
  shard_->SetCurrentKey("k");
  kinds.Write("new", 4);
  shard_.Commit();
  shard_.clock().SetMs(1150);
  Kinds off = RestartWith(std::nullopt);
  EXPECT_EQ(off.Read(), "new|new|new=null|7|4");
  shard_.Commit();
  shard_.clock().SetMs(1'000'000'000);
  Kinds later = RestartWith(std::nullopt);
  EXPECT_EQ(later.Read(), "new|new|new=null|7|4");
}

// What had expired is gone though the new TTL would let it live, and though it
// still lay there.
TEST_P(TtlMigrationTest, Row129OffAndOnAgainRevivesNothing) {
  Kinds(shard_, Ttl(100)).Write("a", 3);
  shard_.Commit();
  shard_.clock().SetMs(1100);
  EXPECT_EQ(RestartWith(std::nullopt).Read(), "-|||-|-");
  shard_.Commit();
  EXPECT_EQ(RestartWith(Ttl(1'000'000)).Read(), "-|||-|-");
}

TEST_P(TtlMigrationTest, Row30WithoutPermissionItIsRefusedWithAWayOut) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(Describe<Text>("value", Ttl(100))).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("StateMigration: state 'value'"),
                             HasSubstr(directory()),
                             HasSubstr("AllowTtlMigration()"))));
  EXPECT_EQ(Kinds(shard_, std::nullopt).Read(), "a|a|a=null|3|3");
}

// Row 126, case C88: what is registered late migrates as well.
TEST_P(TtlMigrationTest, Row126ALateRegistrationMigratesToo) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  shard_.Reopen();
  shard_.clock().SetMs(2000);
  shard_.Commit();
  shard_.clock().SetMs(3000);
  Kinds late(shard_, Ttl(100));
  EXPECT_EQ(late.Read(), "a|a|a=null|3|3");
  shard_.Commit();
  shard_.clock().SetMs(3100);
  EXPECT_EQ(RestartWith(Ttl(100)).Read(), "-|||-|-");
}

TEST_P(TtlMigrationTest, AStartThatNeverCommitsChangesNothing) {
  Kinds(shard_, Ttl(100)).Write("a", 3);
  shard_.Commit();
  for (int start = 0; start < 3; ++start) {
    Kinds off = RestartWith(std::nullopt);
    off.Write("lost", 9);
  }
  shard_.clock().SetMs(1099);
  Kinds kinds = RestartWith(Ttl(100));
  EXPECT_EQ(kinds.Read(), "a|a|a=null|3|3");
  shard_.clock().SetMs(1100);
  EXPECT_EQ(kinds.Read(), "-|||-|-");
}

TEST_P(TtlMigrationTest, OnceCommittedItIsDoneAndNotDoneAgain) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  for (int start = 0; start < 3; ++start) {
    Kinds kinds = RestartWith(Ttl(100));
    EXPECT_EQ(kinds.Read(), "a|a|a=null|3|3") << start;
    shard_.Commit();
    shard_.clock().Advance(std::chrono::milliseconds(20));
  }
  // Stamped once, at 1000.
  shard_.clock().SetMs(1100);
  EXPECT_EQ(RestartWith(Ttl(100)).Read(), "-|||-|-");
}

TEST_P(TtlMigrationTest, WritesAfterItJoinWhatWasRewritten) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  Kinds kinds = RestartWith(Ttl(100));
  shard_.clock().SetMs(1050);
  kinds.Write("b", 4);
  shard_.Commit();
  Kinds restarted = RestartWith(Ttl(100));
  EXPECT_EQ(restarted.Read(), "b|ab|a=nullb=null|7|4");
  shard_.clock().SetMs(1100);
  EXPECT_EQ(restarted.Read(), "b|b|b=null|7|4");
}

TEST_P(TtlMigrationTest, AStopCancelsItAndItCanBeBegunAnew) {
  Kinds(shard_, std::nullopt).Write("a", 3);
  shard_.Commit();
  std::atomic<bool> stop = true;
  shard_.options.migration.stop = &stop;
  shard_.Reopen();
  EXPECT_THAT(
      shard_->GetState(Migrating<Text>("value", Ttl(100))).status(),
      StatusIs(absl::StatusCode::kCancelled,
               AllOf(HasSubstr("state 'value'"), HasSubstr(directory()))));
  shard_.Commit();
  EXPECT_EQ(Kinds(shard_, std::nullopt).Read(), "a|a|a=null|3|3");
  shard_.Reopen();
  EXPECT_FALSE(shard_->GetState(Migrating<Text>("value", Ttl(100))).ok());
  stop = false;
  EXPECT_EQ(Kinds(shard_, Ttl(100)).Read(), "a|a|a=null|3|3");
}

TEST_P(TtlMigrationTest, TellsHowFarItHasCome) {
  auto& state = shard_.Get(Migrating<Number>("state", Ttl(100)));
  for (int i = 0; i < 10'000; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(state.Update(i));
    if (i == 2999) shard_.clock().SetMs(1050);
  }
  shard_.Commit();
  std::vector<TransferProgress> told;
  shard_.options.migration.on_progress = [&](const std::string& name,
                                             const TransferProgress& so_far) {
    EXPECT_EQ(name, "state");
    told.push_back(so_far);
  };
  shard_.clock().SetMs(1100);
  shard_.Reopen();
  shard_.Get(Migrating<Number>("state"));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].keys_done, 8192u);
  EXPECT_GE(told[0].keys_total, 8192u);
  EXPECT_EQ(told[1].keys_done, 10'000u);
  EXPECT_EQ(told[1].keys_total, 10'000u);
  EXPECT_EQ(told[1].keys_expired, 3000u);
}

TEST_P(TtlMigrationTest, EventTimeStampsWithTheWatermarkAndAsksForOne) {
  shard_.Get(Text("state"));
  shard_->SetCurrentKey("k");
  Must(shard_.Get(Text("state")).Update("a"));
  shard_.Commit();
  const auto event = Migrating<Text>(
      "state", TtlBuilder(100)
                   .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
                   .Build()
                   .value());
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(event).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("AdvanceWatermark()")));
  shard_->AdvanceWatermark(500);
  auto& state = shard_.Get(event);
  shard_->SetCurrentKey("k");
  shard_->AdvanceWatermark(599);
  EXPECT_EQ(Read(state), "a");
  shard_->AdvanceWatermark(600);
  EXPECT_EQ(Read(state), std::nullopt);
}

}  // namespace
}  // namespace mayfly::state_test
