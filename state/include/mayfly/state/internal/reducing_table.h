// Reducing state over a table.
#pragma once

#include <chrono>
#include <utility>

#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/state/internal/single_table.h"
#include "mayfly/state/reducing_state.h"
#include "mayfly/state/state_descriptor.h"

namespace mayfly::state_internal {

template <typename K, typename T>
class ReducingTable final : public ReducingState<T>, public SingleTable<K, T> {
 public:
  using ReduceFunction = typename ReducingStateDescriptor<T>::ReduceFunction;

  ReducingTable(TableContext context, const CurrentKey<K>* current,
                ReduceFunction reduce)
      : SingleTable<K, T>(std::move(context), current),
        reduce_(std::move(reduce)) {}

  absl::StatusOr<const T*> Get() override { return this->Read(); }

  absl::Status Add(T value) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const TimestampMs now_ms = this->policy().Now();
    return Fold(std::move(value), now_ms, now_ms);
  }

  absl::Status Add(T value, std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const TimestampMs now_ms = this->policy().Now();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, now_ms));
    return Fold(std::move(value), now_ms, timestamp_ms);
  }

  absl::Status Clear() override { return this->Erase(); }

 private:
  absl::Status Fold(T value, TimestampMs now_ms, TimestampMs timestamp_ms) {
    return this->Accumulate(
        now_ms, timestamp_ms, [&](T& accumulated, bool live) -> absl::Status {
          if (!live) {
            accumulated = std::move(value);
            return absl::OkStatus();
          }
          return GuardedCall("the reduce function", [&]() -> absl::Status {
            T reduced = reduce_(accumulated, value);
            MAYFLY_RETURN_IF_ERROR(this->CheckSize(reduced));
            accumulated = std::move(reduced);
            return absl::OkStatus();
          });
        });
  }

  const ReduceFunction reduce_;
};

}  // namespace mayfly::state_internal
