// Drives a KeyedProcessFunction element by element, without a job around it.
//
//   using Harness = KeyedFunctionHarness<std::string, Flight, Report>;
//   auto harness = Harness::Open(
//       {.key_selector = [](const Flight& flight) { return flight.origin; },
//        .function_factory = [] { return std::make_unique<DelayBoard>(); },
//        .backend = BackendKind::kRocksdb});
//   ASSERT_THAT(harness, IsOk());
//   (*harness)->clock().SetMs(1000);
//   EXPECT_THAT((*harness)->ProcessElement(flight), IsOk());
//   EXPECT_THAT((*harness)->TakeOutput(), ElementsAre(report));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/event_time.h"
#include "mayfly/runtime/internal/keyed_operator.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/backend_options.h"
#include "mayfly/state/keyed_state_backend.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/temp_directory.h"

namespace mayfly {

// One shard of a job in a directory of its own, on a clock that stands still.
// Threads: one.
template <Serializable K, typename In, typename Out>
class KeyedFunctionHarness {
 public:
  struct Options {
    std::function<K(const In& element)> key_selector;
    std::function<std::unique_ptr<KeyedProcessFunction<K, In, Out>>()>
        function_factory;
    // Null: elements have no event time.
    std::function<TimestampMs(const In& element)> timestamp_extractor = nullptr;
    // `max_ahead` is for the reader of a job and does nothing here.
    EventTimeOptions event_time = {};
    BackendKind backend = BackendKind::kHeap;
    // Where the clock stands at first: in November 2023, since a write with a
    // short TTL of its own needs a time that is older than the state's TTL.
    TimestampMs now_ms = 1'700'000'000'000;
  };

  // Errors: kInvalidArgument if the selector or the factory is missing; of the
  // backend and of the function's Open().
  static absl::StatusOr<std::unique_ptr<KeyedFunctionHarness>> Open(
      Options options) {
    if (options.key_selector == nullptr ||
        options.function_factory == nullptr) {
      return absl::InvalidArgumentError(
          "the harness needs a key_selector and a function_factory");
    }
    std::unique_ptr<KeyedFunctionHarness> harness(
        new KeyedFunctionHarness(std::move(options)));
    MAYFLY_RETURN_IF_ERROR(Validate(harness->options_.event_time));
    MAYFLY_RETURN_IF_ERROR(harness->Restart());
    return harness;
  }

  // Processes an element as a job would: moves the watermark, makes its key
  // current, calls the function; or counts it as late.
  // Errors: of the function, naming the key; kInternal if it threw.
  absl::Status ProcessElement(const In& element) {
    std::optional<TimestampMs> timestamp_ms;
    if (options_.timestamp_extractor != nullptr) {
      timestamp_ms = options_.timestamp_extractor(element);
    }
    return operator_->Process(options_.key_selector(element), element,
                              timestamp_ms, collector_);
  }

  // Elements that were too late, since the last Restart().
  std::uint64_t late_elements() const { return operator_->late_elements(); }

  // All that was put out, as a job's output holds it: what was not committed
  // before a restart is not there.
  const std::vector<Out>& output() const { return collector_.elements; }

  // What was put out since this was last called.
  std::vector<Out> TakeOutput() {
    const auto from =
        output().begin() + static_cast<std::ptrdiff_t>(
                               std::exchange(taken_outputs_, output().size()));
    return {from, output().end()};
  }

  // Errors: as KeyedStateBackend::Commit().
  absl::Status Commit() {
    MAYFLY_RETURN_IF_ERROR(backend().Commit());
    committed_outputs_ = output().size();
    return absl::OkStatus();
  }

  // Forgets what was not committed, as a crash does, and goes on from the last
  // commit with a new backend and a new function. The clock stays.
  // Errors: of the backend and of the function's Open().
  absl::Status Restart() {
    operator_.reset();
    collector_.elements.resize(committed_outputs_);
    taken_outputs_ = std::min(taken_outputs_, committed_outputs_);
    BackendOptions options;
    options.kind = options_.backend;
    options.directory = directory_.Path("shard-00000");
    options.processing_clock = clock_;
    MAYFLY_ASSIGN_OR_RETURN(
        operator_,
        Operator::Open(ShardInfo{.job_name = "harness"}, options_.event_time,
                       options, options_.function_factory));
    return absl::OkStatus();
  }

  // A state of the function at a key.
  // Lifetime: of the result, until Restart().
  // Errors: as KeyedStateBackend::GetState().
  template <typename Descriptor>
  auto GetState(const K& key, const Descriptor& descriptor) {
    backend().SetCurrentKey(key);
    return backend().GetState(descriptor);
  }

  // Processing time.
  ManualClock& clock() { return *clock_; }

  // Moves event time forward without an element.
  void AdvanceWatermark(TimestampMs time_ms) {
    backend().AdvanceWatermark(time_ms);
  }

  // Lifetime: until Restart().
  KeyedStateBackend<K>& backend() { return operator_->backend(); }

 private:
  using Operator = runtime_internal::KeyedOperator<K, In, Out>;

  struct VectorCollector final : Collector<Out> {
    void Collect(Out element) override {
      elements.push_back(std::move(element));
    }
    std::vector<Out> elements;
  };

  explicit KeyedFunctionHarness(Options options)
      : options_(std::move(options)),
        clock_(std::make_shared<ManualClock>(options_.now_ms)) {}

  const Options options_;
  const TempDirectory directory_;
  const std::shared_ptr<ManualClock> clock_;
  VectorCollector collector_;
  std::size_t committed_outputs_ = 0;
  std::size_t taken_outputs_ = 0;
  std::unique_ptr<Operator> operator_;
};

}  // namespace mayfly
