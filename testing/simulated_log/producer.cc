#include "mayfly/log/producer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/clients.h"
#include "testing/simulated_log/group_metadata.h"

namespace mayfly::testing_internal {
namespace {

std::optional<std::string> Copy(const std::optional<std::string_view>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

// Records of one partition that go to the broker at one go.
struct Batch {
  TopicPartition partition;
  std::vector<std::uint64_t> tags;
  std::vector<StoredRecord> records;
};

struct Outcome {
  TopicPartition partition;
  std::vector<std::uint64_t> tags;
  absl::Status status;
  std::int64_t base_offset = -1;
};

class Producer final : public LogProducer {
 public:
  Producer(std::shared_ptr<Process> process, ProducerOptions options)
      : process_(std::move(process)), options_(std::move(options)) {
    writer_.transactional_id = options_.transactional_id;
    if (!options_.transactional_id) {
      broker().Do([&] { writer_.producer_id = broker().NewId(); });
    }
  }

  absl::Status Produce(const ProducerRecord& record,
                       std::uint64_t tag) override {
    return Call(LogCall::kProduce, [&] { return Enqueue(record, tag); });
  }

  absl::Status Poll(std::chrono::milliseconds) override {
    if (!process_->is_crashed()) Send();
    return Call(LogCall::kProducerPoll, [&] { return broken_; });
  }

  absl::Status Flush(std::chrono::milliseconds timeout) override {
    return Poll(timeout);
  }

  absl::Status InitTransactions(std::chrono::milliseconds) override {
    return Call(LogCall::kInitTransactions, [&] {
      if (!options_.transactional_id) return Misuse("without an id");
      writer_ = broker().InitTransactions(*options_.transactional_id,
                                          options_.transaction_timeout);
      return absl::OkStatus();
    });
  }

  absl::Status BeginTransaction() override {
    return Call(LogCall::kBeginTransaction, [&] {
      if (writer_.producer_id < 0) return Misuse("before InitTransactions()");
      if (in_transaction_) return Misuse("within another one");
      in_transaction_ = true;
      return absl::OkStatus();
    });
  }

  absl::Status SendOffsets(std::span<const PartitionOffset> offsets,
                           const GroupMetadata& group,
                           std::chrono::milliseconds) override {
    return Call(LogCall::kSendOffsets, [&]() -> absl::Status {
      if (!in_transaction_) return Misuse("that was not begun");
      if (must_abort_) return MustAbort();
      MAYFLY_ASSIGN_OR_RETURN(const GroupMember member, Decode(group));
      return broker().SendOffsets(writer_, member.group, member.member,
                                  member.generation, offsets);
    });
  }

  absl::Status CommitTransaction(std::chrono::milliseconds) override {
    if (!process_->is_crashed()) Send();
    return End(LogCall::kCommitTransaction, BatchKind::kCommitMarker);
  }

  absl::Status AbortTransaction(std::chrono::milliseconds) override {
    if (process_->is_crashed()) return Poll({});
    Tell(broker().Do([&] { return Purge(); }));
    return End(LogCall::kAbortTransaction, BatchKind::kAbortMarker);
  }

 private:
  Broker& broker() { return process_->broker(); }

  // Makes a call, unless there is nothing to be had of this producer, and
  // remembers what its result means for the next ones.
  template <typename Body>
  absl::Status Call(LogCall call, const Body& body) {
    absl::Status status =
        process_->Call(call, [&] { return broken_.ok() ? body() : broken_; });
    if (!status.ok()) broker().Do([&] { Note(status); });
    return status;
  }

  void Note(const absl::Status& status) {
    const LogError error = LogErrorOf(status);
    if (error == LogError::kFenced || error == LogError::kFatal) {
      broken_ = status;
    }
    must_abort_ = must_abort_ || error == LogError::kAbortable;
  }

  absl::Status Misuse(std::string_view how) const {
    return MakeLogError(
        LogError::kRejected,
        absl::StrCat("there is no transaction ", std::string(how)));
  }

  static absl::Status MustAbort() {
    return MakeLogError(LogError::kAbortable,
                        "something in the transaction has failed: abort it");
  }

  absl::Status Enqueue(const ProducerRecord& record, std::uint64_t tag) {
    if (options_.transactional_id && !in_transaction_) {
      return Misuse("to produce in");
    }
    if (must_abort_) return MustAbort();
    if (record.timestamp_ms <= 0) {
      return MakeLogError(LogError::kRejected,
                          "a record needs a timestamp after 1970");
    }
    StoredRecord stored;
    stored.key = Copy(record.key);
    stored.value = Copy(record.value);
    stored.timestamp_ms = record.timestamp_ms;
    for (const Header& header : record.headers) {
      stored.headers.emplace_back(header.name, Copy(header.value));
    }
    if (queued_bytes_ + stored.bytes() > options_.queue_bytes_max) {
      return MakeLogError(LogError::kQueueFull,
                          "the producer's queue is full: Poll() it");
    }
    queued_bytes_ += stored.bytes();
    const TopicPartition partition{std::string(record.topic), record.partition};
    auto batch = std::ranges::find(queue_, partition, &Batch::partition);
    if (batch == queue_.end()) {
      batch = queue_.insert(queue_.end(), {partition, {}, {}});
    }
    batch->tags.push_back(tag);
    batch->records.push_back(std::move(stored));
    return absl::OkStatus();
  }

  // Sends all that is queued, and tells what became of it.
  void Send() {
    Tell(broker().Do([&] {
      std::vector<Outcome> outcomes;
      for (Batch& batch : TakeQueue()) {
        outcomes.push_back(Deliver(std::move(batch)));
        const absl::Status& status = outcomes.back().status;
        if (status.ok()) continue;
        Note(status);
        must_abort_ = must_abort_ || options_.transactional_id.has_value();
      }
      if (!outcomes.empty()) broker().Changed();
      return outcomes;
    }));
  }

  Outcome Deliver(Batch batch) {
    Outcome outcome{std::move(batch.partition), std::move(batch.tags),
                    absl::OkStatus()};
    const std::optional<LogFault> fault = broker().TakeFault(LogCall::kDeliver);
    if (!fault || fault->takes_effect) {
      const absl::StatusOr<std::int64_t> offset =
          broker().Append(writer_, outcome.partition, std::move(batch.records));
      outcome.status = offset.status();
      if (offset.ok()) outcome.base_offset = *offset;
    }
    if (fault) {
      outcome.status = Broker::FaultStatus(*fault);
      outcome.base_offset = -1;
    }
    return outcome;
  }

  std::vector<Batch> TakeQueue() {
    queued_bytes_ = 0;
    return std::exchange(queue_, {});
  }

  std::vector<Outcome> Purge() {
    std::vector<Outcome> outcomes;
    for (Batch& batch : TakeQueue()) {
      outcomes.push_back(
          {std::move(batch.partition), std::move(batch.tags),
           MakeLogError(LogError::kAbortable, "the transaction is aborted")});
    }
    return outcomes;
  }

  void Tell(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes) {
      std::int64_t offset = outcome.base_offset;
      for (const std::uint64_t tag : outcome.tags) {
        options_.on_delivery({tag, outcome.status, outcome.partition.topic,
                              outcome.partition.partition, offset});
        if (offset >= 0) ++offset;
      }
    }
  }

  // A call that is made again after kRetriable may find its work done.
  absl::Status End(LogCall call, BatchKind marker) {
    absl::Status status = Call(call, [&]() -> absl::Status {
      const bool commits = marker == BatchKind::kCommitMarker;
      if (!in_transaction_) {
        return is_again_ ? absl::OkStatus() : Misuse("that was not begun");
      }
      if (commits && must_abort_) return MustAbort();
      MAYFLY_RETURN_IF_ERROR(broker().EndTransaction(writer_, marker));
      in_transaction_ = false;
      must_abort_ = false;
      return absl::OkStatus();
    });
    is_again_ = !status.ok() && LogErrorOf(status) == LogError::kRetriable;
    return status;
  }

  const std::shared_ptr<Process> process_;
  const ProducerOptions options_;
  // What follows is touched within calls of the broker, since Produce() may be
  // called on any thread; but for `is_again_`.
  Writer writer_;
  std::vector<Batch> queue_;
  std::size_t queued_bytes_ = 0;
  bool in_transaction_ = false;
  bool must_abort_ = false;
  absl::Status broken_;
  bool is_again_ = false;
};

}  // namespace

std::unique_ptr<LogProducer> NewSimulatedProducer(
    std::shared_ptr<Process> process, ProducerOptions options) {
  return std::make_unique<Producer>(std::move(process), std::move(options));
}

}  // namespace mayfly::testing_internal
