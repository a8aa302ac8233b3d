// Which values the options may have, and which of them hold for a state.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/rocksdb_options.h"
#include "rocksdb/convenience.h"
#include "state/rocksdb_options.h"

namespace mayfly {
namespace {

using state_internal::ToRocksdb;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;
constexpr std::size_t kBytesMin = std::size_t{64} << 10;
constexpr std::size_t kBytesMax = std::size_t{4} << 30;

bool IsSupported(Compression compression) {
  const std::vector<rocksdb::CompressionType> supported =
      rocksdb::GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(),
                   ToRocksdb(compression)) != supported.end();
}

template <typename Value>
absl::Status OutOfRange(const std::string& field, const Value& value,
                        const char* range) {
  return absl::InvalidArgumentError(
      absl::StrCat("RocksdbOptions.", field, " is ", value, "; give ", range));
}

absl::Status CheckBytes(const std::string& field,
                        const std::optional<std::size_t>& bytes) {
  if (!bytes || (*bytes >= kBytesMin && *bytes <= kBytesMax)) {
    return absl::OkStatus();
  }
  return OutOfRange(field, absl::StrCat(*bytes, " bytes"), "64 KiB to 4 GiB");
}

absl::Status CheckTrigger(const std::string& field,
                          const DeletionTrigger& trigger) {
  constexpr std::size_t kWindowMax = 1'000'000;
  if (trigger.window > kWindowMax) {
    return OutOfRange(field + ".window", trigger.window, "0 to 1,000,000");
  }
  const bool off = trigger.window == 0 && trigger.deletions == 0;
  if (off || (trigger.deletions >= 1 && trigger.deletions <= trigger.window)) {
    return absl::OkStatus();
  }
  return OutOfRange(field + ".deletions", trigger.deletions,
                    "1 to its window, or 0 for both to turn it off");
}

// `place` is the path to the struct in RocksdbOptions.
absl::Status CheckState(const std::string& place,
                        const RocksdbStateOptions& state) {
  if (state.compression && !IsSupported(*state.compression)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "RocksdbOptions.", place,
        ".compression names one that this RocksDB was built without; give "
        "another or leave it unset"));
  }
  if (state.bloom_bits_per_key) {
    const double bits = *state.bloom_bits_per_key;
    if (!(bits == 0 || (bits >= 1 && bits <= 40))) {
      return OutOfRange(place + ".bloom_bits_per_key", bits,
                        "0 for no filter, or 1 to 40");
    }
  }
  MAYFLY_RETURN_IF_ERROR(
      CheckBytes(place + ".write_buffer_bytes", state.write_buffer_bytes));
  MAYFLY_RETURN_IF_ERROR(CheckBytes(place + ".file_bytes", state.file_bytes));
  constexpr std::chrono::seconds kPeriodMax(
      std::numeric_limits<std::uint32_t>::max());
  if (state.periodic_compaction && (state.periodic_compaction->count() < 0 ||
                                    *state.periodic_compaction > kPeriodMax)) {
    return OutOfRange(place + ".periodic_compaction",
                      absl::StrCat(state.periodic_compaction->count(), " s"),
                      "0 to turn it off, up to 4294967295 s");
  }
  return state.deletion_trigger ? CheckTrigger(place + ".deletion_trigger",
                                               *state.deletion_trigger)
                                : absl::OkStatus();
}

}  // namespace

absl::Status Validate(const RocksdbOptions& options) {
  MAYFLY_RETURN_IF_ERROR(CheckState("all_states", options.all_states));
  for (const auto& [name, state] : options.states) {
    MAYFLY_RETURN_IF_ERROR(
        CheckState(absl::StrCat("states['", name, "']"), state));
  }
  if (options.background_jobs < 1 || options.background_jobs > 64) {
    return OutOfRange("background_jobs", options.background_jobs, "1 to 64");
  }
  if (options.open_files_max &&
      (*options.open_files_max < 20 || *options.open_files_max > 1'000'000)) {
    return OutOfRange("open_files_max", *options.open_files_max,
                      "20 to 1,000,000, or leave it unset");
  }
  constexpr std::chrono::seconds kPeriodMax = std::chrono::hours(365 * 24);
  if (options.obsolete_files_period < std::chrono::seconds(1) ||
      options.obsolete_files_period > kPeriodMax) {
    return OutOfRange("obsolete_files_period",
                      absl::StrCat(options.obsolete_files_period.count(), " s"),
                      "1 s to 365 days");
  }
  return absl::OkStatus();
}

namespace state_internal {

rocksdb::CompressionType ToRocksdb(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return rocksdb::kNoCompression;
    case Compression::kLz4:
      return rocksdb::kLZ4Compression;
    case Compression::kZstd:
      return rocksdb::kZSTD;
  }
  return rocksdb::kNoCompression;
}

RocksdbStateOptions OptionsOf(const std::string& state,
                              const RocksdbOptions& options) {
  static const RocksdbStateOptions kNone;
  const auto named = options.states.find(state);
  const RocksdbStateOptions& own =
      named == options.states.end() ? kNone : named->second;
  const RocksdbStateOptions& all = options.all_states;
  const auto choose = [](const auto& first, const auto& second,
                         const auto& fallback) {
    return first.value_or(second.value_or(fallback));
  };
  return {
      .compression =
          choose(own.compression, all.compression,
                 IsSupported(Compression::kLz4) ? Compression::kLz4
                                                : Compression::kNone),
      .bloom_bits_per_key =
          choose(own.bloom_bits_per_key, all.bloom_bits_per_key, 10.0),
      // Small enough that a put finds its place in few cache misses: with 16
      // MiB it takes about two thirds of the time that it takes with 64.
      .write_buffer_bytes = choose(own.write_buffer_bytes,
                                   all.write_buffer_bytes, 16 * kMebibyte),
      .file_bytes = choose(own.file_bytes, all.file_bytes, 32 * kMebibyte),
      .compaction_style = choose(own.compaction_style, all.compaction_style,
                                 CompactionStyle::kLevel),
      .deletion_trigger =
          choose(own.deletion_trigger, all.deletion_trigger, DeletionTrigger()),
      .periodic_compaction = own.periodic_compaction ? own.periodic_compaction
                                                     : all.periodic_compaction,
  };
}

}  // namespace state_internal
}  // namespace mayfly
