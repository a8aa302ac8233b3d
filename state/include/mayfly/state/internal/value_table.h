// Value state over a table.
#pragma once

#include <chrono>
#include <utility>

#include "mayfly/state/internal/single_table.h"
#include "mayfly/state/value_state.h"

namespace mayfly::state_internal {

template <typename K, typename T>
class ValueTable final : public ValueState<T>, public SingleTable<K, T> {
 public:
  using SingleTable<K, T>::SingleTable;

  absl::StatusOr<const T*> Value() override { return this->Read(); }

  absl::Status Update(T value) override {
    if (!this->has_key()) return this->NoCurrentKey();
    return this->Write(std::move(value), this->policy().Now());
  }

  absl::Status Update(T value, std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, this->policy().Now()));
    return this->Write(std::move(value), timestamp_ms);
  }

  absl::Status Clear() override { return this->Erase(); }
};

}  // namespace mayfly::state_internal
