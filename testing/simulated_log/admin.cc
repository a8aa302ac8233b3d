#include "mayfly/log/admin.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/clients.h"

namespace mayfly::testing_internal {
namespace {

class Admin final : public LogAdmin {
 public:
  explicit Admin(std::shared_ptr<Process> process)
      : process_(std::move(process)) {}

  absl::StatusOr<std::string> ClusterId() override {
    std::string id;
    MAYFLY_RETURN_IF_ERROR(process_->Call(LogCall::kClusterId, [&] {
      id = broker().cluster_id();
      return absl::OkStatus();
    }));
    return id;
  }

  absl::Status CreateTopic(const NewTopic& topic) override {
    return process_->Call(LogCall::kCreateTopic,
                          [&] { return broker().CreateTopic(topic); });
  }

  absl::StatusOr<std::int32_t> PartitionCount(
      const std::string& topic) override {
    std::int32_t count = 0;
    MAYFLY_RETURN_IF_ERROR(
        process_->Call(LogCall::kPartitionCount, [&]() -> absl::Status {
          MAYFLY_ASSIGN_OR_RETURN(const Topic* const found,
                                  broker().FindTopic(topic));
          count = static_cast<std::int32_t>(found->partitions.size());
          return absl::OkStatus();
        }));
    return count;
  }

  absl::StatusOr<TopicConfig> DescribeConfig(
      const std::string& topic) override {
    TopicConfig config;
    MAYFLY_RETURN_IF_ERROR(
        process_->Call(LogCall::kDescribeConfig, [&]() -> absl::Status {
          MAYFLY_ASSIGN_OR_RETURN(const Topic* const found,
                                  broker().FindTopic(topic));
          config = found->config;
          return absl::OkStatus();
        }));
    return config;
  }

  absl::StatusOr<WatermarkOffsets> Watermarks(
      const TopicPartition& partition) override {
    WatermarkOffsets watermarks;
    MAYFLY_RETURN_IF_ERROR(
        process_->Call(LogCall::kWatermarks, [&]() -> absl::Status {
          MAYFLY_ASSIGN_OR_RETURN(const PartitionLog* const log,
                                  broker().GetPartition(partition));
          watermarks = {log->low(), log->high(), log->last_stable()};
          return absl::OkStatus();
        }));
    return watermarks;
  }

  absl::StatusOr<std::vector<PartitionOffset>> CommittedOffsets(
      const std::string& group,
      std::span<const TopicPartition> partitions) override {
    std::vector<PartitionOffset> offsets;
    MAYFLY_RETURN_IF_ERROR(process_->Call(LogCall::kCommittedOffsets, [&] {
      const auto& committed = broker().GetGroup(group).committed();
      for (const TopicPartition& partition : partitions) {
        if (broker().HasPendingOffset(group, partition)) {
          return MakeLogError(
              LogError::kRetriable,
              absl::StrCat("an open transaction holds an offset of ",
                           partition.ToString()));
        }
        const auto found = committed.find(partition);
        if (found != committed.end()) {
          offsets.push_back({found->first, found->second});
        }
      }
      return absl::OkStatus();
    }));
    return offsets;
  }

  absl::Status DeleteRecords(
      std::span<const PartitionOffset> offsets) override {
    return process_->Call(LogCall::kDeleteRecords, [&]() -> absl::Status {
      for (const PartitionOffset& at : offsets) {
        MAYFLY_RETURN_IF_ERROR(Delete(at));
      }
      return absl::OkStatus();
    });
  }

 private:
  Broker& broker() { return process_->broker(); }

  absl::Status Delete(const PartitionOffset& at) {
    MAYFLY_ASSIGN_OR_RETURN(PartitionLog* const log,
                            broker().GetPartition(at.partition));
    MAYFLY_ASSIGN_OR_RETURN(const Topic* const topic,
                            broker().FindTopic(at.partition.topic));
    if (!topic->settings.remove) {
      return MakeLogError(
          LogError::kRejected,
          absl::StrCat("nothing can be deleted from ", at.partition.ToString(),
                       ": its cleanup.policy is without delete"));
    }
    if (at.offset > log->high()) {
      return MakeLogError(LogError::kOffsetOutOfRange,
                          absl::StrCat(at.partition.ToString(), " ends at ",
                                       log->high(), ", before ", at.offset));
    }
    if (at.offset > log->low()) log->RemoveBelow(at.offset);
    return absl::OkStatus();
  }

  const std::shared_ptr<Process> process_;
};

}  // namespace

std::unique_ptr<LogAdmin> NewSimulatedAdmin(std::shared_ptr<Process> process) {
  return std::make_unique<Admin>(std::move(process));
}

}  // namespace mayfly::testing_internal
