// A function and the backend that its states lie in.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/serde/internal/status_macros.h"

namespace mayfly::runtime_internal {

// Threads: one at a time.
template <typename K, typename In, typename Out>
class KeyedOperator {
 public:
  using Function = KeyedProcessFunction<K, In, Out>;
  using FunctionFactory = std::function<std::unique_ptr<Function>()>;

  // Errors: of the backend and of the function; kInternal if the function
  // threw.
  static absl::StatusOr<std::unique_ptr<KeyedOperator>> Open(
      const ShardInfo& info, const BackendOptions& options,
      const FunctionFactory& make_function) {
    MAYFLY_ASSIGN_OR_RETURN(auto backend, KeyedStateBackend<K>::Open(options));
    std::unique_ptr<KeyedOperator> result(
        new KeyedOperator(info, std::move(backend)));
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

  // Errors: of the function, naming the key; kInternal if it threw.
  absl::Status Process(const K& key, const In& element,
                       std::optional<TimestampMs> timestamp_ms,
                       Collector<Out>& out) {
    if (timestamp_ms) backend_->AdvanceWatermark(*timestamp_ms);
    backend_->SetCurrentKey(key);
    ProcessContext<K> context(key, timestamp_ms, backend_->watermark());
    absl::Status status = GuardedCall("ProcessElement() of the function", [&] {
      return function_->ProcessElement(element, context, out);
    });
    if (status.ok()) return status;
    return Annotate(status, "key " + KeyHexPrefix(ToBytes(key)));
  }

  KeyedStateBackend<K>& backend() { return *backend_; }
  const KeyedStateBackend<K>& backend() const { return *backend_; }

 private:
  KeyedOperator(const ShardInfo& info,
                std::unique_ptr<KeyedStateBackend<K>> backend)
      : backend_(std::move(backend)), context_(info, *backend_) {}

  // The function goes first, then what it refers to.
  const std::unique_ptr<KeyedStateBackend<K>> backend_;
  RuntimeContext<K> context_;
  std::unique_ptr<Function> function_;
};

}  // namespace mayfly::runtime_internal
