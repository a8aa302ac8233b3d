#include "state/sorted_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"

namespace mayfly::state_internal {

SortedFiles::SortedFiles(rocksdb::DB* db,
                         rocksdb::ColumnFamilyHandle* column_family,
                         std::string directory)
    : db_(db),
      column_family_(column_family),
      options_(db->GetOptions(column_family)),
      directory_(std::move(directory)) {}

absl::Status SortedFiles::Add(std::string_view key, std::string_view value) {
  if (!writer_) {
    paths_.push_back(absl::StrCat(directory_, "/", column_family_->GetName(),
                                  "-", paths_.size(), ".sst"));
    writer_.emplace(rocksdb::EnvOptions(options_), options_, column_family_,
                    /*invalidate_page_cache=*/false);
    MAYFLY_RETURN_IF_ERROR(Check(writer_->Open(paths_.back())));
  }
  MAYFLY_RETURN_IF_ERROR(Check(writer_->Put(ToSlice(key), ToSlice(value))));
  return writer_->FileSize() < options_.target_file_size_base ? absl::OkStatus()
                                                              : EndRun();
}

absl::Status SortedFiles::EndRun() {
  if (!writer_) return absl::OkStatus();
  MAYFLY_RETURN_IF_ERROR(Check(writer_->Finish()));
  writer_.reset();
  return absl::OkStatus();
}

absl::Status SortedFiles::Ingest() {
  MAYFLY_RETURN_IF_ERROR(EndRun());
  if (paths_.empty()) return absl::OkStatus();
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  return Check(db_->IngestExternalFile(column_family_, paths_, ingest));
}

absl::Status SortedFiles::Check(const rocksdb::Status& status) const {
  return FromRocksdb(
      status, absl::StrCat("cannot fill state '", column_family_->GetName(),
                           "' by files in '", directory_, "'"));
}

}  // namespace mayfly::state_internal
