// A shard with its types: elements in, lines out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/event_time.h"
#include "mayfly/runtime/internal/annotate.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/runtime/internal/keyed_operator.h"
#include "mayfly/runtime/internal/keyed_router.h"
#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly::runtime_internal {

template <typename K, typename In, typename Out>
class KeyedShard final : public Shard {
 public:
  using Operator = KeyedOperator<K, In, Out>;
  using FunctionFactory = typename Operator::FunctionFactory;
  using LineSerializer = std::function<void(const Out&, std::string&)>;

  KeyedShard(ShardInfo info, const std::optional<EventTimeOptions>& event_time,
             FunctionFactory make_function, LineSerializer serializer)
      : info_(std::move(info)),
        event_time_(event_time),
        make_function_(std::move(make_function)),
        serializer_(std::move(serializer)) {}

  absl::Status Open(const BackendOptions& options) override {
    MAYFLY_ASSIGN_OR_RETURN(
        operator_, Operator::Open(info_, event_time_, options, make_function_));
    return absl::OkStatus();
  }

  std::optional<std::string> committed_position() const override {
    if (!operator_->backend().has_commit()) return std::nullopt;
    return operator_->backend().committed_position();
  }

  absl::Status Process(const Batch& batch, std::string_view source,
                       SinkWriter& writer) override {
    LineCollector collector(serializer_, writer);
    for (const KeyedElement<K, In>& element :
         static_cast<const KeyedBatch<K, In>&>(batch).elements) {
      absl::Status status = operator_->Process(element.key, element.value,
                                               element.timestamp_ms, collector);
      if (status.ok()) status = collector.status();
      if (!status.ok()) {
        return Annotate(
            status, std::string(source) + ":" + std::to_string(element.line));
      }
    }
    return absl::OkStatus();
  }

  absl::Status BeginCommit(std::string_view position) override {
    return operator_->backend().BeginCommit(position);
  }

  bool committing() const override { return operator_->backend().committing(); }

  CommitProgress StepCommit() override {
    return operator_->backend().StepCommit();
  }

  absl::Status FinishCommit() override {
    return operator_->backend().FinishCommit();
  }

  absl::StatusOr<CheckpointFiles> Checkpoint(
      const std::string& directory) override {
    return operator_->backend().Checkpoint(directory);
  }

  bool commit_due() const override { return operator_->backend().commit_due(); }

  TimestampMs watermark_ms() const override {
    return operator_->backend().watermark();
  }

  std::uint64_t late_elements() const override {
    return operator_->late_elements();
  }

  bool clock_jumped() const override {
    return operator_->backend().clock_jumped();
  }

  std::shared_ptr<DiskSweeper> disk_sweeper() const override {
    return operator_->backend().disk_sweeper();
  }

  absl::StatusOr<CleanUpResult> CleanUpInBackground(
      std::uint64_t entries_max) override {
    return operator_->backend().CleanUpInBackground(entries_max);
  }

  absl::StatusOr<std::vector<StateStatistics>> Statistics(
      std::uint64_t visits_max) override {
    return operator_->backend().Statistics(visits_max);
  }

 private:
  class LineCollector final : public Collector<Out> {
   public:
    LineCollector(const LineSerializer& serializer, SinkWriter& writer)
        : serializer_(serializer), writer_(writer) {}

    void Collect(Out element) override {
      if (!status_.ok()) return;
      line_.clear();
      status_ = GuardedCall("the line serializer", [&] {
        serializer_(element, line_);
        return absl::OkStatus();
      });
      if (status_.ok()) status_ = writer_.Write(line_);
    }

    // The first error.
    const absl::Status& status() const { return status_; }

   private:
    const LineSerializer& serializer_;
    SinkWriter& writer_;
    std::string line_;
    absl::Status status_;
  };

  const ShardInfo info_;
  const std::optional<EventTimeOptions> event_time_;
  const FunctionFactory make_function_;
  const LineSerializer serializer_;
  std::unique_ptr<Operator> operator_;
};

}  // namespace mayfly::runtime_internal
