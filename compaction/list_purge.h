// What is expired in a stored list: the one scan that the filter and the merge
// operator share, so that they cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/compaction/ttl_column_family.h"

namespace mayfly::compaction_internal {

enum class ListVerdict {
  kKeep,       // Nothing in it is expired.
  kDrop,       // Nothing in it is live; true of an empty list too.
  kRewrite,    // Some of it is live: AppendLive() says what.
  kMalformed,  // It cannot be read to its end, so all of it stays.
};

struct ListScan {
  ListVerdict verdict = ListVerdict::kKeep;
  std::int64_t expired_elements = 0;
  // With their headers.
  std::size_t expired_bytes = 0;
};

// Reads the list to its end, expired elements being anywhere in it: time order
// is not assumed. Allocates nothing.
ListScan ScanList(std::string_view stored, const PurgePoint& purge);

// Appends the live elements, in order.
// Range: a list that ScanList() found not malformed.
void AppendLive(std::string_view stored, const PurgePoint& purge,
                std::string& out);

}  // namespace mayfly::compaction_internal
