// A RocksDB database in a directory of its own, with one TTL column family, a
// clock that stands until it is moved, and no compaction but those asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/snapshot.h"
#include "tests/unit/compaction/test_support.h"

namespace mayfly::compaction_test {

// The last level of the database.
inline constexpr int kLastLevel = 6;

// What lies in the table files of a column family, whoever may see it.
struct RawCounts {
  std::uint64_t values = 0;
  std::uint64_t merge_operands = 0;
  std::uint64_t tombstones = 0;

  friend bool operator==(const RawCounts&, const RawCounts&) = default;
};
void PrintTo(const RawCounts& counts, std::ostream* out);

// Every call that can fail throws if it does, which fails the test.
class TestDatabase {
 public:
  using Tune = std::function<void(rocksdb::Options&)>;

  // `tune` changes the options before they are configured for the TTL.
  explicit TestDatabase(ColumnFamilyTtlSettings settings,
                        const Tune& tune = nullptr);
  explicit TestDatabase(EntryLayout layout) : TestDatabase(Settings(layout)) {}
  ~TestDatabase();

  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  TestClock& clock() { return *clock_; }
  const std::shared_ptr<TestClock>& shared_clock() { return clock_; }
  ColumnFamilyTtl& ttl() { return *ttl_; }
  const std::shared_ptr<ColumnFamilyTtl>& shared_ttl() { return ttl_; }
  rocksdb::DB& db() { return *db_; }

  // Adds a column family, as a state registered later does. The default one is
  // the TTL column family that all below act on unless told otherwise.
  void CreateColumnFamily(const std::string& name,
                          const rocksdb::ColumnFamilyOptions& options);
  rocksdb::ColumnFamilyHandle* handle(
      const std::string& name = rocksdb::kDefaultColumnFamilyName);

  // Closes the database and opens it with the same options.
  void Reopen();

  void Put(std::string_view key, const std::string& stored);
  void Append(std::string_view key, const std::string& stored);
  void Delete(std::string_view key);
  void Flush(rocksdb::ColumnFamilyHandle* handle = nullptr);

  // Writes one record into a new file of the level, by itself.
  void PutAtLevel(int level, std::string_view key, const std::string& stored);

  // Rewrites all files of the levels into the output level, in one compaction.
  void CompactLevels(const std::vector<int>& levels, int output_level);

  // Flushes, then rewrites everything, the last level twice over.
  void CompactAll(rocksdb::ColumnFamilyHandle* handle = nullptr);

  // What is stored, expired or not; nullopt if nothing is.
  std::optional<std::string> Get(std::string_view key,
                                 const rocksdb::Snapshot* snapshot = nullptr);

  RawCounts Raw(rocksdb::ColumnFamilyHandle* handle = nullptr);
  int FilesAtLevel(int level);

 private:
  std::vector<std::string> FileNames(const std::vector<int>& levels);

  void Open();
  void Close();

  const std::string path_;
  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  const std::shared_ptr<ColumnFamilyTtl> ttl_;
  rocksdb::Options options_;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_;
  std::unique_ptr<rocksdb::DB> db_;
  // One for each descriptor.
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace mayfly::compaction_test
