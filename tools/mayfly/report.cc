#include "mayfly/report.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace mayfly::tool {
namespace {

using nlohmann::json;

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString({bytes.data(), bytes.size()});
}

// Serialised bytes: as text if they are printable, and in hex.
std::string Readable(std::string_view bytes) {
  const bool printable =
      !bytes.empty() &&
      std::ranges::all_of(bytes, [](char c) { return c >= 0x20 && c < 0x7f; });
  return printable ? absl::StrCat("'", std::string(bytes), "'")
                   : absl::StrCat("0x", Hex(bytes));
}

std::string TimeText(TimestampMs time_ms) {
  if (time_ms == kNeverExpires) return "never";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(time_ms),
                          absl::UTCTimeZone());
}

std::string DurationText(std::int64_t ms) {
  return ms == kInfiniteTtlMs ? "infinite"
                              : absl::FormatDuration(absl::Milliseconds(ms));
}

std::string TtlText(const InspectedState& state) {
  if (!state.ttl_ms) return "none";
  return absl::StrCat(
      DurationText(*state.ttl_ms),
      state.time_characteristic == TimeCharacteristic::kEventTime
          ? " of event time"
          : "");
}

std::string EventTimeText(const InspectedShard& shard) {
  return shard.event_clock_ms == 0
             ? "no event time"
             : absl::StrCat("event time ", TimeText(shard.event_clock_ms));
}

// The clock by which the entries of a state were stamped.
TimestampMs ClockOf(const InspectedShard& shard, const InspectedState& state) {
  return state.time_characteristic == TimeCharacteristic::kEventTime
             ? shard.event_clock_ms
             : shard.processing_clock_ms;
}

std::string StampsText(const InspectedState& state, TimestampMs clock_ms) {
  if (!state.oldest_ms) return "";
  std::string text =
      absl::StrCat("    stamped from ", TimeText(*state.oldest_ms), " to ",
                   TimeText(*state.newest_ms), "\n");
  if (*state.newest_ms > clock_ms) {
    absl::StrAppend(&text,
                    "      (later than the commit: writes with a TTL of their "
                    "own, or a clock that was ahead)\n");
  }
  return text;
}

std::string StateText(const InspectedState& state, TimestampMs clock_ms,
                      const InspectOptions& options) {
  std::string text = absl::StrFormat(
      "  %s: %s, key %s, %svalue %s, TTL %s\n", state.name, state.kind,
      state.key_serializer,
      state.map_key_serializer.empty()
          ? ""
          : absl::StrCat("map key ", state.map_key_serializer, ", "),
      state.value_serializer, TtlText(state));
  absl::StrAppendFormat(
      &text, "    %d keys, %d entries live, %d expired; %d bytes, %d expired\n",
      state.keys, state.live_entries, state.expired_entries, state.bytes,
      state.expired_bytes);
  if (state.unreadable > 0) {
    absl::StrAppendFormat(&text, "    %d keys CANNOT BE READ\n",
                          state.unreadable);
  }
  absl::StrAppend(&text, StampsText(state, clock_ms));
  for (std::size_t i = 0; i < state.expired_in.size(); ++i) {
    absl::StrAppend(&text, "    ", state.expired_in[i],
                    " bytes will have expired in ",
                    DurationText(options.expired_in[i].count()), "\n");
  }
  return text;
}

std::string EntryText(const InspectedEntry& entry) {
  std::string text = "  ";
  if (!entry.map_key.empty()) {
    absl::StrAppend(&text, Readable(entry.map_key), ": ");
  }
  absl::StrAppend(&text, Readable(entry.value));
  if (entry.timestamp_ms) {
    absl::StrAppend(&text, "  stamped ", TimeText(*entry.timestamp_ms),
                    ", expires ", TimeText(*entry.expires_ms),
                    entry.expired ? ", expired" : "");
  }
  return text + "\n";
}

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json ToJson(const InspectedState& state, const InspectOptions& options) {
  json later = json::array();
  for (std::size_t i = 0; i < state.expired_in.size(); ++i) {
    later.push_back({{"in_ms", options.expired_in[i].count()},
                     {"bytes", state.expired_in[i]}});
  }
  return {{"name", state.name},
          {"kind", state.kind},
          {"key_serializer", state.key_serializer},
          {"map_key_serializer", state.map_key_serializer.empty()
                                     ? json()
                                     : json(state.map_key_serializer)},
          {"value_serializer", state.value_serializer},
          {"ttl_ms", OrNull(state.ttl_ms)},
          {"event_time",
           state.time_characteristic == TimeCharacteristic::kEventTime},
          {"keys", state.keys},
          {"live_entries", state.live_entries},
          {"expired_entries", state.expired_entries},
          {"unreadable_keys", state.unreadable},
          {"bytes", state.bytes},
          {"expired_bytes", state.expired_bytes},
          {"oldest_ms", OrNull(state.oldest_ms)},
          {"newest_ms", OrNull(state.newest_ms)},
          {"expired_in", later}};
}

}  // namespace

std::string TextOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options) {
  std::string text;
  for (const InspectedShard& shard : shards) {
    absl::StrAppendFormat(&text, "%s: %s, commit %d at %s, %s\n", shard.path,
                          shard.backend, shard.commit,
                          TimeText(shard.processing_clock_ms),
                          EventTimeText(shard));
    if (shard.states.empty()) absl::StrAppend(&text, "  no states\n");
    for (const InspectedState& state : shard.states) {
      absl::StrAppend(&text, StateText(state, ClockOf(shard, state), options));
    }
  }
  return text;
}

std::string TextOf(const std::vector<FoundEntries>& found) {
  std::string text;
  for (const auto& [shard, entries] : found) {
    if (!entries.empty()) absl::StrAppend(&text, shard, ":\n");
    for (const InspectedEntry& entry : entries) {
      absl::StrAppend(&text, EntryText(entry));
    }
  }
  return text.empty() ? "nothing is stored under this key\n" : text;
}

std::string JsonOf(const std::vector<InspectedShard>& shards,
                   const InspectOptions& options) {
  json all = json::array();
  for (const InspectedShard& shard : shards) {
    json states = json::array();
    for (const InspectedState& state : shard.states) {
      states.push_back(ToJson(state, options));
    }
    all.push_back(
        {{"path", shard.path},
         {"backend", shard.backend},
         {"commit", shard.commit},
         {"processing_clock_ms", shard.processing_clock_ms},
         {"event_clock_ms",
          shard.event_clock_ms == 0 ? json() : json(shard.event_clock_ms)},
         {"position_hex", Hex(shard.position)},
         {"states", states}});
  }
  return Dump({{"shards", all}});
}

std::string JsonOf(const std::vector<FoundEntries>& found) {
  json all = json::array();
  for (const auto& [shard, entries] : found) {
    for (const InspectedEntry& entry : entries) {
      all.push_back({{"shard", shard},
                     {"map_key_hex", Hex(entry.map_key)},
                     {"value_hex", Hex(entry.value)},
                     {"timestamp_ms", OrNull(entry.timestamp_ms)},
                     {"expires_ms", OrNull(entry.expires_ms)},
                     {"expired", entry.expired}});
    }
  }
  return Dump({{"entries", all}});
}

std::string Dump(const nlohmann::json& value) {
  return value.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false,
                    json::error_handler_t::replace) +
         "\n";
}

}  // namespace mayfly::tool
