// Writes into each table file when its entries were last accessed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mayfly/compaction/file_times.h"
#include "mayfly/compaction/ttl_column_family.h"
#include "rocksdb/table_properties.h"

namespace mayfly::compaction_internal {

// In stored files: never renamed, never reused.
inline constexpr char kFileTimesProperty[] = "mayfly.FileTimes.v1";

// Adds the times of one stored record.
void AddRecord(EntryLayout layout, std::string_view key,
               std::string_view stored, FileTimes& times);

// Threads: one; RocksDB makes a collector for each file.
class FileTimesCollector final : public rocksdb::TablePropertiesCollector {
 public:
  explicit FileTimesCollector(EntryLayout layout) : layout_(layout) {}

  // Never fails and never throws.
  rocksdb::Status AddUserKey(const rocksdb::Slice& key,
                             const rocksdb::Slice& stored,
                             rocksdb::EntryType type,
                             rocksdb::SequenceNumber sequence,
                             std::uint64_t file_size) override;
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override;
  rocksdb::UserCollectedProperties GetReadableProperties() const override;
  const char* Name() const override { return kFileTimesProperty; }

 private:
  const EntryLayout layout_;
  FileTimes times_;
};

// Threads: any.
class FileTimesCollectorFactory final
    : public rocksdb::TablePropertiesCollectorFactory {
 public:
  explicit FileTimesCollectorFactory(EntryLayout layout) : layout_(layout) {}

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(
      rocksdb::TablePropertiesCollectorFactory::Context context) override;
  const char* Name() const override { return kFileTimesProperty; }

 private:
  const EntryLayout layout_;
};

}  // namespace mayfly::compaction_internal
