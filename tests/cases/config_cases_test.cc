// Cases C50, C52 and C61: settings act, each on its own state, and a changed
// TTL revives nothing.
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using state_test::TtlBuilder;
using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;

constexpr std::int64_t kMonthMs = std::int64_t{30} * 24 * 60 * 60 * 1000;

// --- C50 and C52: on the open column family ---

class SettingsCasesTest : public ::testing::Test {
 protected:
  void Open(const std::string& state, const StateTtlConfig& ttl) {
    shard_.Get(Describe<Text>(state, ttl));
  }
  std::uint64_t PeriodSeconds(const std::string& state) {
    shard_.Close();
    return state_test::PeriodicCompactionSeconds(shard_.options.directory,
                                                 state);
  }

  Shard<> shard_{state_test::kRocksdb};
};

TEST_F(SettingsCasesTest, CaseC50NoPeriodIsRoundedToNever) {
  const auto with = [](milliseconds period) {
    return TtlBuilder(kMonthMs).CleanupInRocksdbCompactFilter(1000, period);
  };
  for (const int period_ms : {0, 1, 500, 1000, 1500}) {
    Open("every" + std::to_string(period_ms),
         with(milliseconds(period_ms)).Build().value());
  }
  Open("unset", Ttl(kMonthMs));
  EXPECT_EQ(PeriodSeconds("every0"), 0u);  // Off.
  EXPECT_EQ(PeriodSeconds("every1"), 1u);
  EXPECT_EQ(PeriodSeconds("every500"), 1u);
  EXPECT_EQ(PeriodSeconds("every1000"), 1u);
  EXPECT_EQ(PeriodSeconds("every1500"), 2u);
  EXPECT_EQ(PeriodSeconds("unset"), 2'592'000u);
  EXPECT_THAT(with(milliseconds::max()).Build(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("periodic compaction")));
}

TEST_F(SettingsCasesTest, CaseC52EachStateHasItsOwnSettings) {
  const auto with = [](std::int64_t entries) {
    return TtlBuilder(100)
        .CleanupInRocksdbCompactFilter(entries, hours(1))
        .Build()
        .value();
  };
  EXPECT_EQ(with(7).rocksdb_compact_filter_cleanup(),
            (RocksdbCompactFilterCleanup{7, std::chrono::seconds(3600)}));
  EXPECT_EQ(with(11).rocksdb_compact_filter_cleanup(),
            (RocksdbCompactFilterCleanup{11, std::chrono::seconds(3600)}));
  Open("a", with(7));
  Open("b", with(11));
  EXPECT_EQ(PeriodSeconds("a"), 3600u);
  EXPECT_EQ(PeriodSeconds("b"), 3600u);
}

// --- C61: another TTL after a restart ---

class TtlChangeCasesTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // A hundred keys at time 0, half of them read at 1500, under a TTL that
  // changes at 1600.
  static void Change(FiveStates& states, const StateTtlConfig& to) {
    states.Register();
    for (int i = 0; i < 100; ++i) states.Write(std::to_string(i));
    states.At(1500);
    for (int i = 0; i < 50; ++i) states.Live(std::to_string(i));
    states.shard().Commit();
    states.At(1600);
    states.shard().Reopen();
    states.RegisterAgain(to);
  }
  static void ExpectNoneLive(FiveStates& states) {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(states.Live(std::to_string(i)), FiveStates::kNone) << i;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Setups, TtlChangeCasesTest, state_test::AllSetups(),
                         SetupName);

TEST_P(TtlChangeCasesTest, CaseC61ALongerTtlRevivesNoKindOfEntry) {
  FiveStates states(GetParam(), Ttl(1000));
  Change(states, Ttl(10'000));
  ExpectNoneLive(states);
}

TEST_P(TtlChangeCasesTest, CaseC61AShorterTtlReachesEveryKindOfEntry) {
  FiveStates states(GetParam(), Ttl(10'000));
  Change(states, Ttl(1000));
  states.RemoveExpired();
  EXPECT_EQ(states.Raw(), FiveStates::Each(0));
  ExpectNoneLive(states);
}

}  // namespace
}  // namespace mayfly::cases
