#include "state/entry_migration.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/key_text.h"
#include "mayfly/state/internal/state_table.h"
#include "state/state_registry.h"

namespace mayfly::state_internal {
namespace {

TransferMeter::Report ReportOf(const std::string& state,
                               const MigrationOptions& options) {
  if (options.on_progress == nullptr) return nullptr;
  return [state, report = options.on_progress](const TransferProgress& so_far) {
    report(state, so_far);
  };
}

absl::Status Malformed() {
  return absl::DataLossError("it has no valid timestamp or length");
}

}  // namespace

bool EntryMigration::Needed(const v1::StateRecord& stored,
                            const v1::StateRecord& wanted) {
  return stored.has_ttl() != wanted.has_ttl() ||
         stored.value_serializer().version() !=
             wanted.value_serializer().version();
}

EntryMigration::EntryMigration(Plan plan, const MigrationOptions& options)
    : plan_(std::move(plan)),
      from_(FormatOf(plan_.stored)),
      to_(FormatOf(plan_.wanted)),
      drops_expired_(plan_.stored.has_ttl()),
      rule_(RuleOf(plan_.wanted.has_ttl() ? plan_.wanted : plan_.stored)),
      meter_(ReportOf(plan_.stored.name(), options), options.stop) {}

absl::StatusOr<std::optional<std::string_view>> EntryMigration::Apply(
    std::string_view key, std::string_view stored) {
  if (!meter_.CountKey(key, stored)) {
    return absl::CancelledError(
        absl::StrCat("state '", plan_.stored.name(),
                     "': stopped before all of it was rewritten; nothing in '",
                     plan_.directory, "' was changed: start again"));
  }
  rewritten_.clear();
  const absl::StatusOr<bool> left = plan_.stored.kind() == v1::STATE_KIND_LIST
                                        ? RewriteList(stored)
                                        : RewriteEntry(stored);
  if (!left.ok()) {
    return Refuse(absl::StatusCode::kDataLoss, key,
                  ToStd(left.status().message()));
  }
  if (!*left) {
    meter_.CountExpired();
    return std::nullopt;
  }
  if (rewritten_.size() > kEntryBytesMax) {
    return Refuse(absl::StatusCode::kInvalidArgument, key,
                  absl::StrCat("it would take ", rewritten_.size(),
                               " bytes, and the limit is ", kEntryBytesMax));
  }
  return rewritten_;
}

absl::StatusOr<bool> EntryMigration::RewriteEntry(std::string_view stored) {
  const std::optional<EntryView> entry = DecodeEntry(stored, from_);
  if (!entry) return Malformed();
  if (IsExpired(entry->timestamp_ms)) return false;
  if (to_ == EntryFormat::kStamped) {
    AppendTimestamp(StampOf(*entry), rewritten_);
  }
  MAYFLY_ASSIGN_OR_RETURN(const std::string_view payload,
                          Payload(entry->bytes));
  rewritten_.append(payload);
  return true;
}

absl::StatusOr<bool> EntryMigration::RewriteList(std::string_view stored) {
  ListReader reader(stored, from_);
  while (const auto element = reader.Next()) {
    if (IsExpired(element->timestamp_ms)) continue;
    MAYFLY_ASSIGN_OR_RETURN(const std::string_view payload,
                            Payload(element->bytes));
    if (to_ == EntryFormat::kStamped) {
      AppendListElement(StampOf(*element), payload, rewritten_);
    } else {
      AppendUnstampedListElement(payload, rewritten_);
    }
  }
  if (reader.malformed()) return Malformed();
  return !rewritten_.empty();
}

absl::StatusOr<std::string_view> EntryMigration::Payload(
    std::string_view bytes) {
  if (plan_.reserialize == nullptr) return bytes;
  payload_.clear();
  MAYFLY_RETURN_IF_ERROR(plan_.reserialize(
      plan_.stored.value_serializer().version(), bytes, payload_));
  if (payload_.size() > kEntryBytesMax) {
    return absl::InvalidArgumentError("it would become too large");
  }
  return payload_;
}

absl::Status EntryMigration::Refuse(absl::StatusCode code, std::string_view key,
                                    std::string_view why) const {
  return absl::Status(
      code,
      absl::StrCat("StateMigration: state '", plan_.stored.name(), "', key ",
                   KeyText(key), " cannot be rewritten: ", ToAbsl(why),
                   "; nothing in '", plan_.directory,
                   "' was changed: start with the old setting and clear the "
                   "key, or restore an earlier checkpoint"));
}

}  // namespace mayfly::state_internal
