// The bytes of a stored entry: value-like states, map entries and lists.
// serde/FORMAT.md describes every byte and why it is there.
//
//   value, reducing, aggregating, map entry:  timestamp (8) | user bytes
//   list:  timestamp (8) | length (u32 little-endian) | bytes, one after
//   another
//
// A state without TTL stores the same without timestamps.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// Whether the entries of a state carry timestamps: they do if it has a TTL.
enum class EntryFormat { kStamped, kUnstamped };

// What a stored entry consists of.
// Lifetime: `bytes` points into what was decoded.
struct EntryView {
  // kNeverExpires if the entry is stored without a timestamp.
  TimestampMs timestamp_ms = 0;
  std::string_view bytes;
};

// Splits a value or map entry; nullopt if shorter than a timestamp or if the
// timestamp is negative: the bytes are malformed.
inline std::optional<EntryView> DecodeEntry(
    std::string_view stored, EntryFormat format = EntryFormat::kStamped) {
  if (format == EntryFormat::kUnstamped) {
    return EntryView{kNeverExpires, stored};
  }
  if (stored.size() < kTimestampBytes) return std::nullopt;
  const TimestampMs timestamp_ms = ReadTimestamp(stored);
  if (timestamp_ms < 0) return std::nullopt;
  return EntryView{timestamp_ms, stored.substr(kTimestampBytes)};
}

// Bytes of the length before the payload of a list element.
inline constexpr std::size_t kListLengthBytes = sizeof(std::uint32_t);

// Bytes before the payload of a list element that has a timestamp.
inline constexpr std::size_t kListElementHeaderBytes =
    kTimestampBytes + kListLengthBytes;

// Largest payload of one list element.
inline constexpr std::size_t kListElementBytesMax = UINT32_MAX;

namespace serde_internal {

inline void AppendListLength(std::uint32_t length, std::string& out) {
  AppendInOrder(std::endian::little, length, out);
}

inline std::uint32_t ReadListLength(std::string_view bytes) {
  return ReadInOrder<std::uint32_t>(std::endian::little, bytes);
}

}  // namespace serde_internal

// Walks the elements of a stored list without calling a serializer and without
// reading past its end.
//
//   ListReader reader(stored);
//   while (auto element = reader.Next()) Use(*element);
//   if (reader.malformed()) ...
//
// Threads: one.  Lifetime: views point into the bytes given.
class ListReader {
 public:
  explicit ListReader(std::string_view stored,
                      EntryFormat format = EntryFormat::kStamped)
      : rest_(stored), stamped_(format == EntryFormat::kStamped) {}

  // The next element; nullopt at the end, and for ever once malformed() holds.
  std::optional<EntryView> Next() {
    if (rest_.empty() || malformed_) return std::nullopt;
    const std::size_t stamp_bytes = stamped_ ? kTimestampBytes : 0;
    const std::size_t header_bytes = stamp_bytes + kListLengthBytes;
    if (rest_.size() < header_bytes) return Fail();
    const TimestampMs timestamp_ms =
        stamped_ ? ReadTimestamp(rest_) : kNeverExpires;
    const std::uint32_t length =
        serde_internal::ReadListLength(rest_.substr(stamp_bytes));
    if (timestamp_ms < 0 || length > rest_.size() - header_bytes) {
      return Fail();
    }
    const EntryView element{timestamp_ms, rest_.substr(header_bytes, length)};
    rest_.remove_prefix(header_bytes + length);
    return element;
  }

  // True if the bytes seen so far break the framing or hold a negative
  // timestamp.
  bool malformed() const { return malformed_; }

  // Bytes not yet walked; the malformed element is among them.
  std::string_view rest() const { return rest_; }

 private:
  std::optional<EntryView> Fail() {
    malformed_ = true;
    return std::nullopt;
  }

  std::string_view rest_;
  bool stamped_;
  bool malformed_ = false;
};

// Appends the header of one list element; its payload of `length` bytes
// follows.
inline void AppendListElementHeader(TimestampMs timestamp_ms,
                                    std::uint32_t length, std::string& out) {
  AppendTimestamp(timestamp_ms, out);
  serde_internal::AppendListLength(length, out);
}

// Appends one whole list element.
// Range: at most kListElementBytesMax bytes of payload; more aborts.
inline void AppendListElement(TimestampMs timestamp_ms,
                              std::string_view payload, std::string& out) {
  MAYFLY_CHECK(payload.size() <= kListElementBytesMax);
  AppendListElementHeader(timestamp_ms,
                          static_cast<std::uint32_t>(payload.size()), out);
  out.append(payload);
}

// Appends one whole element of a list stored without timestamps.
// Range: as above.
inline void AppendUnstampedListElement(std::string_view payload,
                                       std::string& out) {
  MAYFLY_CHECK(payload.size() <= kListElementBytesMax);
  serde_internal::AppendListLength(static_cast<std::uint32_t>(payload.size()),
                                   out);
  out.append(payload);
}

}  // namespace mayfly
