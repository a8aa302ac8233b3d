#include "compaction/list_purge.h"

#include <optional>

#include "mayfly/serde/entry_codec.h"

namespace mayfly::compaction_internal {

ListScan ScanList(std::string_view stored, const PurgePoint& purge) {
  const TimestampMs expired_through_ms = purge.ExpiredThrough();
  ListScan scan;
  std::int64_t elements = 0;
  ListReader reader(stored);
  while (const std::optional<EntryView> element = reader.Next()) {
    ++elements;
    if (element->timestamp_ms <= expired_through_ms) {
      ++scan.expired_elements;
      scan.expired_bytes += kListElementHeaderBytes + element->bytes.size();
    }
  }
  if (reader.malformed()) return {.verdict = ListVerdict::kMalformed};
  if (scan.expired_elements == elements) {
    scan.verdict = ListVerdict::kDrop;
  } else if (scan.expired_elements > 0) {
    scan.verdict = ListVerdict::kRewrite;
  }
  return scan;
}

void AppendLive(std::string_view stored, const PurgePoint& purge,
                std::string& out) {
  const TimestampMs expired_through_ms = purge.ExpiredThrough();
  ListReader reader(stored);
  // Neighbours that stay are copied together: run starts the run of live
  // elements that ends where the reader stands.
  std::size_t run = 0;
  std::size_t start = 0;
  while (const std::optional<EntryView> element = reader.Next()) {
    const std::size_t end = stored.size() - reader.rest().size();
    if (element->timestamp_ms <= expired_through_ms) {
      out.append(stored.substr(run, start - run));
      run = end;
    }
    start = end;
  }
  out.append(stored.substr(run));
}

}  // namespace mayfly::compaction_internal
