// When the entries of a table file were last accessed, and so what expires
// when, under whatever TTL.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "mayfly/serde/timestamp.h"

namespace mayfly {

// Exact extremes and counts, and a histogram of bytes whose buckets grow with
// the span of time that they have to cover.
// Threads: a plain value.
class FileTimes {
 public:
  static constexpr std::size_t kBuckets = 64;

  struct Extremes {
    TimestampMs oldest_ms = std::numeric_limits<std::int64_t>::max();
    TimestampMs newest_ms = std::numeric_limits<std::int64_t>::min();

    friend bool operator==(const Extremes&, const Extremes&) = default;
  };

  // An entry that takes so many bytes. Costs a few instructions.
  // Range: a timestamp of 0 or more.
  void Add(TimestampMs last_access_ms, std::uint64_t bytes) {
    ++entries_;
    extremes_.oldest_ms = std::min(extremes_.oldest_ms, last_access_ms);
    extremes_.newest_ms = std::max(extremes_.newest_ms, last_access_ms);
    if (last_access_ms == kNeverExpires) [[unlikely]]
      ++never_entries_;
    AddBytes(last_access_ms, bytes);
  }

  // Bytes that go with an entry that was added.
  void AddBytes(TimestampMs last_access_ms, std::uint64_t bytes) {
    bytes_ += bytes;
    const std::uint64_t bucket =
        static_cast<std::uint64_t>((last_access_ms >> shift_) - first_bucket_);
    if (bucket >= kBuckets || last_access_ms == kNeverExpires) [[unlikely]] {
      return AddOutside(last_access_ms, bytes);
    }
    bucket_bytes_[bucket] += bytes;
  }

  // Takes back an entry that was added, but for what it did to the extremes:
  // who may have to take entries back notes those before.
  void Remove(TimestampMs last_access_ms, std::uint64_t bytes);
  const Extremes& extremes() const { return extremes_; }
  void set_extremes(const Extremes& extremes) { extremes_ = extremes; }

  // A record that cannot be read.
  void AddMalformed() { ++malformed_records_; }

  // All of another file.
  void Merge(const FileTimes& other);

  // Of the first and the last one; nullopt if there is no entry.
  std::optional<TimestampMs> oldest_ms() const;
  std::optional<TimestampMs> newest_ms() const;

  std::uint64_t entries() const { return entries_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t never_entries() const { return never_entries_; }
  std::uint64_t never_bytes() const { return never_bytes_; }
  std::uint64_t malformed_records() const { return malformed_records_; }

  // About how many bytes are in entries last accessed at or before an instant:
  // exact at the edges of the buckets, and at the extremes.
  std::uint64_t BytesThrough(TimestampMs through_ms) const;

  // Whether every entry was last accessed at or before an instant, and every
  // record can be read. True if there is no entry.
  bool AllThrough(TimestampMs through_ms) const {
    return malformed_records_ == 0 && extremes_.newest_ms <= through_ms;
  }

  // The stored form: FileTimesRecord.
  std::string Serialize() const;

  // nullopt if the bytes are not such a form.
  static std::optional<FileTimes> Parse(std::string_view bytes);

  friend bool operator==(const FileTimes&, const FileTimes&) = default;

 private:
  // Makes room in the histogram for an instant outside of it, and adds there;
  // what never expires is not in it.
  void AddOutside(TimestampMs last_access_ms, std::uint64_t bytes);
  // Spreads the buckets anew.
  void Rebucket(int shift, std::int64_t first_bucket);

  // Of a bucket, as a power of two: about a second at first.
  static constexpr int kShiftMin = 10;
  static constexpr std::int64_t kNoBucket =
      -static_cast<std::int64_t>(kBuckets);

  Extremes extremes_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t never_entries_ = 0;
  std::uint64_t never_bytes_ = 0;
  std::uint64_t malformed_records_ = 0;
  int shift_ = kShiftMin;
  // Bucket i begins at (first_bucket_ + i) << shift_; before the first entry,
  // all of them lie before any.
  std::int64_t first_bucket_ = kNoBucket;
  std::array<std::uint64_t, kBuckets> bucket_bytes_ = {};
};

}  // namespace mayfly
