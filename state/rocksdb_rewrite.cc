#include "state/rocksdb_rewrite.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "rocksdb/sst_file_writer.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"

namespace mayfly::state_internal {
namespace {

// Writes entries that come in their order into one table file after another.
class SortedRuns {
 public:
  SortedRuns(const rocksdb::Options& options, const std::string& directory)
      : options_(options), directory_(directory) {}

  absl::Status Add(std::string_view key, std::string_view value) {
    if (!writer_) MAYFLY_RETURN_IF_ERROR(Begin());
    MAYFLY_RETURN_IF_ERROR(Check(writer_->Put(ToSlice(key), ToSlice(value))));
    return writer_->FileSize() < options_.target_file_size_base
               ? absl::OkStatus()
               : End();
  }

  absl::StatusOr<std::vector<std::string>> Finish() {
    if (writer_) MAYFLY_RETURN_IF_ERROR(End());
    return paths_;
  }

 private:
  absl::Status Begin() {
    paths_.push_back(absl::StrCat(directory_, "/", paths_.size(), ".sst"));
    writer_.emplace(rocksdb::EnvOptions(options_), options_,
                    /*column_family=*/nullptr,
                    /*invalidate_page_cache=*/false);
    return Check(writer_->Open(paths_.back()));
  }

  absl::Status End() {
    MAYFLY_RETURN_IF_ERROR(Check(writer_->Finish()));
    writer_.reset();
    return absl::OkStatus();
  }

  absl::Status Check(const rocksdb::Status& status) const {
    return FromRocksdb(status, absl::StrCat("cannot write '", directory_, "'"));
  }

  const rocksdb::Options options_;
  const std::string directory_;
  std::optional<rocksdb::SstFileWriter> writer_;
  std::vector<std::string> paths_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> RewriteIntoFiles(
    rocksdb::DB& db, rocksdb::ColumnFamilyHandle* from,
    const rocksdb::ColumnFamilyOptions& options, const std::string& directory,
    EntryMigration& migration) {
  std::uint64_t keys = 0;
  db.GetIntProperty(from, rocksdb::DB::Properties::kEstimateNumKeys, &keys);
  migration.ExpectKeys(keys);

  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.total_order_seek = true;
  read.readahead_size = std::size_t{2} << 20;
  const std::unique_ptr<rocksdb::Iterator> entries(db.NewIterator(read, from));
  SortedRuns runs(rocksdb::Options(db.GetDBOptions(), options), directory);
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view key = FromSlice(entries->key());
    MAYFLY_ASSIGN_OR_RETURN(const auto left,
                            migration.Apply(key, FromSlice(entries->value())));
    if (left) MAYFLY_RETURN_IF_ERROR(runs.Add(key, *left));
  }
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(entries->status(),
                  absl::StrCat("cannot read state '", from->GetName(), "'")));
  migration.Finish();
  return runs.Finish();
}

}  // namespace mayfly::state_internal
