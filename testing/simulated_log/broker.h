// All brokers of a simulated log in one: what clients call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/log/admin.h"
#include "mayfly/serde/clock.h"
#include "mayfly/testing/simulated_log.h"
#include "testing/simulated_log/group.h"
#include "testing/simulated_log/partition_log.h"
#include "testing/simulated_log/topic_settings.h"
#include "testing/simulated_log/transaction.h"

namespace mayfly::testing_internal {

struct Topic {
  TopicConfig config;
  TopicSettings settings;
  std::vector<PartitionLog> partitions;
};

// Who writes: an idempotent producer, in its transaction if it has an id.
struct Writer {
  std::optional<std::string> transactional_id;
  std::int64_t producer_id = -1;
  std::int64_t epoch = 0;
};

// Threads: any for Call(), Do(), Wait(), version() and Inject(); all else
// within the body of Call() or Do().
class Broker {
 public:
  explicit Broker(std::shared_ptr<const TtlClock> clock)
      : clock_(std::move(clock)) {}

  // Runs `body`, a function of absl::Status, as a call of a client: what is
  // due by the clock has happened, and a fault may keep `body` from being run,
  // or its result from being known.
  template <typename Body>
  absl::Status Call(LogCall call, const Body& body) {
    const std::scoped_lock lock(mutex_);
    CatchUp();
    const std::optional<LogFault> fault = TakeFault(call);
    absl::Status status;
    if (!fault || fault->takes_effect) {
      status = body();
      if (call != LogCall::kPoll) Changed();
    }
    return fault ? FaultStatus(*fault) : status;
  }

  // Runs `body` though it is nobody's call.
  template <typename Body>
  auto Do(const Body& body) {
    const std::scoped_lock lock(mutex_);
    CatchUp();
    return body();
  }

  // There may be something new for those that wait.
  void Changed() {
    ++version_;
    changed_.notify_all();
  }

  // Waits until something has changed since `version` was told, at most so
  // long.
  void Wait(std::int64_t version, std::chrono::milliseconds timeout);
  std::int64_t version() const;

  void Inject(const LogFault& fault);
  // The error of a batch that is to fail, and whether it gets there.
  std::optional<LogFault> TakeFault(LogCall call);
  static absl::Status FaultStatus(const LogFault& fault);

  std::int64_t now_ms() const { return clock_->NowMs(); }
  // A number that nobody has.
  std::int64_t NewId() { return next_id_++; }

  // Topics. Null or kUnknownTopic if there is no such thing.
  absl::Status CreateTopic(const NewTopic& topic);
  absl::Status DeleteTopic(const std::string& name);
  absl::Status AddPartitions(const std::string& name, std::int32_t partitions);
  absl::StatusOr<Topic*> FindTopic(std::string_view name);
  PartitionLog* FindPartition(const TopicPartition& partition);
  absl::StatusOr<PartitionLog*> GetPartition(const TopicPartition& partition);
  void RunCleaner();
  std::string& cluster_id() { return cluster_id_; }

  // Groups. Each is there as soon as it is asked for.
  Group& GetGroup(const std::string& name);
  // Whether an open transaction holds an offset for the partition.
  bool HasPendingOffset(const std::string& group,
                        const TopicPartition& partition) const;

  // Writing.
  // Errors: kRejected, kUnknownTopic, kFenced.
  absl::StatusOr<std::int64_t> Append(const Writer& writer,
                                      const TopicPartition& partition,
                                      std::vector<StoredRecord> records);
  Writer InitTransactions(const std::string& id,
                          std::chrono::milliseconds timeout);
  // Errors: kFenced; kAbortable for a member that is none.
  absl::Status SendOffsets(const Writer& writer, const std::string& group,
                           std::string_view member, std::int64_t generation,
                           std::span<const PartitionOffset> offsets);
  // Errors: kFenced.
  absl::Status EndTransaction(const Writer& writer, BatchKind marker);
  absl::Status CheckEpoch(const Writer& writer) const;

 private:
  void CatchUp();
  void Open(Transaction& transaction);
  void End(Transaction& transaction, BatchKind marker);
  void TellPartitions();
  absl::Status CheckRecords(const TopicSettings& settings,
                            const TopicPartition& partition,
                            const std::vector<StoredRecord>& records) const;

  const std::shared_ptr<const TtlClock> clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t version_ = 0;
  std::int64_t next_id_ = 1;
  std::string cluster_id_ = "simulated-cluster-1";
  std::vector<LogFault> faults_;
  std::map<std::string, Topic, std::less<>> topics_;
  std::map<std::string, Group> groups_;
  std::map<std::string, Transaction> transactions_;
};

}  // namespace mayfly::testing_internal
