#include "mayfly/compaction/file_times.h"

#include <algorithm>

#include "mayfly/v1/file_times.pb.h"

namespace mayfly {
namespace {

// Whether the buckets hold the bytes of all entries but those that never
// expire, and no more bytes than there can be.
bool BucketsAddUp(const v1::FileTimesRecord& record) {
  constexpr auto kBytesMax =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t rest = record.bytes();
  if (rest > kBytesMax || record.never_bytes() > rest) return false;
  rest -= record.never_bytes();
  for (const std::uint64_t bytes : record.bucket_bytes()) {
    if (bytes > rest) return false;
    rest -= bytes;
  }
  return rest == 0;
}

}  // namespace

void FileTimes::AddOutside(TimestampMs last_access_ms, std::uint64_t bytes) {
  if (last_access_ms == kNeverExpires) {
    never_bytes_ += bytes;
    return;
  }
  if (first_bucket_ == kNoBucket) first_bucket_ = last_access_ms >> shift_;
  // The span from the first bucket in use, or this one, to the last.
  std::int64_t low = first_bucket_;
  std::int64_t high = first_bucket_;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (bucket_bytes_[i] > 0) {
      high = first_bucket_ + static_cast<std::int64_t>(i);
    }
  }
  const std::int64_t bucket = last_access_ms >> shift_;
  low = std::min(low, bucket);
  high = std::max(high, bucket);
  int more = 0;
  while ((high >> more) - (low >> more) >=
         static_cast<std::int64_t>(kBuckets)) {
    ++more;
  }
  Rebucket(shift_ + more, low >> more);
  bucket_bytes_[static_cast<std::size_t>((last_access_ms >> shift_) -
                                         first_bucket_)] += bytes;
}

void FileTimes::Remove(TimestampMs last_access_ms, std::uint64_t bytes) {
  --entries_;
  bytes_ -= bytes;
  if (last_access_ms == kNeverExpires) {
    --never_entries_;
    never_bytes_ -= bytes;
    return;
  }
  bucket_bytes_[static_cast<std::size_t>((last_access_ms >> shift_) -
                                         first_bucket_)] -= bytes;
}

void FileTimes::Rebucket(int shift, std::int64_t first_bucket) {
  std::array<std::uint64_t, kBuckets> spread = {};
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (bucket_bytes_[i] == 0) continue;
    const std::int64_t bucket =
        (first_bucket_ + static_cast<std::int64_t>(i)) >> (shift - shift_);
    spread[static_cast<std::size_t>(bucket - first_bucket)] += bucket_bytes_[i];
  }
  bucket_bytes_ = spread;
  shift_ = shift;
  first_bucket_ = first_bucket;
}

void FileTimes::Merge(const FileTimes& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const std::uint64_t bytes = other.bucket_bytes_[i];
    if (bytes == 0) continue;
    const TimestampMs start_ms =
        (other.first_bucket_ + static_cast<std::int64_t>(i)) << other.shift_;
    AddOutside(start_ms, bytes);
  }
  extremes_.oldest_ms =
      std::min(extremes_.oldest_ms, other.extremes_.oldest_ms);
  extremes_.newest_ms =
      std::max(extremes_.newest_ms, other.extremes_.newest_ms);
  entries_ += other.entries_;
  bytes_ += other.bytes_;
  never_entries_ += other.never_entries_;
  never_bytes_ += other.never_bytes_;
  malformed_records_ += other.malformed_records_;
}

std::optional<TimestampMs> FileTimes::oldest_ms() const {
  if (entries_ == 0) return std::nullopt;
  return extremes_.oldest_ms;
}

std::optional<TimestampMs> FileTimes::newest_ms() const {
  if (entries_ == 0) return std::nullopt;
  return extremes_.newest_ms;
}

std::uint64_t FileTimes::BytesThrough(TimestampMs through_ms) const {
  if (entries_ == 0 || through_ms < extremes_.oldest_ms) return 0;
  if (through_ms >= extremes_.newest_ms) return bytes_;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const TimestampMs start_ms = (first_bucket_ + static_cast<std::int64_t>(i))
                                 << shift_;
    const TimestampMs width_ms = TimestampMs{1} << shift_;
    if (bucket_bytes_[i] == 0 || start_ms > through_ms) continue;
    // As if spread evenly over the bucket.
    const double share =
        std::min(1.0, static_cast<double>(through_ms - start_ms + 1) /
                          static_cast<double>(width_ms));
    bytes += static_cast<std::uint64_t>(static_cast<double>(bucket_bytes_[i]) *
                                        share);
  }
  return std::min(bytes, bytes_);
}

std::string FileTimes::Serialize() const {
  v1::FileTimesRecord record;
  if (entries_ > 0) {
    record.set_oldest_ms(extremes_.oldest_ms);
    record.set_newest_ms(extremes_.newest_ms);
  }
  record.set_entries(entries_);
  record.set_bytes(bytes_);
  record.set_never_entries(never_entries_);
  record.set_never_bytes(never_bytes_);
  record.set_malformed_records(malformed_records_);
  if (first_bucket_ != kNoBucket) {
    record.set_bucket_shift(static_cast<std::uint32_t>(shift_));
    record.set_first_bucket(first_bucket_);
    for (const std::uint64_t bytes : bucket_bytes_) {
      record.add_bucket_bytes(bytes);
    }
  }
  return record.SerializeAsString();
}

std::optional<FileTimes> FileTimes::Parse(std::string_view bytes) {
  v1::FileTimesRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return std::nullopt;
  }
  FileTimes times;
  times.entries_ = record.entries();
  times.bytes_ = record.bytes();
  times.never_entries_ = record.never_entries();
  times.never_bytes_ = record.never_bytes();
  times.malformed_records_ = record.malformed_records();
  if (record.entries() > 0) {
    // Whoever drops a file goes by the newest one, so it must be there.
    if (!record.has_oldest_ms() || !record.has_newest_ms() ||
        record.oldest_ms() < 0 || record.newest_ms() < record.oldest_ms()) {
      return std::nullopt;
    }
    times.extremes_.oldest_ms = record.oldest_ms();
    times.extremes_.newest_ms = record.newest_ms();
  }
  if (!BucketsAddUp(record)) return std::nullopt;
  if (record.bucket_bytes_size() == 0) return times;
  constexpr std::uint32_t kShiftMax = 62;
  if (record.bucket_bytes_size() != static_cast<int>(kBuckets) ||
      record.bucket_shift() < kShiftMin || record.bucket_shift() > kShiftMax ||
      record.first_bucket() < 0 ||
      record.first_bucket() > (kNeverExpires >> record.bucket_shift())) {
    return std::nullopt;
  }
  // Nothing is accessed after the end of time.
  const std::int64_t last_bucket = kNeverExpires >> record.bucket_shift();
  for (int i = 0; i < record.bucket_bytes_size(); ++i) {
    if (record.bucket_bytes(i) > 0 && i > last_bucket - record.first_bucket()) {
      return std::nullopt;
    }
  }
  times.shift_ = static_cast<int>(record.bucket_shift());
  times.first_bucket_ = record.first_bucket();
  std::copy(record.bucket_bytes().begin(), record.bucket_bytes().end(),
            times.bucket_bytes_.begin());
  return times;
}

}  // namespace mayfly
