// The times of a file: read from the bytes of its property, whatever these are,
// and collected from its records, whatever those are. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compaction/file_times_collector.h"
#include "mayfly/compaction/file_times.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/check.h"

namespace {

using mayfly::EntryLayout;
using mayfly::FileTimes;
using mayfly::TimestampMs;

// What holds of all times, however they came to be.
void CheckTimes(const FileTimes& times) {
  const TimestampMs oldest_ms = times.oldest_ms().value_or(0);
  const TimestampMs newest_ms = times.newest_ms().value_or(0);
  MAYFLY_CHECK(0 <= oldest_ms && oldest_ms <= newest_ms);
  std::uint64_t before = 0;
  for (const TimestampMs through_ms :
       {TimestampMs{0}, oldest_ms, oldest_ms + (newest_ms - oldest_ms) / 2,
        newest_ms, mayfly::kNeverExpires}) {
    const std::uint64_t bytes = times.BytesThrough(through_ms);
    MAYFLY_CHECK(before <= bytes && bytes <= times.bytes());
    before = bytes;
  }
  if (times.entries() > 0 && oldest_ms < newest_ms) {
    MAYFLY_CHECK(!times.AllThrough(oldest_ms));
  }
  MAYFLY_CHECK(FileTimes::Parse(times.Serialize()) == times);
  FileTimes merged = times;
  merged.Merge(times);
  MAYFLY_CHECK(merged.oldest_ms() == times.oldest_ms());
  MAYFLY_CHECK(merged.newest_ms() == times.newest_ms());
}

// Entries that a plain reading of the format finds in a stored record; nullopt
// if it cannot be read to its end.
std::optional<std::uint64_t> EntriesOf(EntryLayout layout,
                                       std::string_view stored) {
  if (layout == EntryLayout::kValue) {
    if (!mayfly::DecodeEntry(stored)) return std::nullopt;
    return 1;
  }
  std::uint64_t entries = 0;
  mayfly::ListReader reader(stored);
  while (reader.Next()) ++entries;
  if (reader.malformed()) return std::nullopt;
  return entries;
}

// Each record has its type and its length in front: a byte each.
void CheckCollected(EntryLayout layout, std::string_view records) {
  mayfly::compaction_internal::FileTimesCollector collector(layout);
  std::uint64_t entries = 0;
  std::uint64_t malformed = 0;
  while (records.size() >= 2) {
    const auto type = static_cast<rocksdb::EntryType>(
        static_cast<unsigned char>(records[0]) % (rocksdb::kEntryOther + 1));
    const std::size_t length = static_cast<unsigned char>(records[1]);
    const std::string_view stored = records.substr(2, length);
    records.remove_prefix(2 + stored.size());
    MAYFLY_CHECK(collector
                     .AddUserKey("key",
                                 rocksdb::Slice(stored.data(), stored.size()),
                                 type, /*sequence=*/0, /*file_size=*/0)
                     .ok());
    if (type == rocksdb::kEntryDelete || type == rocksdb::kEntrySingleDelete ||
        type == rocksdb::kEntryRangeDeletion) {
      continue;
    }
    const bool has_entries =
        type == rocksdb::kEntryPut ||
        (type == rocksdb::kEntryMerge && layout == EntryLayout::kList);
    const auto found = has_entries ? EntriesOf(layout, stored) : std::nullopt;
    entries += found.value_or(0);
    malformed += found ? 0 : 1;
  }
  rocksdb::UserCollectedProperties properties;
  MAYFLY_CHECK(collector.Finish(&properties).ok());
  const auto times = FileTimes::Parse(
      properties.at(mayfly::compaction_internal::kFileTimesProperty));
  MAYFLY_CHECK(times.has_value());
  MAYFLY_CHECK(times->entries() == entries);
  MAYFLY_CHECK(times->malformed_records() == malformed);
  CheckTimes(*times);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  switch (data[0] % 3) {
    case 0:
      if (const auto times = FileTimes::Parse(bytes)) CheckTimes(*times);
      break;
    case 1:
      CheckCollected(EntryLayout::kValue, bytes);
      break;
    case 2:
      CheckCollected(EntryLayout::kList, bytes);
      break;
  }
  return 0;
}
