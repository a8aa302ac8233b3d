// Looking into a shard's stored state without the program that wrote it: a
// directory, a checkpoint of one, or the file of a savepoint. Nothing is
// changed, and no types need to be known.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/ttl_config.h"

namespace mayfly {

struct InspectOptions {
  // What has expired is told by this time, or by the shard's own clock if that
  // is ahead; nullopt: by the shard's clock. Event time is always the shard's.
  std::optional<TimestampMs> processing_now_ms = std::nullopt;
  // How much will have expired so much later: InspectedState::expired_in.
  std::vector<std::chrono::milliseconds> expired_in = {};
};

// Keys are those of the store: of values, lists and accumulators, and map
// entries. Entries are values, accumulators, list elements and map entries.
struct InspectedState {
  std::string name;
  // value, list, map, reducing or aggregating.
  std::string kind;
  // As `name@version`; the map key's is empty but for maps.
  std::string key_serializer;
  std::string map_key_serializer;
  std::string value_serializer;
  // nullopt: no TTL.  Unit: milliseconds; kInfiniteTtlMs is infinite.
  std::optional<std::int64_t> ttl_ms;
  TimeCharacteristic time_characteristic = TimeCharacteristic::kProcessingTime;

  std::uint64_t keys = 0;
  std::uint64_t live_entries = 0;
  std::uint64_t expired_entries = 0;
  // Keys of which the value cannot be read.
  std::uint64_t unreadable = 0;
  // Of keys and values as they are stored, with timestamps and framing, before
  // compression; and what of it has expired. The key of a list goes with its
  // newest element.
  std::uint64_t bytes = 0;
  std::uint64_t expired_bytes = 0;
  // The timestamps of the oldest and the newest entry; nullopt without TTL or
  // entries. A timestamp is the time of last access; of a write with a TTL of
  // its own, the one under which the entry expires as it was told to, which may
  // be in the future.
  std::optional<TimestampMs> oldest_ms;
  std::optional<TimestampMs> newest_ms;
  // What of `bytes` will have expired, for each of InspectOptions::expired_in:
  // an estimate unless it is nothing or all.
  std::vector<std::uint64_t> expired_in;
};

struct InspectedShard {
  std::string path;
  // heap or rocksdb: what it was written by.
  std::string backend;
  std::uint64_t commit = 0;
  TimestampMs processing_clock_ms = 0;
  // 0 if there has been no event time.
  TimestampMs event_clock_ms = 0;
  // Opaque: of whoever committed.
  std::string position;
  std::vector<InspectedState> states;
};

// Counts everything, which reads everything.
// Errors: kNotFound, kInvalidArgument, kFailedPrecondition and kDataLoss for
// what is not a committed shard, as RestoreShard(); kUnavailable as the disk
// has it, and if a job at work takes away a file that is being read: try again,
// or inspect a checkpoint.
absl::StatusOr<InspectedShard> InspectShard(const std::string& path,
                                            const InspectOptions& options = {});

// The same without the states, which takes next to nothing: what the shard is,
// and where its last commit stands.
// Errors: as above.
absl::StatusOr<InspectedShard> InspectCommit(const std::string& path);

struct InspectedEntry {
  std::string map_key;  // Serialised; of maps only.
  // As InspectedState has it; nullopt without TTL.
  std::optional<TimestampMs> timestamp_ms;
  // When its TTL ends; kNeverExpires if never, nullopt without TTL.
  std::optional<TimestampMs> expires_ms;
  bool expired = false;
  std::string value;  // Serialised.
};

// The entries of one key, given in its serialised form.
// Errors: as InspectShard(); kNotFound if there is no such state.
absl::StatusOr<std::vector<InspectedEntry>> InspectKey(
    const std::string& path, std::string_view state, std::string_view key,
    const InspectOptions& options = {});

// Reads all of it and checks what there is to check: checksums, framing,
// counts, and that each entry can be read.
// Errors: kDataLoss naming what is damaged; as InspectShard().
absl::Status VerifyShard(const std::string& path);

}  // namespace mayfly
