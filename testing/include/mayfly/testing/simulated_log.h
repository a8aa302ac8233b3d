// A log such as Kafka's in memory, without threads, on a clock that a test
// sets: for tests of everything that reads and writes topics.
//
//   auto clock = std::make_shared<mayfly::ManualClock>(1'700'000'000'000);
//   mayfly::SimulatedLog log(clock);
//   ASSERT_THAT(log.CreateTopic({.name = "flights", .partitions = 6}), IsOk());
//   std::unique_ptr<mayfly::SimulatedClient> process = log.NewClient();
//   auto producer = process->NewProducer({.on_delivery = [](auto&) {}});
//   ...
//   log.Inject({.call = mayfly::LogCall::kCommitTransaction,
//               .error = mayfly::LogError::kRetriable,
//               .takes_effect = true});
//   process->Crash();
//
// Nothing happens by itself: what is produced is sent when the producer is
// polled, flushed or commits, one batch a partition; members of a group learn
// of changes when they poll; RunCleaner() is one round of the brokers' cleaner.
// Transactions time out, and members that do not poll are put out, when the
// clock has passed their time and anybody makes a call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/log/admin.h"
#include "mayfly/log/log_client.h"
#include "mayfly/log/log_error.h"
#include "mayfly/log/topic_partition.h"
#include "mayfly/serde/clock.h"

namespace mayfly {

namespace testing_internal {
class Broker;
}  // namespace testing_internal

// The calls that can be made to fail.
enum class LogCall : std::uint8_t {
  kPoll = 1,  // Of a consumer.
  kSeek,
  kCommit,
  kClose,
  kProduce,
  kProducerPoll,  // Poll() and Flush() of a producer.
  kDeliver,       // A batch on its way to the broker: its deliveries fail.
  kInitTransactions,
  kBeginTransaction,
  kSendOffsets,
  kCommitTransaction,
  kAbortTransaction,
  kClusterId,
  kCreateTopic,
  kPartitionCount,
  kDescribeConfig,
  kWatermarks,
  kCommittedOffsets,
  kDeleteRecords,
};

// Something that goes wrong.
struct LogFault {
  LogCall call = LogCall::kPoll;
  LogError error = LogError::kRetriable;
  // So many calls go well before.
  int after = 0;
  // And so many fail.
  int times = 1;
  // The call does what it is for, but its caller gets the error: an answer that
  // was lost on its way.
  bool takes_effect = false;
};

// What is in a partition at an offset, whoever may see it.
struct SimulatedEntry {
  enum class Kind : std::uint8_t {
    kRecord = 1,
    kCommitMarker,
    kAbortMarker,
    // The last offset of a batch of which nothing else is left.
    kEmptyBatch,
  };

  Kind kind = Kind::kRecord;
  std::int64_t offset = 0;
  std::optional<std::string> key = std::nullopt;
  std::optional<std::string> value = std::nullopt;

  friend bool operator==(const SimulatedEntry&,
                         const SimulatedEntry&) = default;
};

// The clients of one process, which may die.
// Threads: any.
// Lifetime: may outlive its log.
class SimulatedClient : public LogClient {
 public:
  // All that this client has made is dead, as after kill -9: each call gives
  // kFatal, nobody has left a group or aborted a transaction, and the log finds
  // out by its timeouts. Does not take effect within a call of a listener.
  virtual void Crash() = 0;
};

// Threads: any. A consumer's Poll() that has nothing to give waits for at most
// its timeout of real time; give it 0 in tests of one thread.
class SimulatedLog {
 public:
  // Time is that of `clock`; null is not allowed.
  explicit SimulatedLog(std::shared_ptr<const TtlClock> clock);
  SimulatedLog(const SimulatedLog&) = delete;
  SimulatedLog& operator=(const SimulatedLog&) = delete;
  ~SimulatedLog();

  std::unique_ptr<SimulatedClient> NewClient();

  // Errors: as LogAdmin::CreateTopic().
  absl::Status CreateTopic(const NewTopic& topic);

  // With what groups have committed for it. A topic that is created under the
  // same name later has nothing to do with it, and offsets from 0 on.
  // Errors: kUnknownTopic.
  absl::Status DeleteTopic(const std::string& name);

  // Errors: kUnknownTopic; kRejected if there are as many already.
  absl::Status AddPartitions(const std::string& topic, std::int32_t partitions);

  // From now on this is said to be another cluster.
  void SetClusterId(std::string id);

  // One round of compaction and of retention over all partitions.
  void RunCleaner();

  void Inject(const LogFault& fault);

  // All that a partition holds, in the order of offsets.
  // Errors: kUnknownTopic.
  absl::StatusOr<std::vector<SimulatedEntry>> Entries(
      const TopicPartition& partition) const;

 private:
  const std::shared_ptr<testing_internal::Broker> broker_;
};

}  // namespace mayfly
