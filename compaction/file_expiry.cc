#include "mayfly/compaction/file_expiry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compaction/file_times_collector.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"

namespace mayfly {
namespace {

using compaction_internal::kFileTimesProperty;

FileExpiry Describe(const rocksdb::SstFileMetaData& file, int level,
                    const rocksdb::TablePropertiesCollection& properties) {
  FileExpiry expiry{.name = file.name,
                    .level = level,
                    .bytes = file.size,
                    .smallest_key = file.smallestkey,
                    .largest_key = file.largestkey,
                    .deletions = file.num_deletions,
                    .being_compacted = file.being_compacted,
                    .times = std::nullopt};
  const auto found = properties.find(file.db_path + file.name);
  if (found == properties.end()) return expiry;
  const rocksdb::TableProperties& table = *found->second;
  expiry.deletions = table.num_deletions + table.num_range_deletions;
  const auto times = table.user_collected_properties.find(kFileTimesProperty);
  if (times != table.user_collected_properties.end()) {
    expiry.times = FileTimes::Parse(times->second);
  }
  return expiry;
}

}  // namespace

absl::StatusOr<std::vector<FileExpiry>> ListFileExpiry(
    rocksdb::DB& db, rocksdb::ColumnFamilyHandle* column_family) {
  // A file that a compaction writes between the two looks is in one of them
  // only, and is listed without times.
  rocksdb::TablePropertiesCollection properties;
  const rocksdb::Status status =
      db.GetPropertiesOfAllTables(column_family, &properties);
  if (!status.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "cannot read the properties of the table files: ", status.ToString()));
  }
  rocksdb::ColumnFamilyMetaData metadata;
  db.GetColumnFamilyMetaData(column_family, &metadata);
  std::vector<FileExpiry> files;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      files.push_back(Describe(file, level.level, properties));
    }
  }
  return files;
}

}  // namespace mayfly
