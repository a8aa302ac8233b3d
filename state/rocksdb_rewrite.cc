#include "state/rocksdb_rewrite.h"

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "state/rocksdb_status.h"
#include "state/rocksdb_store.h"

namespace mayfly::state_internal {

absl::Status RewriteEntries(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* from,
                            EntryMigration& migration, SortedFiles& to) {
  std::uint64_t keys = 0;
  db.GetIntProperty(from, rocksdb::DB::Properties::kEstimateNumKeys, &keys);
  migration.ExpectKeys(keys);
  const std::unique_ptr<rocksdb::Iterator> entries(
      db.NewIterator(FullScan(), from));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view key = FromSlice(entries->key());
    MAYFLY_ASSIGN_OR_RETURN(const auto left,
                            migration.Apply(key, FromSlice(entries->value())));
    if (left) MAYFLY_RETURN_IF_ERROR(to.Add(key, *left));
  }
  MAYFLY_RETURN_IF_ERROR(
      FromRocksdb(entries->status(),
                  absl::StrCat("cannot read state '", from->GetName(), "'")));
  migration.Finish();
  return absl::OkStatus();
}

}  // namespace mayfly::state_internal
