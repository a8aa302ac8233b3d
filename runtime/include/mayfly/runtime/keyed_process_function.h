// What a job author writes: a function that sees one element at a time, with
// states that belong to the element's key.
//
//   class DelayBoard
//       : public mayfly::KeyedProcessFunction<std::string, Flight, Report> {
//    public:
//     absl::Status Open(RuntimeContext& context) override {
//       MAYFLY_ASSIGN_OR_RETURN(streak_, context.GetState(descriptor_));
//       return absl::OkStatus();
//     }
//
//     absl::Status ProcessElement(const Flight& flight, Context& context,
//                                 Collector<Report>& out) override {
//       MAYFLY_ASSIGN_OR_RETURN(const std::int64_t* streak, streak_->Value());
//       const std::int64_t next = streak == nullptr ? 1 : *streak + 1;
//       MAYFLY_RETURN_IF_ERROR(streak_->Update(next));
//       out.Collect(Report{context.current_key(), next});
//       return absl::OkStatus();
//     }
//     ...
//   };
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/serializer_contract.h"
#include "mayfly/serde/timestamp.h"
#include "mayfly/state/keyed_state_backend.h"

namespace mayfly {

// Which part of which job a function instance is.
// Range: 0 <= shard < shards.
struct ShardInfo {
  std::string job_name;
  int shard = 0;
  int shards = 1;
};

// Where a function gets its states from, once, in Open().
// Threads: one.  Lifetime: as long as the function.
template <Serializable K>
class RuntimeContext {
 public:
  // `has_event_time`: something moves the shard's watermark.
  RuntimeContext(ShardInfo info, bool has_event_time,
                 KeyedStateBackend<K>& backend)
      : info_(std::move(info)),
        has_event_time_(has_event_time),
        backend_(backend) {}
  RuntimeContext(const RuntimeContext&) = delete;
  RuntimeContext& operator=(const RuntimeContext&) = delete;

  // A ValueState<T>*, ListState<T>*, MapState<UK, UV>*, ReducingState<T>* or
  // AggregatingState<In, Out>*, as the descriptor says.
  // Lifetime: of the result, as long as the function.
  // Errors: as KeyedStateBackend::GetState(); kFailedPrecondition for a state
  // in event time if the job has none, in which nothing would ever expire.
  template <typename Descriptor>
  auto GetState(const Descriptor& descriptor) {
    using State = decltype(backend_.GetState(descriptor));
    const auto& ttl = descriptor.ttl();
    if (!has_event_time_ && ttl &&
        ttl->time_characteristic() == TimeCharacteristic::kEventTime) {
      return State(absl::FailedPreconditionError(
          "state '" + descriptor.name() +
          "' is in event time, and the job takes no timestamps from its "
          "elements; call WithTimestamps()"));
    }
    return backend_.GetState(descriptor);
  }

  const std::string& job_name() const { return info_.job_name; }
  int shard() const { return info_.shard; }
  int shards() const { return info_.shards; }

 private:
  const ShardInfo info_;
  const bool has_event_time_;
  KeyedStateBackend<K>& backend_;
};

// What is known of the element that is being processed.
// Lifetime: of the references, until the call to which it was given returns.
template <Serializable K>
class ProcessContext {
 public:
  ProcessContext(const K& key, std::optional<TimestampMs> timestamp_ms,
                 TimestampMs watermark_ms)
      : key_(key), timestamp_ms_(timestamp_ms), watermark_ms_(watermark_ms) {}

  // The key that the states act on.
  const K& current_key() const { return key_; }

  // Event time of the element; nullopt if the job extracts none.
  std::optional<TimestampMs> timestamp_ms() const { return timestamp_ms_; }

  // Event time of the shard, this element included, as EventTimeOptions has it:
  // what states in event time take for now. 0 if the job extracts none.
  TimestampMs watermark_ms() const { return watermark_ms_; }

 private:
  const K& key_;
  const std::optional<TimestampMs> timestamp_ms_;
  const TimestampMs watermark_ms_;
};

// Takes what a function puts out.
// Threads: one.
template <typename Out>
class Collector {
 public:
  virtual ~Collector() = default;

  virtual void Collect(Out element) = 0;
};

// Each shard has an instance of its own, and calls it for the elements whose
// keys live there, in the order of the input.
// Threads: one at a time. Open() may run on another thread than the elements.
// Errors: whatever a function returns ends the job; what it has changed since
// the last commit is forgotten. An exception that it throws becomes kInternal.
// Source: Flink KeyedProcessFunction.
template <Serializable K, typename In, typename Out>
class KeyedProcessFunction {
 public:
  // Short names for those who derive from this.
  using RuntimeContext = mayfly::RuntimeContext<K>;
  using Context = ProcessContext<K>;
  template <typename T>
  using Collector = mayfly::Collector<T>;

  virtual ~KeyedProcessFunction() = default;

  // Called once, before the first element: get the states here. The context
  // may be kept.
  virtual absl::Status Open(RuntimeContext& context) {
    static_cast<void>(context);
    return absl::OkStatus();
  }

  // Called for each element, with the states at its key. A job that restarts
  // processes what came after its last commit again, and counts on the same
  // result: depend on the element and the states alone.
  virtual absl::Status ProcessElement(const In& element, Context& context,
                                      Collector<Out>& out) = 0;
};

}  // namespace mayfly
