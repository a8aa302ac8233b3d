#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/clients.h"
#include "testing/simulated_log/cursors.h"
#include "testing/simulated_log/group_metadata.h"

namespace mayfly::testing_internal {
namespace {

class Reader final : public PartitionReader {
 public:
  Reader(std::shared_ptr<Process> process, IsolationLevel isolation)
      : process_(std::move(process)), cursors_(isolation) {}

  absl::StatusOr<LogEvent> Poll(std::chrono::milliseconds timeout) override {
    Broker& broker = process_->broker();
    const std::int64_t version = broker.version();
    MAYFLY_ASSIGN_OR_RETURN(LogEvent event, Next());
    if (!std::holds_alternative<std::monostate>(event)) return event;
    broker.Wait(version, timeout);
    return Next();
  }

  absl::Status Pause(std::span<const TopicPartition> partitions) override {
    process_->broker().Do([&] { cursors_.Pause(partitions, true); });
    return absl::OkStatus();
  }

  absl::Status Resume(std::span<const TopicPartition> partitions) override {
    process_->broker().Do([&] { cursors_.Pause(partitions, false); });
    return absl::OkStatus();
  }

  absl::Status Seek(const PartitionOffset& offset) override {
    return process_->Call(LogCall::kSeek,
                          [&] { return cursors_.Seek(offset); });
  }

  absl::Status Assign(std::span<const PartitionOffset> partitions) override {
    process_->broker().Do([&] {
      for (const PartitionOffset& at : partitions) {
        cursors_.Assign(at.partition, at.offset);
      }
    });
    return absl::OkStatus();
  }

  absl::Status Unassign(std::span<const TopicPartition> partitions) override {
    process_->broker().Do([&] {
      for (const TopicPartition& at : partitions) cursors_.Unassign(at);
    });
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<LogEvent> Next() {
    LogEvent event;
    MAYFLY_RETURN_IF_ERROR(process_->Call(LogCall::kPoll, [&] {
      event = cursors_.Next(process_->broker(), [](const TopicPartition&) {
        return std::optional<std::int64_t>();
      });
      return absl::OkStatus();
    }));
    return event;
  }

  const std::shared_ptr<Process> process_;
  Cursors cursors_;
};

class Member final : public GroupConsumer {
 public:
  Member(std::shared_ptr<Process> process, GroupConsumerOptions options,
         RebalanceListener& listener)
      : process_(std::move(process)),
        options_(std::move(options)),
        listener_(listener),
        cursors_(options_.isolation) {}

  ~Member() override {
    if (!is_closed_) Close().IgnoreError();
  }

  absl::StatusOr<LogEvent> Poll(std::chrono::milliseconds timeout) override {
    const std::int64_t version = broker().version();
    MAYFLY_ASSIGN_OR_RETURN(LogEvent event, Next());
    if (!std::holds_alternative<std::monostate>(event)) return event;
    broker().Wait(version, timeout);
    return Next();
  }

  absl::Status Pause(std::span<const TopicPartition> partitions) override {
    broker().Do([&] { cursors_.Pause(partitions, true); });
    return absl::OkStatus();
  }

  absl::Status Resume(std::span<const TopicPartition> partitions) override {
    broker().Do([&] { cursors_.Pause(partitions, false); });
    return absl::OkStatus();
  }

  absl::Status Seek(const PartitionOffset& offset) override {
    return process_->Call(LogCall::kSeek,
                          [&] { return cursors_.Seek(offset); });
  }

  absl::Status Commit(std::span<const PartitionOffset> offsets) override {
    return process_->Call(LogCall::kCommit, [&] {
      if (!group().Has(name_)) return NoMember();
      for (const PartitionOffset& at : offsets) {
        group().committed()[at.partition] = at.offset;
      }
      return absl::OkStatus();
    });
  }

  absl::StatusOr<GroupMetadata> metadata() const override {
    if (name_.empty()) {
      return MakeLogError(LogError::kRetriable,
                          absl::StrCat("there is no member of group '",
                                       options_.group, "' before Poll()"));
    }
    return Encode({options_.group, name_, generation_});
  }

  absl::Status Close() override {
    is_closed_ = true;
    if (name_.empty() || process_->is_crashed()) return absl::OkStatus();
    if (const auto held = cursors_.partitions(); !held.empty()) {
      GiveUp(held);
    }
    absl::Status status = process_->Call(LogCall::kClose, [&] {
      if (options_.instance_id) {
        group().FallSilent(name_, broker().now_ms());
      } else {
        group().Leave(name_);
      }
      return absl::OkStatus();
    });
    if (!status.ok()) {
      broker().Do([&] { group().FallSilent(name_, broker().now_ms()); });
    }
    return status;
  }

 private:
  Broker& broker() const { return process_->broker(); }
  Group& group() { return broker().GetGroup(options_.group); }

  absl::Status NoMember() const {
    return MakeLogError(LogError::kFenced,
                        absl::StrCat("group '", options_.group,
                                     "' does not count this member any more"));
  }

  absl::StatusOr<LogEvent> Next() {
    std::vector<TopicPartition> lost;
    Group::Changes changes;
    MAYFLY_RETURN_IF_ERROR(process_->Call(LogCall::kPoll, [&] {
      if (!group().Has(name_)) {
        lost = cursors_.partitions();
        for (const TopicPartition& partition : lost) {
          cursors_.Unassign(partition);
        }
        Join();
      }
      changes = group().Sync(name_, broker().now_ms());
      generation_ = *group().GenerationOf(name_);
      return absl::OkStatus();
    }));
    if (!lost.empty()) listener_.OnLost(lost);
    if (!changes.revoked.empty()) GiveUp(changes.revoked);
    if (!changes.assigned.empty()) Take(changes.assigned);
    if (!missing_.ok()) return std::exchange(missing_, absl::OkStatus());
    return broker().Do([&] {
      return cursors_.Next(broker(), [&](const TopicPartition& partition) {
        return Committed(partition);
      });
    });
  }

  void Join() {
    name_ = absl::StrCat("member-", broker().NewId());
    group().Join(name_, options_, broker().now_ms());
    process_->AddMember(options_.group, name_);
    for (const std::string& topic : options_.topics) {
      missing_.Update(broker().FindTopic(topic).status());
    }
    broker().Changed();
  }

  void GiveUp(const std::vector<TopicPartition>& partitions) {
    listener_.OnRevoked(partitions);
    broker().Do([&] {
      for (const TopicPartition& partition : partitions) {
        cursors_.Unassign(partition);
      }
      group().Release(name_, partitions);
      broker().Changed();
    });
  }

  void Take(const std::vector<TopicPartition>& partitions) {
    std::vector<Assignment> assignments;
    assignments.reserve(partitions.size());
    for (const TopicPartition& partition : partitions) {
      assignments.push_back({partition});
    }
    listener_.OnAssigned(assignments);
    broker().Do([&] {
      for (const Assignment& at : assignments) {
        cursors_.Assign(at.partition, at.offset);
      }
    });
  }

  // A transaction that is open may be about to commit another offset.
  std::optional<std::int64_t> Committed(const TopicPartition& partition) {
    if (broker().HasPendingOffset(options_.group, partition)) {
      return std::nullopt;
    }
    const auto& committed = group().committed();
    const auto found = committed.find(partition);
    return found == committed.end() ? kLogStart : found->second;
  }

  const std::shared_ptr<Process> process_;
  const GroupConsumerOptions options_;
  RebalanceListener& listener_;
  Cursors cursors_;
  // What the group calls this member, and when it last polled.
  std::string name_;
  std::int64_t generation_ = 0;
  // A topic that was not there when it joined, to be told of.
  absl::Status missing_;
  bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<GroupConsumer> NewSimulatedGroupConsumer(
    std::shared_ptr<Process> process, GroupConsumerOptions options,
    RebalanceListener& listener) {
  return std::make_unique<Member>(std::move(process), std::move(options),
                                  listener);
}

std::unique_ptr<PartitionReader> NewSimulatedReader(
    std::shared_ptr<Process> process, const PartitionReaderOptions& options) {
  return std::make_unique<Reader>(std::move(process), options.isolation);
}

}  // namespace mayfly::testing_internal
