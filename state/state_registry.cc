#include "state/state_registry.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::state_internal {
namespace {

constexpr TimestampMs kNothingExpired =
    std::numeric_limits<std::int64_t>::min();

// Refuses to give a program a state that is stored as something else.
class Refusal {
 public:
  Refusal(const StateSpec& asked, std::string_view directory)
      : asked_(asked), directory_(directory) {}

  // `way_out` is one that there is beside starting as before, or anew.
  absl::Status operator()(absl::string_view what, absl::string_view stored,
                          absl::string_view wanted,
                          absl::string_view way_out = "") const {
    return absl::FailedPreconditionError(absl::StrCat(
        "StateMigration: state '", asked_.name, "' is stored with ", what,
        what.empty() ? "" : " ", stored, " and asked for with ", wanted,
        "; nothing in '", ToAbsl(directory_), "' was changed: ", way_out,
        way_out.empty() ? "" : ", or ",
        "start with the old setting, or with an empty state directory"));
  }

 private:
  const StateSpec& asked_;
  const std::string_view directory_;
};

absl::string_view TimeName(v1::TimeCharacteristic time) {
  return time == v1::TIME_CHARACTERISTIC_EVENT ? "event time"
                                               : "processing time";
}

void SetIdentity(const SerializerIdentity& identity,
                 v1::SerializerIdentity* record) {
  record->set_name(identity.name);
  record->set_version(identity.version);
}

std::string ToString(const v1::SerializerIdentity& identity) {
  return SerializerIdentity{identity.name(), identity.version()}.ToString();
}

bool Same(const v1::SerializerIdentity& a, const v1::SerializerIdentity& b) {
  return a.name() == b.name() && a.version() == b.version();
}

// Keys cannot be rewritten: other bytes would be other keys, on other shards.
absl::Status CheckKeySerializer(const Refusal& refuse, absl::string_view what,
                                const v1::SerializerIdentity& stored,
                                const v1::SerializerIdentity& wanted) {
  if (Same(stored, wanted)) return absl::OkStatus();
  return refuse(what, ToString(stored), ToString(wanted),
                stored.name() == wanted.name()
                    ? "keep the bytes of keys as they are, since others would "
                      "be other keys"
                    : "");
}

absl::Status CheckValueSerializer(const Refusal& refuse,
                                  const StateMigration& migration,
                                  const v1::SerializerIdentity& stored,
                                  const v1::SerializerIdentity& wanted) {
  if (Same(stored, wanted)) return absl::OkStatus();
  std::string way_out;
  if (stored.name() == wanted.name()) {
    const bool is_older = stored.version() < wanted.version();
    if (is_older && migration.reserialize != nullptr &&
        stored.version() >= migration.oldest_version) {
      return absl::OkStatus();
    }
    way_out = is_older ? absl::StrCat(
                             "give the serializer a DeserializeVersion() that "
                             "reads version ",
                             stored.version())
                       : "start with the newer program that wrote it";
  }
  return refuse("the value serializer", ToString(stored), ToString(wanted),
                way_out);
}

absl::Status CheckTtl(const Refusal& refuse, const StateMigration& migration,
                      const v1::StateRecord& stored,
                      const v1::StateRecord& wanted) {
  if (stored.has_ttl() != wanted.has_ttl()) {
    if (migration.ttl_allowed) return absl::OkStatus();
    return refuse("", stored.has_ttl() ? "a TTL" : "no TTL",
                  wanted.has_ttl() ? "a TTL" : "no TTL",
                  "call AllowTtlMigration() on its descriptor to have it "
                  "rewritten");
  }
  const auto time = [](const v1::StateRecord& state) {
    return state.ttl().time_characteristic();
  };
  if (!stored.has_ttl() || time(stored) == time(wanted)) {
    return absl::OkStatus();
  }
  return refuse("timestamps in", TimeName(time(stored)),
                TimeName(time(wanted)));
}

// The latest instant t such that an entry last accessed at t had expired under
// the stored TTL when the last commit was made.
TimestampMs ExpiredThrough(const v1::StateRecord& stored,
                           const v1::CommitRecord& commit) {
  const v1::TtlRecord& ttl = stored.ttl();
  if (ttl.ttl_ms() == kInfiniteTtlMs) return ttl.expired_through_ms();
  return std::max(ttl.expired_through_ms(),
                  SaturatingAdd(ClockOf(stored, commit), -ttl.ttl_ms()));
}

}  // namespace

std::string_view KindName(v1::StateKind kind) {
  switch (kind) {
    case v1::STATE_KIND_VALUE:
      return "value";
    case v1::STATE_KIND_LIST:
      return "list";
    case v1::STATE_KIND_MAP:
      return "map";
    case v1::STATE_KIND_REDUCING:
      return "reducing";
    case v1::STATE_KIND_AGGREGATING:
      return "aggregating";
    default:
      return "an unknown kind";
  }
}

std::string StateSpec::ToString() const {
  std::string text = absl::StrCat(
      ToAbsl(KindName(static_cast<v1::StateKind>(kind))), " state, key ",
      key_serializer.ToString(), ", ",
      map_key_serializer
          ? absl::StrCat("map key ", map_key_serializer->ToString(), ", ")
          : "",
      "value ", value_serializer.ToString());
  if (!ttl) return absl::StrCat(text, ", no TTL");
  return absl::StrCat(text, ", ", ttl->ToString());
}

absl::Status CheckStateName(std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= 200 &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
               c == '_' || c == '-';
      });
  if (good && name != "default") return absl::OkStatus();
  // The same characters as in a Kafka topic's name, which changelogs will bear.
  return absl::InvalidArgumentError(absl::StrCat(
      "state name '", ToAbsl(name),
      "' must have 1 to 200 letters, digits, '.', '_' or '-', and not be "
      "'default', which RocksDB keeps for itself"));
}

v1::StateRecord NewRecord(const StateSpec& spec) {
  v1::StateRecord record;
  record.set_name(spec.name);
  record.set_kind(static_cast<v1::StateKind>(spec.kind));
  SetIdentity(spec.key_serializer, record.mutable_key_serializer());
  SetIdentity(spec.value_serializer, record.mutable_value_serializer());
  if (spec.map_key_serializer) {
    SetIdentity(*spec.map_key_serializer, record.mutable_map_key_serializer());
  }
  if (spec.ttl) {
    v1::TtlRecord* ttl = record.mutable_ttl();
    ttl->set_ttl_ms(spec.ttl->ttl_ms());
    ttl->set_cleanup_full_snapshot(spec.ttl->cleanup_full_snapshot());
    ttl->set_expired_through_ms(kNothingExpired);
    ttl->set_time_characteristic(spec.ttl->time_characteristic() ==
                                         TimeCharacteristic::kEventTime
                                     ? v1::TIME_CHARACTERISTIC_EVENT
                                     : v1::TIME_CHARACTERISTIC_PROCESSING);
  }
  return record;
}

absl::StatusOr<v1::StateRecord> Reconcile(const v1::StateRecord& stored,
                                          const StateSpec& asked,
                                          const v1::CommitRecord& commit,
                                          std::string_view directory) {
  const Refusal refuse(asked, directory);
  v1::StateRecord wanted = NewRecord(asked);
  wanted.set_column_family(stored.column_family());
  if (stored.kind() != wanted.kind()) {
    return refuse("the kind", ToAbsl(KindName(stored.kind())),
                  ToAbsl(KindName(wanted.kind())));
  }
  MAYFLY_RETURN_IF_ERROR(CheckKeySerializer(refuse, "the key serializer",
                                            stored.key_serializer(),
                                            wanted.key_serializer()));
  MAYFLY_RETURN_IF_ERROR(CheckKeySerializer(refuse, "the map key serializer",
                                            stored.map_key_serializer(),
                                            wanted.map_key_serializer()));
  MAYFLY_RETURN_IF_ERROR(CheckValueSerializer(refuse, asked.migration,
                                              stored.value_serializer(),
                                              wanted.value_serializer()));
  MAYFLY_RETURN_IF_ERROR(CheckTtl(refuse, asked.migration, stored, wanted));
  if (!stored.has_ttl() || !wanted.has_ttl()) return wanted;

  const v1::TtlRecord& old_ttl = stored.ttl();
  wanted.mutable_ttl()->set_expired_through_ms(
      old_ttl.ttl_ms() == wanted.ttl().ttl_ms()
          ? old_ttl.expired_through_ms()
          : ExpiredThrough(stored, commit));
  return wanted;
}

EntryFormat FormatOf(const v1::StateRecord& record) {
  return record.has_ttl() ? EntryFormat::kStamped : EntryFormat::kUnstamped;
}

ExpiryRule RuleOf(const v1::StateRecord& record) {
  return ExpiryRule{.ttl_ms = record.ttl().ttl_ms(),
                    .expired_through_ms = record.ttl().expired_through_ms()};
}

bool IsInEventTime(const v1::StateRecord& record) {
  return record.ttl().time_characteristic() == v1::TIME_CHARACTERISTIC_EVENT;
}

TimestampMs ClockOf(const v1::StateRecord& record,
                    const v1::CommitRecord& commit) {
  return IsInEventTime(record) ? commit.event_clock_ms()
                               : commit.processing_clock_ms();
}

}  // namespace mayfly::state_internal
