// A TTL that is switched on or off, with the figures of cases C58, C59, C61 and
// C88: through savepoints, on both backends.
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/migrating_states.h"

namespace mayfly::state_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class TtlMigrationCasesTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // The committed shard as a savepoint, restored in the place of the old one.
  void SaveAndRestore() {
    const std::string run = std::to_string(++restores_);
    const std::string checkpoint = extra_.Path("checkpoint" + run);
    const std::string file = extra_.Path("savepoint" + run);
    Must(shard_->Checkpoint(checkpoint).status());
    Must(WriteSavepoint(checkpoint, file).status());
    shard_.options.directory = extra_.Path("restored" + run);
    shard_.Close();
    Must(RestoreShard({.sources = {file},
                       .processing_clock = shard_.options.processing_clock},
                      shard_.options)
             .status());
    shard_.Reopen();
  }

  const std::string& directory() const { return shard_.options.directory; }

  // Case C59: switched off at 1000.
  void SwitchOff(bool through_savepoint);

  Shard<> shard_{GetParam()};

 private:
  const TempDirectory extra_;
  int restores_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Backends, TtlMigrationCasesTest, BothBackends(),
                         SetupName);

TEST_P(TtlMigrationCasesTest, CaseC58SwitchedOnNothingIsLostOrGarbled) {
  constexpr TimestampMs kNow = 1'700'000'000'000;
  const std::string sixteen = "0123456789abcdef";
  shard_->SetCurrentKey("k");
  Must(shard_.Get(Text("text")).Update("hello"));
  Must(shard_.Get(Number("number")).Update(1));
  Must(shard_.Get(Text("sixteen")).Update(sixteen));
  Must(shard_.Get(Numbers("list")).AddAll({1, 2, 3}));
  Must(shard_.Get(Map("map")).Put("a", "1"));
  Must(shard_.Get(Map("map")).Put("b", std::nullopt));
  shard_.Commit();
  shard_.clock().SetMs(kNow);
  SaveAndRestore();

  const StateTtlConfig ttl = Ttl(3'600'000);
  auto& text = shard_.Get(Migrating<Text>("text", ttl));
  auto& number = shard_.Get(Migrating<Number>("number", ttl));
  auto& other = shard_.Get(Migrating<Text>("sixteen", ttl));
  auto& list = shard_.Get(Migrating<Numbers>("list", ttl));
  auto& map = shard_.Get(Migrating<Map>("map", ttl));
  Must(shard_->Compact());
  shard_->SetCurrentKey("k");
  for (const TimestampMs now_ms : {kNow, kNow + 3'599'999}) {
    shard_.clock().SetMs(now_ms);
    EXPECT_EQ(Read(text), "hello");
    EXPECT_EQ(Read(number), 1);
    EXPECT_EQ(Read(other), sixteen);
    EXPECT_THAT(Read(list), ElementsAre(1, 2, 3));
    EXPECT_THAT(Read(map),
                ElementsAre(Pair("a", Nullable("1")), Pair("b", std::nullopt)));
    shard_.Commit();
    Must(shard_->Compact());
  }
  shard_.clock().SetMs(kNow + 3'600'000);
  EXPECT_EQ(Read(text), std::nullopt);
  EXPECT_EQ(Read(number), std::nullopt);
  EXPECT_EQ(Read(other), std::nullopt);
  EXPECT_THAT(Read(list), IsEmpty());
  EXPECT_THAT(Read(map), IsEmpty());
}

void TtlMigrationCasesTest::SwitchOff(bool through_savepoint) {
  shard_->SetCurrentKey("k1");
  Must(shard_.Get(Migrating<Text>("text", Ttl(100))).Update("a"));
  Must(shard_.Get(Migrating<Texts>("list", Ttl(100))).Add("x"));
  shard_.clock().SetMs(950);
  Must(shard_.Get(Migrating<Texts>("list", Ttl(100))).Add("y"));
  Must(shard_.Get(Migrating<Map>("map", Ttl(100))).Put("p", std::nullopt));
  shard_->SetCurrentKey("k2");
  Must(shard_.Get(Migrating<Text>("text", Ttl(100))).Update("b"));
  shard_.clock().SetMs(1000);
  shard_.Commit();
  if (through_savepoint) {
    SaveAndRestore();
  } else {
    shard_.Reopen();
  }
  auto& text = shard_.Get(Migrating<Text>("text"));
  auto& list = shard_.Get(Migrating<Texts>("list"));
  auto& map = shard_.Get(Migrating<Map>("map"));
  shard_->SetCurrentKey("k1");
  EXPECT_EQ(Read(text), std::nullopt);
  EXPECT_THAT(Read(list), ElementsAre("y"));
  EXPECT_THAT(Read(map), ElementsAre(Pair("p", std::nullopt)));
  shard_->SetCurrentKey("k2");
  EXPECT_EQ(Read(text), "b");
  shard_.Commit();
  shard_.Close();
  EXPECT_THAT(Stored(directory(), "text"), ElementsAre(Pair("k2", "b")));
  std::string y;
  AppendUnstampedListElement("y", y);
  EXPECT_THAT(Stored(directory(), "list"), ElementsAre(Pair("k1", y)));
}

// What has expired still lies there.
TEST_P(TtlMigrationCasesTest, CaseC59SwitchedOffNoBytesStayAndNothingRevives) {
  SwitchOff(/*through_savepoint=*/false);
}

TEST_P(TtlMigrationCasesTest, CaseC59SwitchedOffAfterASavepoint) {
  SwitchOff(/*through_savepoint=*/true);
}

TEST_P(TtlMigrationCasesTest, CaseC61ALongerTtlOnRestoreRevivesNothing) {
  const auto describe = [](std::int64_t ttl_ms) {
    return Describe<Text>("text", Ttl(ttl_ms));
  };
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(shard_.Get(describe(1000)).Update("v"));
  }
  shard_.clock().SetMs(1500);
  for (int i = 0; i < 50; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    EXPECT_EQ(Read(shard_.Get(describe(1000))), std::nullopt);
  }
  shard_.Commit();
  shard_.clock().SetMs(1600);
  SaveAndRestore();
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    ASSERT_EQ(Read(shard_.Get(describe(10'000))), std::nullopt) << i;
  }
  EXPECT_EQ(shard_.CommittedEntries("text"), 0u);
}

TEST_P(TtlMigrationCasesTest, CaseC61AShorterTtlOnRestoreActsAtOnce) {
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(shard_.Get(Describe<Text>("text", Ttl(10'000))).Update("v"));
  }
  shard_.clock().SetMs(1500);
  shard_.Commit();
  shard_.clock().SetMs(1600);
  SaveAndRestore();
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    ASSERT_EQ(Read(shard_.Get(Describe<Text>("text", Ttl(1000)))), std::nullopt)
        << i;
  }
  shard_.Commit();
  Must(shard_->Compact());
  EXPECT_EQ(shard_.StoredEntries("text"), 0u);
}

TEST_P(TtlMigrationCasesTest,
       CaseC88RegisteredAfterTheRestoreNothingIsMixedUp) {
  const Text with = Migrating<Text>("with", Ttl(100));
  const Text without("without");
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(shard_.Get(with).Update("w" + std::to_string(i)));
    Must(shard_.Get(without).Update("o" + std::to_string(i)));
  }
  shard_.Commit();
  shard_.clock().SetMs(50);
  SaveAndRestore();
  shard_.Commit();
  shard_.clock().SetMs(60);
  const auto visible = [&](const Text& descriptor, const std::string& prefix) {
    auto& state = shard_.Get(descriptor);
    int found = 0;
    for (int i = 0; i < 100; ++i) {
      shard_->SetCurrentKey(std::to_string(i));
      const auto value = Read(state);
      if (!value) continue;
      EXPECT_EQ(*value, prefix + std::to_string(i));
      ++found;
    }
    return found;
  };
  EXPECT_EQ(visible(with, "w"), 100);
  EXPECT_EQ(visible(without, "o"), 100);
  shard_.clock().SetMs(100);
  EXPECT_EQ(visible(with, "w"), 0);
  EXPECT_EQ(visible(without, "o"), 100);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(Describe<Text>("without", Ttl(100))).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("StateMigration")));
  EXPECT_EQ(visible(Migrating<Text>("without", Ttl(100)), "o"), 100);
}

// Row 126: what nobody registers is kept and ages, wherever it goes.
TEST_P(TtlMigrationCasesTest, Row126UnregisteredItTravelsAndAges) {
  const Text with = Migrating<Text>("with", Ttl(1000));
  for (std::int64_t i = 0; i < 10; ++i) {
    shard_.clock().SetMs(i * 100);
    shard_->SetCurrentKey(std::to_string(i));
    Must(shard_.Get(with).Update("v"));
  }
  shard_.Commit();
  shard_.clock().SetMs(1400);
  SaveAndRestore();
  shard_.clock().SetMs(1600);
  shard_.Commit();
  SaveAndRestore();
  shard_.Close();
  EXPECT_EQ(Stored(directory(), "with").size(), 3u);
  shard_.Reopen();
  auto& late = shard_.Get(Migrating<Text>("with"));
  shard_.clock().SetMs(1'000'000);
  for (int i = 0; i < 10; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    EXPECT_EQ(Read(late).has_value(), i > 6) << i;
  }
}

}  // namespace
}  // namespace mayfly::state_test
