// What producers call.
#include <limits>
#include <map>
#include <span>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"
#include "mayfly/serde/status_macros.h"
#include "testing/simulated_log/broker.h"

namespace mayfly::testing_internal {

bool Broker::HasPendingOffset(const std::string& group,
                              const TopicPartition& partition) const {
  for (const auto& [id, transaction] : transactions_) {
    const auto offsets = transaction.offsets.find(group);
    if (offsets != transaction.offsets.end() &&
        offsets->second.contains(partition)) {
      return true;
    }
  }
  return false;
}

absl::Status Broker::CheckRecords(
    const TopicSettings& settings, const TopicPartition& partition,
    const std::vector<StoredRecord>& records) const {
  const auto rejected = [&](std::string_view why) {
    return MakeLogError(LogError::kRejected,
                        absl::StrCat(partition.ToString(), " takes no record ",
                                     std::string(why)));
  };
  for (const StoredRecord& record : records) {
    if (settings.compact && !record.key) {
      return rejected("without a key: it is compacted");
    }
    if (record.bytes() > static_cast<std::size_t>(settings.max_message_bytes)) {
      return rejected("larger than max.message.bytes");
    }
    if (settings.timestamp_after_max_ms <
            std::numeric_limits<std::int64_t>::max() &&
        record.timestamp_ms > now_ms() + settings.timestamp_after_max_ms) {
      return rejected("from the future: message.timestamp.after.max.ms");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> Broker::Append(const Writer& writer,
                                            const TopicPartition& partition,
                                            std::vector<StoredRecord> records) {
  MAYFLY_RETURN_IF_ERROR(CheckEpoch(writer));
  MAYFLY_ASSIGN_OR_RETURN(PartitionLog* const log, GetPartition(partition));
  const TopicSettings& settings =
      topics_.find(partition.topic)->second.settings;
  MAYFLY_RETURN_IF_ERROR(CheckRecords(settings, partition, records));
  if (writer.transactional_id) {
    Transaction& transaction = transactions_[*writer.transactional_id];
    Open(transaction);
    transaction.partitions.insert(partition);
  }
  const std::int64_t offset = log->high();
  log->Append(std::move(records), writer.producer_id,
              writer.transactional_id.has_value(), settings);
  return offset;
}

Writer Broker::InitTransactions(const std::string& id,
                                std::chrono::milliseconds timeout) {
  const auto [found, is_new] = transactions_.try_emplace(id);
  Transaction& transaction = found->second;
  if (is_new) {
    transaction.producer_id = NewId();
  } else {
    End(transaction, BatchKind::kAbortMarker);
    ++transaction.epoch;
  }
  transaction.timeout = timeout;
  return {id, transaction.producer_id, transaction.epoch};
}

absl::Status Broker::CheckEpoch(const Writer& writer) const {
  if (!writer.transactional_id) return absl::OkStatus();
  const auto found = transactions_.find(*writer.transactional_id);
  if (found != transactions_.end() && found->second.epoch == writer.epoch) {
    return absl::OkStatus();
  }
  return MakeLogError(
      LogError::kFenced,
      absl::StrCat("a newer producer has taken over the transactional id '",
                   *writer.transactional_id,
                   "', or its transaction has timed out"));
}

absl::Status Broker::SendOffsets(const Writer& writer, const std::string& group,
                                 std::string_view member,
                                 std::int64_t generation,
                                 std::span<const PartitionOffset> offsets) {
  MAYFLY_RETURN_IF_ERROR(CheckEpoch(writer));
  if (GetGroup(group).GenerationOf(std::string(member)) != generation) {
    return MakeLogError(
        LogError::kAbortable,
        absl::StrCat("group '", group, "' has changed since generation ",
                     generation, ": abort, and poll the consumer"));
  }
  Transaction& transaction = transactions_[*writer.transactional_id];
  Open(transaction);
  for (const PartitionOffset& offset : offsets) {
    transaction.offsets[group][offset.partition] = offset.offset;
  }
  return absl::OkStatus();
}

absl::Status Broker::EndTransaction(const Writer& writer, BatchKind marker) {
  MAYFLY_RETURN_IF_ERROR(CheckEpoch(writer));
  End(transactions_[*writer.transactional_id], marker);
  return absl::OkStatus();
}

void Broker::Open(Transaction& transaction) {
  if (transaction.is_open) return;
  transaction.is_open = true;
  transaction.began_ms = now_ms();
}

void Broker::End(Transaction& transaction, BatchKind marker) {
  for (const TopicPartition& partition : transaction.partitions) {
    if (PartitionLog* const log = FindPartition(partition); log != nullptr) {
      log->AppendMarker(marker, transaction.producer_id, now_ms(),
                        topics_.find(partition.topic)->second.settings);
    }
  }
  if (marker == BatchKind::kCommitMarker) {
    for (const auto& [group, offsets] : transaction.offsets) {
      for (const auto& [partition, offset] : offsets) {
        GetGroup(group).committed()[partition] = offset;
      }
    }
  }
  transaction.is_open = false;
  transaction.partitions.clear();
  transaction.offsets.clear();
}

}  // namespace mayfly::testing_internal
