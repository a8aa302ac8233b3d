// A function and the backend that its states lie in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/event_time.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/key_text.h"

namespace mayfly::runtime_internal {

// Threads: one at a time.
template <typename K, typename In, typename Out>
class KeyedOperator {
 public:
  using Function = KeyedProcessFunction<K, In, Out>;
  using FunctionFactory = std::function<std::unique_ptr<Function>()>;

  // Errors: of the backend and of the function; kInternal if the function
  // threw.
  // Without event time nothing moves the watermark.
  static absl::StatusOr<std::unique_ptr<KeyedOperator>> Open(
      const ShardInfo& info, const std::optional<EventTimeOptions>& event_time,
      const BackendOptions& options, const FunctionFactory& make_function) {
    MAYFLY_ASSIGN_OR_RETURN(auto backend, KeyedStateBackend<K>::Open(options));
    std::unique_ptr<KeyedOperator> result(
        new KeyedOperator(info, event_time, std::move(backend)));
    MAYFLY_RETURN_IF_ERROR(
        GuardedCall("Open() of the function", [&]() -> absl::Status {
          result->function_ = make_function();
          if (result->function_ == nullptr) {
            return absl::InvalidArgumentError(
                "the function factory returned null; have it return a new "
                "function for each shard");
          }
          return result->function_->Open(result->context_);
        }));
    return result;
  }

  // Moves event time forward, makes the key current and calls the function;
  // does nothing but count if the element is too late.
  // Errors: of the function, naming the key; kInternal if it threw.
  absl::Status Process(const K& key, const In& element,
                       std::optional<TimestampMs> timestamp_ms,
                       Collector<Out>& out) {
    if (timestamp_ms) {
      if (IsTooLate(*timestamp_ms)) {
        ++late_elements_;
        return absl::OkStatus();
      }
      backend_->AdvanceWatermark(SaturatingAdd(
          *timestamp_ms, -event_time_.max_out_of_orderness.count()));
    }
    backend_->SetCurrentKey(key);
    ProcessContext<K> context(key, timestamp_ms, backend_->watermark());
    absl::Status status = GuardedCall("ProcessElement() of the function", [&] {
      return function_->ProcessElement(element, context, out);
    });
    if (status.ok()) return status;
    return Annotate(status, "key " + state_internal::KeyText(ToBytes(key)));
  }

  // Elements that were not processed for being late, since Open().
  std::uint64_t late_elements() const { return late_elements_; }

  KeyedStateBackend<K>& backend() { return *backend_; }
  const KeyedStateBackend<K>& backend() const { return *backend_; }

 private:
  KeyedOperator(const ShardInfo& info,
                const std::optional<EventTimeOptions>& event_time,
                std::unique_ptr<KeyedStateBackend<K>> backend)
      : event_time_(event_time.value_or(EventTimeOptions())),
        backend_(std::move(backend)),
        context_(info, event_time.has_value(), *backend_) {}

  bool IsTooLate(TimestampMs timestamp_ms) const {
    return event_time_.allowed_lateness &&
           timestamp_ms <=
               SaturatingAdd(backend_->watermark(),
                             -event_time_.allowed_lateness->count()) &&
           timestamp_ms < backend_->watermark();
  }

  const EventTimeOptions event_time_;
  std::uint64_t late_elements_ = 0;

  // The function goes first, then what it refers to.
  const std::unique_ptr<KeyedStateBackend<K>> backend_;
  RuntimeContext<K> context_;
  std::unique_ptr<Function> function_;
};

}  // namespace mayfly::runtime_internal
