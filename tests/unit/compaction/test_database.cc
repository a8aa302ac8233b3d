#include "tests/unit/compaction/test_database.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "gtest/gtest.h"
#include "rocksdb/table_properties.h"

namespace mayfly::compaction_test {
namespace {

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string NewDirectory() {
  std::string path = ::testing::TempDir() + "/mayfly_compaction_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("no directory can be made under " +
                             ::testing::TempDir());
  }
  return path;
}

rocksdb::Slice ToSlice(std::string_view bytes) {
  return rocksdb::Slice(bytes.data(), bytes.size());
}

}  // namespace

void PrintTo(const RawCounts& counts, std::ostream* out) {
  *out << counts.values << " values, " << counts.merge_operands
       << " merge operands, " << counts.tombstones << " tombstones";
}

TestDatabase::TestDatabase(ColumnFamilyTtlSettings settings, const Tune& tune)
    : path_(NewDirectory()), ttl_(MakeTtl(std::move(settings), clock_)) {
  options_.create_if_missing = true;
  options_.compression = rocksdb::kNoCompression;
  options_.num_levels = kLastLevel + 1;
  options_.disable_auto_compactions = true;
  if (tune) tune(options_);
  ConfigureTtlColumnFamily(ttl_, &options_);
  descriptors_.emplace_back(rocksdb::kDefaultColumnFamilyName, options_);
  Open();
}

TestDatabase::~TestDatabase() {
  Close();
  std::filesystem::remove_all(path_);
}

void TestDatabase::Open() {
  rocksdb::DB* db = nullptr;
  Check(rocksdb::DB::Open(options_, path_, descriptors_, &handles_, &db));
  db_.reset(db);
}

void TestDatabase::Close() {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  handles_.clear();
  EXPECT_TRUE(db_->Close().ok());
  db_.reset();
}

void TestDatabase::Reopen() {
  Close();
  Open();
}

void TestDatabase::CreateColumnFamily(
    const std::string& name, const rocksdb::ColumnFamilyOptions& options) {
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  Check(db_->CreateColumnFamily(options, name, &handle));
  descriptors_.emplace_back(name, options);
  handles_.push_back(handle);
}

rocksdb::ColumnFamilyHandle* TestDatabase::handle(const std::string& name) {
  for (rocksdb::ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  throw std::logic_error("no column family " + name);
}

void TestDatabase::Put(std::string_view key, const std::string& stored) {
  Check(db_->Put({}, handle(), ToSlice(key), stored));
}

void TestDatabase::Append(std::string_view key, const std::string& stored) {
  Check(db_->Merge({}, handle(), ToSlice(key), stored));
}

void TestDatabase::Delete(std::string_view key) {
  Check(db_->Delete({}, handle(), ToSlice(key)));
}

void TestDatabase::Flush(rocksdb::ColumnFamilyHandle* handle) {
  Check(db_->Flush({}, handle != nullptr ? handle : this->handle()));
}

void TestDatabase::PutAtLevel(int level, std::string_view key,
                              const std::string& stored) {
  if (FilesAtLevel(0) != 0) {
    throw std::logic_error("level 0 holds files that would be moved as well");
  }
  Put(key, stored);
  Flush();
  CompactLevels({0}, level);
}

void TestDatabase::CompactLevels(const std::vector<int>& levels,
                                 int output_level) {
  Check(db_->CompactFiles({}, handle(), FileNames(levels), output_level));
}

void TestDatabase::CompactAll(rocksdb::ColumnFamilyHandle* handle) {
  if (handle == nullptr) handle = this->handle();
  Flush(handle);
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  Check(db_->CompactRange(options, handle, nullptr, nullptr));
}

std::optional<std::string> TestDatabase::Get(
    std::string_view key, const rocksdb::Snapshot* snapshot) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  std::string stored;
  const rocksdb::Status status =
      db_->Get(options, handle(), ToSlice(key), &stored);
  if (status.IsNotFound()) return std::nullopt;
  Check(status);
  return stored;
}

RawCounts TestDatabase::Raw(rocksdb::ColumnFamilyHandle* handle) {
  rocksdb::TablePropertiesCollection tables;
  Check(db_->GetPropertiesOfAllTables(
      handle != nullptr ? handle : this->handle(), &tables));
  RawCounts counts;
  for (const auto& [file, properties] : tables) {
    counts.merge_operands += properties->num_merge_operands;
    counts.tombstones += properties->num_deletions;
    counts.values += properties->num_entries - properties->num_deletions -
                     properties->num_merge_operands;
  }
  return counts;
}

int TestDatabase::FilesAtLevel(int level) {
  return static_cast<int>(FileNames({level}).size());
}

std::vector<std::string> TestDatabase::FileNames(
    const std::vector<int>& levels) {
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(handle(), &metadata);
  std::vector<std::string> names;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    if (std::find(levels.begin(), levels.end(), level.level) == levels.end()) {
      continue;
    }
    for (const rocksdb::SstFileMetaData& file : level.files) {
      names.push_back(file.name);
    }
  }
  return names;
}

}  // namespace mayfly::compaction_test
