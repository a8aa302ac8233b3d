#include "tests/conformance/ledger.h"

#include <charconv>
#include <cstddef>
#include <system_error>

#include "gtest/gtest.h"
#include "tests/conformance/rows.h"

namespace mayfly::conformance {
namespace {

constexpr char kNoBackend[] = "it is tested alone, without a backend";
constexpr char kBelow[] = "it is tested on column families, below a backend";
constexpr char kMovesItself[] = "its test is about restarts and copies itself";
constexpr char kOneCall[] = "it is about one call, or two in a row";

constexpr Elsewhere kFilter{"unit/compaction/ttl_compaction_filter_test.cc",
                            kNoBackend};
constexpr Elsewhere kListDatabase{"unit/compaction/list_database_test.cc",
                                  kBelow};
constexpr Elsewhere kTtlConfig{"unit/state/ttl_config_test.cc", kNoBackend};
constexpr Elsewhere kRegistration{"unit/state/registration_test.cc",
                                  kMovesItself};
constexpr Elsewhere kCommits{"unit/state/commit_in_parts_test.cc",
                             kMovesItself};
constexpr Elsewhere kSavepoints{"unit/state/savepoint_test.cc", kMovesItself};

}  // namespace

const std::vector<CoveredRow>& CoveredRows() {
  static const std::vector<CoveredRow> rows = {
      {43, kFilter, {"Row43LayoutNumbersAreFrozen"}},
      {44, kFilter, {"Row44DisabledFiltersNothing"}},
      {46, kFilter, {"Row46ShortValueIsKeptAndCounted"}},
      {47, kFilter, {"Row47LiveValueIsKept"}},
      {48, kFilter, {"Row48ExpiredValueIsRemoved"}},
      {49, kFilter, {"Row49ClockIsReadEveryTenthRecord"}},
      {50, kFilter, {"Row50ValuesAreNotMergedSoOperandsStay"}},
      {51, kFilter, {"Row51LiveListIsKept"}},
      {52, kFilter, {"Row52ExpiredListIsRemoved"}},
      {53, kFilter, {"Row53ListLosesItsExpiredHead"}},
      {54, kFilter, {"Row54BlobIndexIsKept"}},
      {55, kListDatabase, {"Rows55And128OneCompactionDropsOldElements"}},
      {57,
       {"unit/compaction/allocation_failure_test.cc", kNoBackend},
       {"KeepingAndRemovingTakeNoMemory"}},
      {58, kTtlConfig, {"Row58Defaults"}},
      {59, kTtlConfig, {"Row59BackgroundOffTurnsOffTheDefaults"}},
      {60, kTtlConfig, {"Row60EntriesPerAccessMustBePositive"}},
      {61, kTtlConfig, {"Row61DescriptorsHaveATtlOnlyIfItIsEnabled"}},
      {67, {"golden/format_test.cc", kNoBackend}, {"IsRead"}},
      {78,
       {"unit/state/ttl_migration_cases_test.cc", kMovesItself},
       {"CaseC58SwitchedOnNothingIsLostOrGarbled",
        "CaseC59SwitchedOffNoBytesStayAndNothingRevives",
        "CaseC59SwitchedOffAfterASavepoint"}},
      {82, kRegistration, {"AnotherKeyTypeIsRefused"}},
      {84, kCommits, {"Row84CommitsUnderWayAtOnceCutListsOfTheirOwn"}},
      {85,
       kSavepoints,
       {"WhatHasExpiredIsNeverRestored", "ListsAreCutElementByElement"}},
      {88,
       {"unit/serde/state_key_test.cc", kNoBackend},
       {"DecodesToWhatWasEncoded", "DifferentPairsNeverShareBytesOrRanges"}},
      {92,
       {"unit/state/state_time_test.cc", kOneCall},
       {"NothingExpiresHalfWayThroughAnOperation"}},
      {110,
       {"unit/state/list_state_test.cc", kOneCall},
       {"Row110ContentsSurviveALateWalk"}},
      {121, kFilter, {"Row121ListLosesExpiredElementsAnywhere"}},
      {122,
       kSavepoints,
       {"Rows122And123CaseC64CleanedSnapshotsHoldNothingExpired"}},
      {123,
       kSavepoints,
       {"Rows122And123CaseC64CleanedSnapshotsHoldNothingExpired"}},
      {125,
       kRegistration,
       {"Row125AnotherTtlIsRefusedNamingBoth",
        "Row125AnotherTypeOrKindIsRefusedNamingBoth"}},
      {126, kRegistration, {"Row126ItKeepsItsRecordedTtl"}},
      {127,
       {"unit/state/purge_test.cc", kBelow},
       {"Row127ThePeriodReachesTheLiveColumnFamily"}},
      {128, kListDatabase, {"Rows55And128OneCompactionDropsOldElements"}},
      {132,
       kTtlConfig,
       {"Row132TtlMustBeAWholePositiveNumberOfMilliseconds",
        "QueryCountMustNotBeNegative"}},
      {135,
       kFilter,
       {"Row46ShortValueIsKeptAndCounted",
        "Row135UnreadableListIsKeptWholeAndCounted"}},
      {136, kFilter, {"Row136ValueOfTwoGibIsKeptUnread"}},
      {137,
       {"unit/compaction/value_database_test.cc", kBelow},
       {"Row137OtherColumnFamiliesAreLeftAlone"}},
      {138,
       {"unit/compaction/resurrection_test.cc", kBelow},
       {"SnapshotLosesExpiredValuesButNeverSeesOlderOnes",
        "SnapshotKeepsTheLiveVersionUnderAnExpiredOne",
        "OpenIteratorIsNotDisturbed"}},
      {139, kCommits, {"Row139WhatIsRemovedMeanwhileIsStillInIt"}},
      {140, kSavepoints, {"CaseC65EveryKeyIsInOneShardWhateverTheirNumber"}},
  };
  return rows;
}

const std::vector<InapplicableRow>& InapplicableRows() {
  static const std::vector<InapplicableRow> rows = {
      {45,
       "a filter has its rule from the start; changing it live is allowed "
       "and defined"},
      {56, "lists frame their elements, so the filter calls no user code"},
      {62, "no other language hands over a configuration"},
      {64, "no serializer knows of TTL: timestamps are framed around values"},
      {66, "no serializer knows of TTL: there is nothing to wrap"},
      {81, "there are no namespaces, so no serializer of theirs"},
      {83, "arrives with the changelog"},
      {87, "State V2 has no counterpart"},
      {89, "keys have no key group in front: a shard has its own database"},
      {90,
       "a commit is one atomic batch of the write-ahead log; nothing is "
       "flushed before it"},
      {104, "there is no SQL planner"},
  };
  return rows;
}

int RowNumberIn(std::string_view test_name) {
  constexpr std::string_view kMark = "Row";
  constexpr std::size_t kDigits = 3;
  for (std::size_t at = test_name.find(kMark); at != std::string_view::npos;
       at = test_name.find(kMark, at + 1)) {
    const std::string_view digits =
        test_name.substr(at + kMark.size(), kDigits);
    int number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + kDigits) return number;
  }
  return 0;
}

std::vector<Exemption> Exemptions() {
  std::vector<Exemption> all;
  for (const Row& row : AllRows()) {
    for (const NotCarried& exempt : row.not_carried) {
      all.push_back(
          {RowNumberIn(row.name), row.name, exempt.carriage, exempt.reason});
    }
  }
  return all;
}

std::map<int, std::set<Carriage>> RowsTestedHere() {
  std::map<int, std::set<Carriage>> rows;
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string_view name = suite.GetTestInfo(j)->name();
      const int number = RowNumberIn(name);
      if (number == 0) continue;
      std::set<Carriage>& carriages = rows[number];
      for (const Carriage carriage : kCarriages) {
        if (name.ends_with(std::string("_") + NameOf(carriage))) {
          carriages.insert(carriage);
        }
      }
    }
  }
  return rows;
}

}  // namespace mayfly::conformance
