#include "compaction/drop_filter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compaction/list_purge.h"
#include "mayfly/serde/entry_codec.h"

namespace mayfly::compaction_internal {
namespace {

thread_local const DropTarget* drop_target = nullptr;

}  // namespace

DropScope::DropScope(const DropTarget& target) { drop_target = &target; }

DropScope::~DropScope() { drop_target = nullptr; }

const DropTarget* DropScope::Current() { return drop_target; }

DropFilter::DropFilter(std::shared_ptr<ColumnFamilyTtl> ttl,
                       const DropTarget& target)
    : layout_(ttl->layout()), target_(target), ordinary_(std::move(ttl)) {}

rocksdb::CompactionFilter::Decision DropFilter::FilterV2(
    int level, const rocksdb::Slice& key, ValueType type,
    const rocksdb::Slice& stored, std::string* new_value,
    std::string* skip_until) const {
  const SweepFile* const file = FileOf(key.ToStringView());
  if (file != nullptr && IsExpired(stored.ToStringView(), type)) {
    try {
      // The first key after the file.
      skip_until->assign(file->largest_key);
      skip_until->push_back('\0');
      return Decision::kRemoveAndSkipUntil;
    } catch (...) {
      // Out of memory: one record after another, then.
    }
  }
  return ordinary_.FilterV2(level, key, type, stored, new_value, skip_until);
}

const SweepFile* DropFilter::FileOf(std::string_view key) const {
  const auto file = std::partition_point(
      target_.files.begin(), target_.files.end(),
      [key](const SweepFile& before) { return before.largest_key < key; });
  if (file == target_.files.end() || key < file->smallest_key) return nullptr;
  return &*file;
}

bool DropFilter::IsExpired(std::string_view stored, ValueType type) const {
  if (layout_ == EntryLayout::kList) {
    return type != ValueType::kBlobIndex &&
           ScanList(stored, target_.purge).verdict == ListVerdict::kDrop;
  }
  if (type != ValueType::kValue) return false;
  const std::optional<EntryView> entry = DecodeEntry(stored);
  return entry.has_value() && target_.purge.IsExpired(entry->timestamp_ms);
}

}  // namespace mayfly::compaction_internal
