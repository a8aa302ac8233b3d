// Turns stored entries of a state into what a program asks for, without knowing
// their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/v1/state.pb.h"
#include "state/transfer_meter.h"

namespace mayfly::state_internal {

// Threads: one.
class EntryMigration {
 public:
  // Whether entries must be rewritten.
  static bool Needed(const v1::StateRecord& stored,
                     const v1::StateRecord& wanted);

  struct Plan {
    // What Reconcile() was given and what it made of it.
    v1::StateRecord stored;
    v1::StateRecord wanted;
    // Null if the version of the values stays.
    StateMigration::Reserialize reserialize = nullptr;
    // What new timestamps are, and what entries expire by: in the time of
    // whichever of both has a TTL.
    TimestampMs now_ms = 0;
    // Named by errors.
    std::string directory;
  };

  // Lifetime: what the options point to must outlive this.
  EntryMigration(Plan plan, const MigrationOptions& options);

  void ExpectKeys(std::uint64_t keys) { meter_.ExpectKeys(keys); }

  // What becomes of a value or a list; nullopt if all of it has expired.
  // Errors: kCancelled if it is to stop; kDataLoss naming state and key if the
  // bytes do not decode: taken as they are they would be given another meaning;
  // kInvalidArgument if it becomes too large.
  // Lifetime: until the next call.
  absl::StatusOr<std::optional<std::string_view>> Apply(
      std::string_view key, std::string_view stored);

  // All has been rewritten.
  void Finish() { meter_.Finish(); }

 private:
  absl::StatusOr<bool> RewriteEntry(std::string_view stored);
  absl::StatusOr<bool> RewriteList(std::string_view stored);
  absl::StatusOr<std::string_view> Payload(std::string_view bytes);
  absl::Status Refuse(absl::StatusCode code, std::string_view key,
                      std::string_view why) const;

  bool IsExpired(TimestampMs timestamp_ms) const {
    return drops_expired_ && rule_.IsExpired(timestamp_ms, plan_.now_ms);
  }
  TimestampMs StampOf(const EntryView& entry) const {
    return from_ == EntryFormat::kStamped ? entry.timestamp_ms : plan_.now_ms;
  }

  const Plan plan_;
  const EntryFormat from_;
  const EntryFormat to_;
  // Of what was stamped already.
  const bool drops_expired_;
  const ExpiryRule rule_;
  TransferMeter meter_;
  std::string rewritten_;
  std::string payload_;
};

}  // namespace mayfly::state_internal
