// The sweep on a real database, where nothing else is written or compacted.
#include "mayfly/compaction/expiry_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compaction/drop_filter.h"
#include "rocksdb/iterator.h"
#include "rocksdb/utilities/stackable_db.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

constexpr std::chrono::milliseconds kStaleness{10'000};
constexpr SweepOptions kOptions{.staleness_max = kStaleness};

class ExpirySweepTest : public ::testing::TestWithParam<EntryLayout> {
 protected:
  ExpirySweepTest() : database_(GetParam()) { MakeSweep(); }

  void MakeSweep() {
    sweep_ = std::make_unique<ExpirySweep>(&database_.db(), database_.handle(),
                                           database_.shared_ttl());
  }

  bool is_list() const { return GetParam() == EntryLayout::kList; }
  std::string Stored(TimestampMs at) const {
    return is_list() ? Element(at, "v") : Entry(at);
  }

  // Keys `prefix`0 to `prefix`<count>, in one file of the level.
  void Fill(int level, const std::string& prefix, int count, TimestampMs at) {
    for (int i = 0; i < count; ++i) {
      database_.Put(prefix + std::to_string(i), Stored(at));
    }
    database_.Flush();
    if (level > 0) database_.CompactLevels({0}, level);
  }

  SweepReport Run(const SweepOptions& options = kOptions) {
    return sweep_->Run(options, database_.clock().now_ms).value();
  }

  TestDatabase database_;
  std::unique_ptr<ExpirySweep> sweep_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ExpirySweepTest,
                         ::testing::Values(EntryLayout::kValue,
                                           EntryLayout::kList),
                         [](const auto& layout) {
                           return layout.param == EntryLayout::kList ? "List"
                                                                     : "Value";
                         });

TEST_P(ExpirySweepTest, DropsAFileThatHasExpiredWithoutReadingIt) {
  Fill(kLastLevel, "a", 1000, 0);
  Fill(kLastLevel, "b", 1000, 90);
  database_.clock().now_ms = 150;
  const auto seen = database_.ttl().counters().records_seen;
  const SweepReport report = Run();
  EXPECT_EQ(report.files_dropped, 1u);
  EXPECT_GT(report.bytes_dropped, 0u);
  EXPECT_EQ(report.compactions, 0u);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 1000});
  EXPECT_EQ(database_.Get("a0"), std::nullopt);
  EXPECT_EQ(database_.Get("b999"), Stored(90));
  // The filter never saw them.
  EXPECT_EQ(database_.ttl().counters().records_seen, seen);
  EXPECT_EQ(Run(), SweepReport{});
}

TEST_P(ExpirySweepTest, DropsAfterARestart) {
  Fill(kLastLevel, "a", 100, 0);
  database_.Reopen();
  MakeSweep();
  database_.clock().now_ms = 150;
  EXPECT_EQ(Run().files_dropped, 1u);
  EXPECT_EQ(database_.Raw(), RawCounts{});
}

// A file in a higher level lies nested in the range of the expired one.
TEST_P(ExpirySweepTest, LeavesALiveFileNestedAbove) {
  Fill(kLastLevel, "k", 1000, 0);
  Fill(3, "k5", 10, 90);
  database_.clock().now_ms = 150;
  EXPECT_EQ(Run().files_dropped, 1u);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 10});
  EXPECT_EQ(database_.Get("k55"), Stored(90));
  EXPECT_EQ(database_.Get("k7"), std::nullopt);
}

// One compaction for neighbours, and none of the files is read to its end.
TEST_P(ExpirySweepTest, DropsNeighboursInOneCompaction) {
  for (const char* prefix : {"a", "b", "c"}) Fill(kLastLevel, prefix, 100, 0);
  Fill(kLastLevel, "d", 100, 90);
  database_.clock().now_ms = 150;
  const CleanupCounters before = database_.ttl().counters();
  EXPECT_EQ(Run().files_dropped, 3u);
  const CleanupCounters after = database_.ttl().counters();
  EXPECT_EQ(after.passes, before.passes + 1);
  EXPECT_EQ(after.records_seen, before.records_seen);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 100});
}

// Another compaction may have put a file there since the sweep looked.
TEST_P(ExpirySweepTest, KeepsWhatHasComeToLieBetweenDroppedFiles) {
  Fill(kLastLevel, "a", 100, 0);
  Fill(kLastLevel, "b", 100, 90);
  Fill(kLastLevel, "c", 100, 0);
  database_.clock().now_ms = 150;
  std::vector<std::string> names;
  std::vector<SweepFile> dropped;
  const std::vector<FileExpiry> files = sweep_->Files().value();
  for (const FileExpiry& file : files) {
    names.push_back(file.name);
    if (file.smallest_key.front() == 'b') continue;
    dropped.push_back({file.name, file.smallest_key, file.largest_key});
  }
  ASSERT_EQ(dropped.size(), 2u);
  const compaction_internal::DropTarget target{
      .ttl = &database_.ttl(),
      .files = dropped,
      .purge = database_.ttl().ReadPurgePoint().value()};
  const compaction_internal::DropScope drop(target);
  ASSERT_TRUE(database_.db()
                  .CompactFiles({}, database_.handle(), names, kLastLevel)
                  .ok());
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 100});
  EXPECT_EQ(database_.Get("b7"), Stored(90));
}

// Tombstones hide what is older, and have no time.
TEST_P(ExpirySweepTest, KeepsTombstonesOverWhatIsOlder) {
  Fill(kLastLevel, "k", 10, 90);
  database_.Delete("k3");
  database_.Put("k4", Stored(0));
  database_.Flush();
  database_.CompactLevels({0}, 3);
  database_.clock().now_ms = 150;
  EXPECT_EQ(Run().files_dropped, 0u);
  EXPECT_EQ(database_.Get("k3"), std::nullopt);
  EXPECT_EQ(database_.Get("k5"), Stored(90));
}

TEST_P(ExpirySweepTest, CompactsAFileOfWhichEnoughHasExpired) {
  for (int i = 0; i < 100; ++i) {
    database_.Put("k" + std::to_string(i), Stored(i < 60 ? 0 : 99'000));
  }
  database_.Flush();
  database_.CompactLevels({0}, kLastLevel);
  database_.clock().now_ms = 99'050;
  EXPECT_EQ(Run({.expired_share = 0.8}).compactions, 0u);
  const SweepReport report = Run({.expired_share = 0.5});
  EXPECT_EQ(report.compactions, 1u);
  EXPECT_GT(report.bytes_read, 0u);
  EXPECT_GT(report.bytes_written, 0u);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 40});
}

TEST_P(ExpirySweepTest, NothingExpiredStaysLongerThanTheBound) {
  // In memory, in level 0, moved down unfiltered, and in the last level; one
  // expired entry among many live ones each.
  const auto mixed = [&](const std::string& prefix) {
    database_.Put(prefix + "-expired", Stored(0));
    for (int i = 0; i < 50; ++i) {
      database_.Put(prefix + std::to_string(i), Stored(60'000));
    }
  };
  mixed("last");
  database_.Flush();
  database_.CompactLevels({0}, kLastLevel);
  mixed("moved");
  database_.Flush();
  database_.CompactLevels({0}, 3);
  mixed("zero");
  database_.Flush();
  mixed("memory");
  const ExpiryRule rule{.ttl_ms = 50'000};
  ASSERT_TRUE(database_.ttl().SetRule(rule).ok());
  // Expired at 50 s; staleness 10 s.
  for (TimestampMs now = 50'000; now < 60'000; now += 1000) {
    database_.clock().now_ms = now;
    Run({.expired_share = 1, .staleness_max = kStaleness});
  }
  EXPECT_NE(database_.Get("last-expired"), std::nullopt);
  for (TimestampMs now = 60'000; now <= 62'000; now += 1000) {
    database_.clock().now_ms = now;
    Run({.expired_share = 1, .staleness_max = kStaleness});
  }
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 200});
  for (const char* where : {"last", "moved", "zero", "memory"}) {
    EXPECT_EQ(database_.Get(std::string(where) + "-expired"), std::nullopt);
    EXPECT_EQ(database_.Get(std::string(where) + "7"), Stored(60'000));
  }
}

// A clock that was far ahead at one sweep and is right at the next.
TEST_P(ExpirySweepTest, AClockThatIsSetBackDoesNotKeepEntriesInMemory) {
  database_.Put("k", Stored(0));
  database_.clock().now_ms = 1000;
  ASSERT_TRUE(sweep_->Run(kOptions, 4'102'444'800'000).ok());
  ASSERT_TRUE(sweep_->Run(kOptions, 1'000).ok());
  const SweepReport report = sweep_->Run(kOptions, 6'000).value();
  EXPECT_EQ(report.flushes, 1u);
  EXPECT_EQ(database_.Raw(), RawCounts{});
}

TEST_P(ExpirySweepTest, StopsAtItsBudget) {
  for (int file = 0; file < 4; ++file) {
    const std::string prefix(1, static_cast<char>('a' + file));
    for (int i = 0; i < 100; ++i) {
      database_.Put(prefix + std::to_string(i), Stored(i < 90 ? 0 : 99'000));
    }
    database_.Flush();
    database_.CompactLevels({0}, kLastLevel);
  }
  database_.clock().now_ms = 99'050;
  const SweepOptions one_file{.staleness_max = kStaleness, .bytes_max = 1};
  SweepReport report = Run(one_file);
  EXPECT_EQ(report.compactions, 1u);
  EXPECT_EQ(report.steps_left, 3u);
  for (int i = 0; i < 3; ++i) Run(one_file);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 40});
  EXPECT_EQ(sweep_->totals().compactions, 4u);
}

TEST_P(ExpirySweepTest, AnOpenIteratorStillSeesWhatWasThere) {
  Fill(kLastLevel, "a", 100, 0);
  const std::unique_ptr<rocksdb::Iterator> iterator(
      database_.db().NewIterator(rocksdb::ReadOptions(), database_.handle()));
  iterator->SeekToFirst();
  database_.clock().now_ms = 150;
  EXPECT_EQ(Run().files_dropped, 1u);
  int seen = 0;
  for (; iterator->Valid(); iterator->Next()) ++seen;
  EXPECT_TRUE(iterator->status().ok());
  EXPECT_EQ(seen, 100);
}

TEST_P(ExpirySweepTest, DoesNothingWhileTheClockCannotTell) {
  Fill(kLastLevel, "a", 100, 0);
  database_.clock().now_ms = -1;
  EXPECT_EQ(Run(), SweepReport{});
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 100});
}

TEST_P(ExpirySweepTest, ALongerTtlLeavesWhatNowLives) {
  Fill(kLastLevel, "a", 100, 0);
  database_.clock().now_ms = 150;
  ASSERT_TRUE(database_.ttl().SetRule({.ttl_ms = 1000}).ok());
  EXPECT_EQ(Run(), SweepReport{});
  EXPECT_EQ(database_.Get("a1"), Stored(0));
}

// Of values, which a newer version replaces; what lies below a list belongs to
// it. The newer versions have expired, the older, as if a clock had stepped
// back, have not: dropping the newer ones whole would show the older.
TEST(ExpirySweepOfValuesTest, UncoversNothing) {
  TestDatabase database(EntryLayout::kValue);
  ExpirySweep sweep(&database.db(), database.handle(), database.shared_ttl());
  database.PutAtLevel(kLastLevel, "k", Entry(90, "older"));
  database.PutAtLevel(3, "k", Entry(0, "newer"));
  database.clock().now_ms = 150;
  const SweepReport report = sweep.Run({.expired_share = 0.1}, 150).value();
  EXPECT_EQ(report.files_dropped, 0u);
  EXPECT_EQ(report.compactions, 1u);
  EXPECT_EQ(database.Raw(), RawCounts{});
  EXPECT_EQ(database.Get("k"), std::nullopt);
}

// Says that it cannot compact, in words of the test's choice.
class RefusingDatabase final : public rocksdb::StackableDB {
 public:
  // Lifetime: `db` outlives it.
  RefusingDatabase(rocksdb::DB* db, rocksdb::Status refusal)
      : StackableDB(std::shared_ptr<rocksdb::DB>(db, [](rocksdb::DB*) {})),
        refusal_(std::move(refusal)) {}

  // Has somebody else take the files away first.
  bool is_late = false;

  using StackableDB::CompactFiles;
  rocksdb::Status CompactFiles(const rocksdb::CompactionOptions& options,
                               rocksdb::ColumnFamilyHandle* family,
                               const std::vector<std::string>& names,
                               const int output_level, const int output_path_id,
                               std::vector<std::string>* const output_names,
                               rocksdb::CompactionJobInfo* info) override {
    if (is_late) {
      const rocksdb::Status taken =
          StackableDB::CompactFiles(options, family, names, output_level,
                                    output_path_id, output_names, info);
      EXPECT_TRUE(taken.ok()) << taken.ToString();
    }
    return refusal_;
  }

 private:
  const rocksdb::Status refusal_;
};

class RefusedSweepTest : public ::testing::Test {
 protected:
  RefusedSweepTest() {
    database_.PutAtLevel(kLastLevel, "k", Entry(0));
    database_.clock().now_ms = 150;
  }

  absl::StatusOr<SweepReport> Run(const rocksdb::Status& refusal,
                                  bool is_late = false) {
    RefusingDatabase refusing(&database_.db(), refusal);
    refusing.is_late = is_late;
    ExpirySweep sweep(&refusing, database_.handle(), database_.shared_ttl());
    return sweep.Run(kOptions, 150);
  }

  TestDatabase database_{EntryLayout::kValue};
};

TEST_F(RefusedSweepTest, AFileThatIsBeingCompactedIsLeft) {
  const auto report = Run(rocksdb::Status::Aborted());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps_left, 1u);
}

TEST_F(RefusedSweepTest, AFileThatIsGoneIsLeft) {
  const auto report =
      Run(rocksdb::Status::InvalidArgument("no such file"), /*is_late=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps_left, 1u);
}

TEST_F(RefusedSweepTest, WhatElseIsInvalidIsAnError) {
  const auto report = Run(rocksdb::Status::InvalidArgument("no such level"));
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(report.status().message().find("no such level"),
            absl::string_view::npos)
      << report.status();
}

int TableFilesOf(rocksdb::DB& db) {
  std::vector<std::string> names;
  EXPECT_TRUE(db.GetEnv()->GetChildren(db.GetName(), &names).ok());
  return static_cast<int>(std::count_if(
      names.begin(), names.end(),
      [](const std::string& name) { return name.ends_with(".sst"); }));
}

// Reading a list asks the purge clock in the middle of a get.
TEST(ExpirySweepOfListsTest, UnlinksWhatAReaderWasLookingAt) {
  TestDatabase database(EntryLayout::kList);
  ExpirySweep sweep(&database.db(), database.handle(), database.shared_ttl());
  database.PutAtLevel(kLastLevel, "expired", Element(0, "v"));
  database.Append("live", Element(90, "v"));
  database.Append("live", Element(91, "w"));
  database.clock().now_ms = 150;
  SweepReport report;
  database.clock().on_read = [&] {
    std::thread([&] { report = sweep.Run(kOptions, 150).value(); }).join();
  };
  EXPECT_EQ(database.Get("live"), Element(90, "v") + Element(91, "w"));
  EXPECT_EQ(report.files_dropped, 1u);
  EXPECT_EQ(TableFilesOf(database.db()), 1);
  EXPECT_EQ(sweep.Run(kOptions, 150).value(), SweepReport{});
  EXPECT_EQ(TableFilesOf(database.db()), 0);
}

}  // namespace
}  // namespace mayfly::compaction_test
