// Files that came to be in another way than by a flush or a common compaction:
// what is in them expires all the same, and nothing else does.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/testing/temp_directory.h"
#include "rocksdb/iostats_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/checkpoint.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

SweepReport Sweep(TestDatabase& database) {
  ExpirySweep sweep(&database.db(), database.handle(), database.shared_ttl());
  return sweep.Run(SweepOptions(), database.clock().now_ms).value();
}

std::string KeyOf(int i) { return std::to_string(1000 + i); }

// Restores write files by themselves; with the options of the column family
// these carry their times like others.
TEST(FileOriginTest, AnIngestedFileExpiresWhole) {
  const TempDirectory directory;
  TestDatabase database(EntryLayout::kValue);
  const std::string path = directory.Path("ingested.sst");
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(),
                                database.db().GetOptions(database.handle()));
  ASSERT_TRUE(writer.Open(path).ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(writer.Put(KeyOf(i), Entry(50)).ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(database.db()
                  .IngestExternalFile(database.handle(), {path},
                                      rocksdb::IngestExternalFileOptions())
                  .ok());
  const std::vector<FileExpiry> files =
      ListFileExpiry(database.db(), database.handle()).value();
  ASSERT_EQ(files.size(), 1u);
  ASSERT_TRUE(files[0].times.has_value());
  EXPECT_EQ(files[0].times->newest_ms(), 50);

  database.clock().now_ms = 149;
  EXPECT_EQ(Sweep(database), SweepReport{});
  database.clock().now_ms = 150;
  EXPECT_EQ(Sweep(database).files_dropped, 1u);
  EXPECT_EQ(database.Raw(), RawCounts{});
}

// A checkpoint is of files, and files are never changed.
TEST(FileOriginTest, ACheckpointKeepsWhatIsDroppedAfterwards) {
  const TempDirectory directory;
  TestDatabase database(EntryLayout::kValue);
  for (int i = 0; i < 100; ++i) database.Put(KeyOf(i), Entry(0));
  database.Flush();
  database.CompactLevels({0}, kLastLevel);
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_TRUE(rocksdb::Checkpoint::Create(&database.db(), &made).ok());
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  const std::string path = directory.Path("checkpoint");
  ASSERT_TRUE(checkpoint->CreateCheckpoint(path).ok());

  database.clock().now_ms = 150;
  EXPECT_EQ(Sweep(database).files_dropped, 1u);
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::OpenForReadOnly({}, path, &opened).ok());
  const std::unique_ptr<rocksdb::DB> copy(opened);
  std::string stored;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(copy->Get({}, KeyOf(i), &stored).ok());
    EXPECT_EQ(stored, Entry(0));
  }
}

// The promise is that dropping costs next to nothing, whatever the file's size.
TEST(FileOriginTest, DroppingAFileReadsNextToNothingOfIt) {
  TestDatabase database(EntryLayout::kValue);
  constexpr int kEntries = 20'000;
  for (int i = 0; i < kEntries; ++i) {
    database.Put(KeyOf(i), Entry(0, std::string(100, 'v')));
  }
  database.Flush();
  database.CompactLevels({0}, kLastLevel);
  database.clock().now_ms = 150;
  rocksdb::get_iostats_context()->Reset();
  const SweepReport report = Sweep(database);
  EXPECT_EQ(report.files_dropped, 1u);
  EXPECT_GT(report.bytes_dropped, 100'000u);
  EXPECT_LT(rocksdb::get_iostats_context()->bytes_read,
            report.bytes_dropped / 20);
}

// Versions of one key that snapshots keep can fill several files of a level.
// RocksDB compacts such files together, whichever of them is to be dropped.
class SharedBoundaryKeyTest : public ::testing::Test {
 protected:
  // Writes a value at each of these times under key "k", the last one on top,
  // and keys before and after it, in files of a few records.
  void Fill(const std::vector<TimestampMs>& versions, TimestampMs before,
            TimestampMs after) {
    for (int i = 0; i < 4; ++i) {
      database_.Put("a" + std::to_string(i), Large(before));
      database_.Put("z" + std::to_string(i), Large(after));
    }
    for (const TimestampMs version : versions) {
      database_.Put("k", Large(version));
      snapshots_.emplace_back(&database_.db());
    }
    database_.Flush();
    rocksdb::ColumnFamilyMetaData metadata;
    database_.db().GetColumnFamilyMetaData(database_.handle(), &metadata);
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kNoCompression;
    options.output_file_size_limit = 8192;
    ASSERT_TRUE(database_.db()
                    .CompactFiles(options, database_.handle(),
                                  {metadata.levels[0].files[0].name},
                                  kLastLevel)
                    .ok());
  }

  static std::string Large(TimestampMs at) {
    return Entry(at, std::string(4000, 'v'));
  }

  // Files that begin or end with "k".
  int FilesAtTheBoundary() {
    const auto all = ListFileExpiry(database_.db(), database_.handle());
    int files = 0;
    for (const FileExpiry& file : all.value()) {
      files += file.smallest_key == "k" || file.largest_key == "k" ? 1 : 0;
    }
    return files;
  }

  TestDatabase database_{EntryLayout::kValue};
  std::deque<rocksdb::ManagedSnapshot> snapshots_;
};

TEST_F(SharedBoundaryKeyTest, TheNewestVersionLivesAndOlderFilesAreDropped) {
  Fill({0, 0, 0, 0, 0, 0, 90}, /*before=*/90, /*after=*/0);
  ASSERT_GT(FilesAtTheBoundary(), 1);
  database_.clock().now_ms = 150;
  Sweep(database_);
  EXPECT_EQ(database_.Get("k"), Large(90));
  EXPECT_EQ(database_.Get("a3"), Large(90));
  EXPECT_EQ(database_.Get("z0"), std::nullopt);
}

TEST_F(SharedBoundaryKeyTest, TheNewestVersionHasExpiredAndUncoversNothing) {
  Fill({90, 90, 90, 0, 0, 0, 0}, /*before=*/0, /*after=*/90);
  ASSERT_GT(FilesAtTheBoundary(), 1);
  database_.clock().now_ms = 150;
  Sweep(database_);
  EXPECT_EQ(database_.Get("k"), std::nullopt);
  EXPECT_EQ(database_.Get("a3"), std::nullopt);
  EXPECT_EQ(database_.Get("z0"), Large(90));
  snapshots_.clear();
  database_.CompactAll();
  EXPECT_EQ(database_.Get("k"), std::nullopt);
  EXPECT_EQ(database_.Raw(), RawCounts{.values = 4});
}

}  // namespace
}  // namespace mayfly::compaction_test
