// What is recorded of a state, and whether a program may have it.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/internal/state_spec.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {

// Errors: kInvalidArgument if the name cannot be a state's.
absl::Status CheckStateName(std::string_view name);

// In words, for messages.
std::string_view KindName(v1::StateKind kind);

// The record of a state that is new.
v1::StateRecord NewRecord(const StateSpec& spec);

// The record of a stored state under what a program now asks for.
//   same:           the stored one
//   another TTL:    entries live by it, except those that had expired under
//                   the stored one at `commit`, the last commit
//   TTL on or off, an older version of the value serializer: what is asked for,
//                   if the spec has what a migration of the entries needs
//   all else:       refused
// Errors: kFailedPrecondition with the word StateMigration, naming the state,
// both sides, `directory` and the way out.
absl::StatusOr<v1::StateRecord> Reconcile(const v1::StateRecord& stored,
                                          const StateSpec& asked,
                                          const v1::CommitRecord& commit,
                                          std::string_view directory);

// How the entries of a recorded state are stored, and how they expire.
EntryFormat FormatOf(const v1::StateRecord& record);
ExpiryRule RuleOf(const v1::StateRecord& record);

// Whether its entries age by event time; of a state without TTL, no.
bool IsInEventTime(const v1::StateRecord& record);

// The time of a commit that a state goes by.
TimestampMs ClockOf(const v1::StateRecord& record,
                    const v1::CommitRecord& commit);

}  // namespace mayfly::state_internal
