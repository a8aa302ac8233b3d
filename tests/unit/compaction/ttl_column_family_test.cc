#include "mayfly/compaction/ttl_column_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include "mayfly/serde/internal/string_view.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return std::string(ToStd(status.message()));
}

TEST(ColumnFamilyTtlTest, CreateRefusesWhatIsOutOfRange) {
  const auto clock = std::make_shared<TestClock>();
  const auto error = [&](auto change) {
    ColumnFamilyTtlSettings settings = Settings(EntryLayout::kValue);
    change(settings);
    const absl::Status status =
        ColumnFamilyTtl::Create(settings, clock).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(status), HasSubstr("state state"));
    return Message(status);
  };
  for (const std::int64_t ttl_ms : {std::int64_t{0}, std::int64_t{-2},
                                    std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(error([&](auto& settings) { settings.rule.ttl_ms = ttl_ms; }),
                HasSubstr("ttl_ms is " + std::to_string(ttl_ms)));
  }
  EXPECT_THAT(
      error([](auto& settings) { settings.query_time_after_num_entries = -1; }),
      HasSubstr("query_time_after_num_entries is -1"));
  EXPECT_THAT(error([](auto& settings) {
                settings.periodic_compaction = std::chrono::seconds(-1);
              }),
              HasSubstr("periodic_compaction is -1 s"));

  const absl::Status no_clock =
      ColumnFamilyTtl::Create(Settings(EntryLayout::kValue), nullptr).status();
  EXPECT_EQ(no_clock.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(no_clock), HasSubstr("purge_clock"));
}

TEST(ColumnFamilyTtlTest, RefusedRuleLeavesTheOldOneInForce) {
  const auto ttl =
      MakeTtl(Settings(EntryLayout::kValue), std::make_shared<TestClock>());
  EXPECT_EQ(ttl->SetRule({.ttl_ms = 0}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ttl->rule(), ExpiryRule{.ttl_ms = kTtlMs});

  const ExpiryRule rule = {.ttl_ms = kInfiniteTtlMs, .expired_through_ms = 7};
  EXPECT_TRUE(ttl->SetRule(rule).ok());
  EXPECT_EQ(ttl->rule(), rule);
}

TEST(ColumnFamilyTtlTest, RefusedQueryTimeLeavesTheOldOneInForce) {
  const auto ttl =
      MakeTtl(Settings(EntryLayout::kValue), std::make_shared<TestClock>());
  const absl::Status status = ttl->SetQueryTimeAfterNumEntries(-1);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("query_time_after_num_entries is -1"));
  EXPECT_EQ(ttl->query_time_after_num_entries(), 1);
  EXPECT_TRUE(ttl->SetQueryTimeAfterNumEntries(0).ok());
  EXPECT_EQ(ttl->query_time_after_num_entries(), 0);
}

TEST(ColumnFamilyTtlTest, PurgePointIsRuleAndTimeTogether) {
  const auto clock = std::make_shared<TestClock>();
  const auto ttl = MakeTtl(Settings(EntryLayout::kValue), clock);
  clock->now_ms = 0;
  ASSERT_TRUE(ttl->ReadPurgePoint().has_value());
  clock->now_ms = 150;
  EXPECT_TRUE(ttl->ReadPurgePoint()->IsExpired(50));
  EXPECT_FALSE(ttl->ReadPurgePoint()->IsExpired(51));
  clock->now_ms = -1;
  EXPECT_FALSE(ttl->ReadPurgePoint().has_value());

  EXPECT_FALSE(PurgePoint().IsExpired(0));
}

TEST(ConfigureTtlColumnFamilyTest, ReachesTheLiveColumnFamily) {
  ColumnFamilyTtlSettings settings = Settings(EntryLayout::kList);
  settings.periodic_compaction = std::chrono::hours(1);
  TestDatabase database(settings);

  const rocksdb::Options live = database.db().GetOptions(database.handle());
  EXPECT_EQ(live.periodic_compaction_seconds, 3600);
  EXPECT_STREQ(live.compaction_filter_factory->Name(), "mayfly.TtlFilter.v1");
  EXPECT_STREQ(live.merge_operator->Name(), "mayfly.TtlListAppend.v1");
  EXPECT_TRUE(VerifyTtlColumnFamily(database.ttl(), live).ok());
}

TEST(ConfigureTtlColumnFamilyTest, LeavesWhatItNeedNotTouch) {
  rocksdb::ColumnFamilyOptions options;
  options.periodic_compaction_seconds = 77;
  const auto ttl =
      MakeTtl(Settings(EntryLayout::kValue), std::make_shared<TestClock>());
  ConfigureTtlColumnFamily(ttl, &options);
  EXPECT_EQ(options.periodic_compaction_seconds, 77);
  EXPECT_EQ(options.merge_operator, nullptr);
}

TEST(ConfigureTtlColumnFamilyTest, OnlyCompactionsAreFiltered) {
  rocksdb::ColumnFamilyOptions options;
  ConfigureTtlColumnFamily(
      MakeTtl(Settings(EntryLayout::kValue), std::make_shared<TestClock>()),
      &options);
  using rocksdb::TableFileCreationReason;
  const auto filters = [&](TableFileCreationReason reason) {
    return options.compaction_filter_factory->ShouldFilterTableFileCreation(
        reason);
  };
  EXPECT_TRUE(filters(TableFileCreationReason::kCompaction));
  EXPECT_FALSE(filters(TableFileCreationReason::kFlush));
  EXPECT_FALSE(filters(TableFileCreationReason::kRecovery));
  EXPECT_FALSE(filters(TableFileCreationReason::kMisc));
}

class VerifyTtlColumnFamilyTest : public ::testing::Test {
 protected:
  std::shared_ptr<ColumnFamilyTtl> Ttl(EntryLayout layout) {
    ColumnFamilyTtlSettings settings = Settings(layout);
    settings.name = "streak";
    return MakeTtl(settings, std::make_shared<TestClock>());
  }

  void ExpectRefused(const ColumnFamilyTtl& ttl,
                     const rocksdb::ColumnFamilyOptions& options,
                     const std::string& reason) {
    const absl::Status status = VerifyTtlColumnFamily(ttl, options);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Message(status), HasSubstr("column family streak"));
    EXPECT_THAT(Message(status), HasSubstr(reason));
  }

  rocksdb::ColumnFamilyOptions options_;
};

TEST_F(VerifyTtlColumnFamilyTest, MissingFilterIsAnError) {
  ExpectRefused(*Ttl(EntryLayout::kValue), options_, "has no Mayfly filter");
}

TEST_F(VerifyTtlColumnFamilyTest, FilterOfAnotherStateIsAnError) {
  ConfigureTtlColumnFamily(Ttl(EntryLayout::kValue), &options_);
  ExpectRefused(*Ttl(EntryLayout::kValue), options_, "another ColumnFamilyTtl");
}

TEST_F(VerifyTtlColumnFamilyTest, DisabledLayoutIsAnError) {
  const auto ttl = Ttl(EntryLayout::kDisabled);
  ConfigureTtlColumnFamily(ttl, &options_);
  ExpectRefused(*ttl, options_, "kDisabled");
}

TEST_F(VerifyTtlColumnFamilyTest, FilterThatHidesTheFactoryIsAnError) {
  class OtherFilter : public rocksdb::CompactionFilter {
   public:
    const char* Name() const override { return "other"; }
  };
  const OtherFilter other;
  const auto ttl = Ttl(EntryLayout::kValue);
  options_.compaction_filter = &other;
  ConfigureTtlColumnFamily(ttl, &options_);
  ExpectRefused(*ttl, options_, "compaction_filter is set");
}

TEST_F(VerifyTtlColumnFamilyTest, BlobFilesAreAnError) {
  const auto ttl = Ttl(EntryLayout::kValue);
  options_.enable_blob_files = true;
  ConfigureTtlColumnFamily(ttl, &options_);
  ExpectRefused(*ttl, options_, "enable_blob_files");
}

TEST_F(VerifyTtlColumnFamilyTest, ListNeedsItsOwnMergeOperator) {
  const auto ttl = Ttl(EntryLayout::kList);
  ConfigureTtlColumnFamily(ttl, &options_);
  EXPECT_TRUE(VerifyTtlColumnFamily(*ttl, options_).ok());

  ConfigurePlainListColumnFamily(&options_);
  ExpectRefused(*ttl, options_, "merge operator");
  ConfigureTtlColumnFamily(Ttl(EntryLayout::kList), &options_);
  const auto others_merge = options_.merge_operator;
  ConfigureTtlColumnFamily(ttl, &options_);
  options_.merge_operator = others_merge;
  ExpectRefused(*ttl, options_, "merge operator");
}

}  // namespace
}  // namespace mayfly::compaction_test
