// Puts a job together and runs it.
//
//   mayfly::Job<std::string, Flight, Report> job(
//       {.name = "airport_delays", .state_directory = "/var/lib/delays"});
//   job.From(mayfly::MakeFileSource("flights.ndjson"), ParseFlight)
//       .KeyBy([](const Flight& flight) { return flight.origin; })
//       .WithTimestamps([](const Flight& flight) { return flight.time_ms; })
//       .Process([&] { return std::make_unique<DelayBoard>(ttl); })
//       .To(mayfly::MakeFileSink("reports.ndjson"), FormatReport);
//   absl::StatusOr<mayfly::JobSummary> summary = job.Run();
//
// A commit makes the state, the position in the input and the length of the
// output of a shard durable as one step. A job that was killed, at whatever
// moment, goes on from its last commits, and its output at the end is what it
// would have been.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/event_time.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/runtime/internal/keyed_router.h"
#include "mayfly/runtime/internal/keyed_shard.h"
#include "mayfly/runtime/job_options.h"
#include "mayfly/runtime/job_report.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/runtime/sink.h"
#include "mayfly/runtime/source.h"

namespace mayfly {

// A job over elements `In` with keys `K` that puts out `Out`. A key lives in
// the shard that PartitionForKey() says.
// Threads: Run() works on the thread that calls it and on one more a shard.
// What is given to From(), KeyBy() and WithTimestamps(), and the callbacks, are
// called on the first; each function, and the line serializer, on its shard's.
// The Request...() may be called on any, and in a signal handler.
// Errors: what is given may throw; Run() then returns kInternal.
template <Serializable K, typename In, typename Out>
class Job {
 public:
  // An error marks the line as malformed, with its message as the reason.
  using LineDeserializer =
      std::function<absl::StatusOr<In>(std::string_view line)>;
  using KeySelector = std::function<K(const In& element)>;
  // Unit: milliseconds since the Unix epoch.
  using TimestampExtractor = std::function<TimestampMs(const In& element)>;
  using FunctionFactory =
      std::function<std::unique_ptr<KeyedProcessFunction<K, In, Out>>()>;
  // Appends the line of an element, without its end. Shards call it at once.
  using LineSerializer =
      std::function<void(const Out& element, std::string& line)>;

  explicit Job(JobOptions options) { plan_.options = std::move(options); }

  Job& From(std::unique_ptr<Source> source, LineDeserializer deserializer) {
    plan_.source = std::move(source);
    deserializer_ = std::move(deserializer);
    return *this;
  }

  Job& KeyBy(KeySelector key_selector) {
    key_selector_ = std::move(key_selector);
    return *this;
  }

  // Gives the job event time, in each shard of its own.
  // Source: Flink assignTimestampsAndWatermarks.
  Job& WithTimestamps(TimestampExtractor timestamp_extractor,
                      const EventTimeOptions& options = {}) {
    timestamp_extractor_ = std::move(timestamp_extractor);
    event_time_ = options;
    return *this;
  }

  // Called once a shard.
  Job& Process(FunctionFactory function_factory) {
    function_factory_ = std::move(function_factory);
    return *this;
  }

  Job& To(std::unique_ptr<Sink> sink, LineSerializer serializer) {
    plan_.sink = std::move(sink);
    serializer_ = std::move(serializer);
    return *this;
  }

  // Called at about this interval while the job runs.
  Job& OnProgress(std::chrono::milliseconds interval,
                  std::function<void(const JobProgress&)> report) {
    plan_.progress_interval = interval;
    plan_.on_progress = std::move(report);
    return *this;
  }

  // Called for each malformed line, instead of LogTo()'s few a second. Lines
  // after the last commit come again when the job restarts.
  Job& OnMalformedLine(std::function<void(const MalformedLine&)> report) {
    plan_.on_malformed_line = std::move(report);
    return *this;
  }

  // Takes what there is to say to people, a line at a time; standard error if
  // nothing is set.
  Job& LogTo(std::function<void(std::string_view message)> log) {
    plan_.log = std::move(log);
    return *this;
  }

  // Runs the job until its input ends or RequestStop(). Call it once.
  // Errors: kInvalidArgument for options out of range or parts that are
  // missing; of the source, the sink, the state directory and the function,
  // naming the shard, and the line if there is one; kInternal if something
  // that was given threw; kResourceExhausted beyond malformed_lines_max;
  // kCancelled if it was asked to stop while its state was restored or
  // rewritten; of the savepoint on stop. A checkpoint that fails is logged and
  // counted, and the job goes on. An error leaves each shard at its last
  // commit, and the next run goes on there.
  absl::StatusOr<JobSummary> Run() {
    MAYFLY_RETURN_IF_ERROR(CheckComplete());
    MAYFLY_RETURN_IF_ERROR(Validate(event_time_));
    const std::string& name = plan_.options.name;
    const int shards = plan_.options.shards;
    plan_.make_router = [&] {
      return std::make_unique<runtime_internal::KeyedRouter<K, In>>(
          shards, deserializer_, key_selector_, timestamp_extractor_,
          event_time_.max_ahead, plan_.options.processing_clock);
    };
    plan_.make_shard = [&](int shard) {
      return std::make_unique<runtime_internal::KeyedShard<K, In, Out>>(
          ShardInfo{name, shard, shards},
          timestamp_extractor_ == nullptr ? std::nullopt
                                          : std::optional(event_time_),
          function_factory_, serializer_);
    };
    return runtime_internal::RunJob(plan_, requests_);
  }

  // Has the job read no further, finish what it has read, commit, and return.
  // Safe in a signal handler.
  void RequestStop() { requests_.stop.store(true, std::memory_order_relaxed); }

  // Has the job take a checkpoint soon, and go on; one for all requests since
  // the last. Without JobOptions::checkpoints the log says that there is none.
  // Safe in a signal handler.
  void RequestCheckpoint() {
    requests_.checkpoint.store(true, std::memory_order_relaxed);
  }

  // As above, a savepoint into JobOptions::savepoint_directory.
  void RequestSavepoint() {
    requests_.savepoint.store(true, std::memory_order_relaxed);
  }

 private:
  absl::Status CheckComplete() const {
    return runtime_internal::CheckParts({
        {"From()", plan_.source != nullptr && deserializer_ != nullptr},
        {"KeyBy()", key_selector_ != nullptr},
        {"Process()", function_factory_ != nullptr},
        {"To()", plan_.sink != nullptr && serializer_ != nullptr},
    });
  }

  runtime_internal::JobPlan plan_;
  LineDeserializer deserializer_;
  KeySelector key_selector_;
  TimestampExtractor timestamp_extractor_;
  EventTimeOptions event_time_;
  FunctionFactory function_factory_;
  LineSerializer serializer_;
  runtime_internal::JobRequests requests_;
};

}  // namespace mayfly
