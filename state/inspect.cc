#include "mayfly/state/inspect.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/compaction/file_times.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/serde/status_macros.h"
#include "state/shard_record.h"
#include "state/state_registry.h"
#include "state/stored_entries.h"
#include "state/stored_shard.h"

namespace mayfly {
namespace {

using state_internal::ClockOf;
using state_internal::FormatOf;
using state_internal::IsInEventTime;
using state_internal::RuleOf;
using state_internal::StoredShard;
using state_internal::VisitStoredEntries;

std::string ToString(const v1::SerializerIdentity& identity) {
  return absl::StrCat(identity.name(), "@", identity.version());
}

TimestampMs NowOf(const v1::StateRecord& state, const v1::CommitRecord& commit,
                  const InspectOptions& options) {
  const TimestampMs clock_ms = ClockOf(state, commit);
  return IsInEventTime(state)
             ? clock_ms
             : std::max(clock_ms, options.processing_now_ms.value_or(0));
}

// Calls `visit(entry, bytes)` for each entry of a stored key; false if not all
// of it can be read.
template <typename Visit>
bool VisitEntries(const v1::StateRecord& state, std::string_view key,
                  std::string_view value, Visit visit) {
  return VisitStoredEntries(state.kind() == v1::STATE_KIND_LIST,
                            FormatOf(state), key, value, visit);
}

bool KeyIsReadable(const v1::StateRecord& state, std::string_view key) {
  return state.kind() != v1::STATE_KIND_MAP || DecodeMapKey(key).has_value();
}

InspectedState Describe(const v1::StateRecord& record) {
  InspectedState state;
  state.name = record.name();
  state.kind = state_internal::KindName(record.kind());
  state.key_serializer = ToString(record.key_serializer());
  state.value_serializer = ToString(record.value_serializer());
  if (record.has_map_key_serializer()) {
    state.map_key_serializer = ToString(record.map_key_serializer());
  }
  if (!record.has_ttl()) return state;
  state.ttl_ms = record.ttl().ttl_ms();
  if (IsInEventTime(record)) {
    state.time_characteristic = TimeCharacteristic::kEventTime;
  }
  return state;
}

InspectedShard WithoutStates(const StoredShard& shard) {
  const v1::CommitRecord& commit = shard.commit();
  return {.path = shard.path(),
          .backend = std::string(
              state_internal::BackendName(shard.record().backend())),
          .commit = commit.sequence(),
          .processing_clock_ms = commit.processing_clock_ms(),
          .event_clock_ms = commit.event_clock_ms(),
          .position = commit.position(),
          .states = {}};
}

absl::StatusOr<InspectedState> InspectState(const StoredShard& shard, int index,
                                            const InspectOptions& options) {
  const v1::StateRecord& record = shard.record().states(index);
  const ExpiryRule rule = RuleOf(record);
  const TimestampMs now_ms = NowOf(record, shard.commit(), options);
  InspectedState state = Describe(record);
  FileTimes times;
  const auto count = [&](std::string_view key, std::string_view value) {
    ++state.keys;
    state.bytes += key.size() + value.size();
    const bool readable =
        KeyIsReadable(record, key) &&
        VisitEntries(
            record, key, value, [&](const EntryView& entry, std::size_t bytes) {
              const bool expired = record.has_ttl() &&
                                   rule.IsExpired(entry.timestamp_ms, now_ms);
              ++(expired ? state.expired_entries : state.live_entries);
              if (expired) state.expired_bytes += bytes;
              if (record.has_ttl()) times.Add(entry.timestamp_ms, bytes);
            });
    if (!readable) ++state.unreadable;
    return absl::OkStatus();
  };
  MAYFLY_RETURN_IF_ERROR(shard.Visit(static_cast<std::uint32_t>(index), count));
  if (!record.has_ttl()) return state;
  state.oldest_ms = times.oldest_ms();
  state.newest_ms = times.newest_ms();
  for (const std::chrono::milliseconds later : options.expired_in) {
    state.expired_in.push_back(times.BytesThrough(
        rule.ExpiredThrough(SaturatingAdd(now_ms, later.count()))));
  }
  return state;
}

}  // namespace

absl::StatusOr<InspectedShard> InspectCommit(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const auto shard, StoredShard::Open(path));
  return WithoutStates(*shard);
}

absl::StatusOr<InspectedShard> InspectShard(const std::string& path,
                                            const InspectOptions& options) {
  MAYFLY_ASSIGN_OR_RETURN(const auto shard, StoredShard::Open(path));
  InspectedShard inspected = WithoutStates(*shard);
  for (int i = 0; i < shard->record().states_size(); ++i) {
    MAYFLY_ASSIGN_OR_RETURN(inspected.states.emplace_back(),
                            InspectState(*shard, i, options));
  }
  return inspected;
}

absl::StatusOr<std::vector<InspectedEntry>> InspectKey(
    const std::string& path, std::string_view state, std::string_view key,
    const InspectOptions& options) {
  MAYFLY_ASSIGN_OR_RETURN(const auto shard, StoredShard::Open(path));
  const auto& states = shard->record().states();
  const auto record = std::ranges::find(states, state, &v1::StateRecord::name);
  if (record == states.end()) {
    return absl::NotFoundError(
        absl::StrCat("'", path, "' has no state '", ToAbsl(state), "'"));
  }
  const ExpiryRule rule = RuleOf(*record);
  const TimestampMs now_ms = NowOf(*record, shard->commit(), options);
  std::vector<InspectedEntry> entries;
  const auto add = [&](std::string_view stored_key, std::string_view value) {
    MapKeyView parts{.key = stored_key, .map_key = {}};
    if (record->kind() == v1::STATE_KIND_MAP) {
      parts = DecodeMapKey(stored_key).value_or(parts);
    }
    if (parts.key != key) return absl::OkStatus();
    VisitEntries(*record, stored_key, value,
                 [&](const EntryView& entry, std::size_t) {
                   InspectedEntry& found = entries.emplace_back();
                   found.map_key = parts.map_key;
                   found.value = entry.bytes;
                   if (!record->has_ttl()) return;
                   found.timestamp_ms = entry.timestamp_ms;
                   found.expires_ms = rule.ExpiryTime(entry.timestamp_ms);
                   found.expired = rule.IsExpired(entry.timestamp_ms, now_ms);
                 });
    return absl::OkStatus();
  };
  MAYFLY_RETURN_IF_ERROR(
      shard->Visit(static_cast<std::uint32_t>(record - states.begin()), add));
  return entries;
}

absl::Status VerifyShard(const std::string& path) {
  MAYFLY_ASSIGN_OR_RETURN(const auto shard, StoredShard::Open(path));
  MAYFLY_RETURN_IF_ERROR(shard->Verify());
  for (int i = 0; i < shard->record().states_size(); ++i) {
    MAYFLY_ASSIGN_OR_RETURN(const InspectedState state,
                            InspectState(*shard, i, {}));
    if (state.unreadable == 0) continue;
    return absl::DataLossError(
        absl::StrCat("'", path, "': ", state.unreadable, " of ", state.keys,
                     " entries of state '", state.name, "' cannot be read"));
  }
  return absl::OkStatus();
}

}  // namespace mayfly
