// Aggregating state over a table of accumulators.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/state/aggregating_state.h"
#include "mayfly/state/internal/single_table.h"
#include "mayfly/state/state_descriptor.h"

namespace mayfly::state_internal {

template <typename K, typename In, typename Acc, typename Out>
class AggregatingTable final : public AggregatingState<In, Out>,
                               public SingleTable<K, Acc> {
 public:
  using Function = AggregateFunction<In, Acc, Out>;

  AggregatingTable(TableContext context, const CurrentKey<K>* current,
                   Function function)
      : SingleTable<K, Acc>(std::move(context), current),
        function_(std::move(function)) {}

  absl::StatusOr<std::optional<Out>> Get() override {
    MAYFLY_ASSIGN_OR_RETURN(const Acc* const accumulator, this->Read());
    std::optional<Out> result;
    if (accumulator == nullptr) return result;
    MAYFLY_RETURN_IF_ERROR(GuardedCall("get_result", [&] {
      result.emplace(function_.get_result(*accumulator));
      return absl::OkStatus();
    }));
    return result;
  }

  absl::Status Add(const In& value) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const TimestampMs now_ms = this->policy().Now();
    return Fold(value, now_ms, now_ms);
  }

  absl::Status Add(const In& value, std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const TimestampMs now_ms = this->policy().Now();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, now_ms));
    return Fold(value, now_ms, timestamp_ms);
  }

  absl::Status Clear() override { return this->Erase(); }

 private:
  absl::Status Fold(const In& value, TimestampMs now_ms,
                    TimestampMs timestamp_ms) {
    return this->Accumulate(now_ms, timestamp_ms,
                            [&](Acc& accumulator, bool live) {
                              return GuardedCall("the aggregate function", [&] {
                                if (!live)
                                  accumulator = function_.create_accumulator();
                                function_.add(value, accumulator);
                                return absl::OkStatus();
                              });
                            });
  }

  const Function function_;
};

}  // namespace mayfly::state_internal
