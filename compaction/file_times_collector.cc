#include "compaction/file_times_collector.h"

#include <algorithm>
#include <optional>

#include "mayfly/serde/entry_codec.h"

namespace mayfly::compaction_internal {
namespace {

void AddValue(std::string_view key, std::string_view stored, FileTimes& times) {
  const std::optional<EntryView> entry = DecodeEntry(stored);
  if (!entry) return times.AddMalformed();
  times.Add(entry->timestamp_ms, key.size() + stored.size());
}

std::uint64_t BytesOf(const EntryView& element) {
  return kListElementHeaderBytes + element.bytes.size();
}

// Of a list that cannot be read to its end nothing is ever removed: takes back
// the elements that could be read.
void TakeBack(std::string_view stored, const FileTimes::Extremes& before,
              FileTimes& times) {
  ListReader reader(stored);
  while (const std::optional<EntryView> element = reader.Next()) {
    times.Remove(element->timestamp_ms, BytesOf(*element));
  }
  times.set_extremes(before);
}

void AddList(std::string_view key, std::string_view stored, FileTimes& times) {
  const FileTimes::Extremes before = times.extremes();
  TimestampMs newest_ms = 0;
  ListReader reader(stored);
  while (const std::optional<EntryView> element = reader.Next()) {
    times.Add(element->timestamp_ms, BytesOf(*element));
    newest_ms = std::max(newest_ms, element->timestamp_ms);
  }
  if (reader.malformed()) [[unlikely]] {
    TakeBack(stored, before, times);
    return times.AddMalformed();
  }
  // The key stays as long as any element.
  if (!stored.empty()) times.AddBytes(newest_ms, key.size());
}

}  // namespace

void AddRecord(EntryLayout layout, std::string_view key,
               std::string_view stored, FileTimes& times) {
  switch (layout) {
    case EntryLayout::kDisabled:
      return times.AddMalformed();
    case EntryLayout::kValue:
      return AddValue(key, stored, times);
    case EntryLayout::kList:
      return AddList(key, stored, times);
  }
}

rocksdb::Status FileTimesCollector::AddUserKey(
    const rocksdb::Slice& key, const rocksdb::Slice& stored,
    rocksdb::EntryType type, rocksdb::SequenceNumber /*sequence*/,
    std::uint64_t /*file_size*/) {
  switch (type) {
    case rocksdb::kEntryPut:
      AddRecord(layout_, key.ToStringView(), stored.ToStringView(), times_);
      break;
    case rocksdb::kEntryMerge:
      if (layout_ == EntryLayout::kList) {
        AddRecord(layout_, key.ToStringView(), stored.ToStringView(), times_);
      } else {
        times_.AddMalformed();
      }
      break;
    case rocksdb::kEntryDelete:
    case rocksdb::kEntrySingleDelete:
    case rocksdb::kEntryRangeDeletion:
      // RocksDB counts them itself.
      break;
    default:
      times_.AddMalformed();
  }
  return rocksdb::Status::OK();
}

rocksdb::Status FileTimesCollector::Finish(
    rocksdb::UserCollectedProperties* properties) {
  try {
    properties->emplace(kFileTimesProperty, times_.Serialize());
  } catch (...) {
    // Out of memory: the file is without times, and never dropped whole.
  }
  return rocksdb::Status::OK();
}

rocksdb::UserCollectedProperties FileTimesCollector::GetReadableProperties()
    const {
  return {};
}

rocksdb::TablePropertiesCollector*
FileTimesCollectorFactory::CreateTablePropertiesCollector(
    rocksdb::TablePropertiesCollectorFactory::Context /*context*/) {
  return new FileTimesCollector(layout_);
}

}  // namespace mayfly::compaction_internal
