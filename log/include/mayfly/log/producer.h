// Writing to a log, in transactions or without.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mayfly/log/consumer.h"
#include "mayfly/log/record.h"
#include "mayfly/log/topic_partition.h"

namespace mayfly {

// What became of a record.
struct Delivery {
  // As it was given to Produce().
  std::uint64_t tag = 0;
  // OK: the broker has it, on as many replicas as the topic asks for.
  // kRejected, kUnknownTopic, kDenied: it will never have it. kRetriable: it
  // was not heard of in time, and may be there or not. kAbortable: the
  // transaction was aborted. kFenced, kFatal: as for Produce().
  absl::Status status;
  // Lifetime: of the call.
  std::string_view topic;
  std::int32_t partition = 0;
  // Where it is in the log; -1 if it is not there, or if nobody knows.
  std::int64_t offset = -1;
};

// Always idempotent: records of a partition are in the log in the order in
// which they were produced, and once each, however often the network fails.
// Threads: Produce() on any; all others on one at a time, where the handler of
// deliveries is called too. Records that are still on their way when a producer
// goes are lost or not.
class LogProducer {
 public:
  virtual ~LogProducer() = default;

  // Takes a record; what becomes of it is told to the handler of deliveries,
  // with `tag`.
  // Errors: kQueueFull: Poll(), and again; kRejected: it is too large, or has
  // no timestamp, or there is no transaction to produce it in; kUnknownTopic;
  // kAbortable; kFenced; kFatal. The handler is not called then.
  virtual absl::Status Produce(const ProducerRecord& record,
                               std::uint64_t tag) = 0;

  // Has deliveries handled; waits for one if there is none.
  // Errors: kDenied; kFenced; kFatal.
  virtual absl::Status Poll(std::chrono::milliseconds timeout) = 0;

  // Returns when all that was produced has been delivered or has failed, with
  // the handler having been told.
  // Errors: kRetriable if the time was not enough; as Poll().
  virtual absl::Status Flush(std::chrono::milliseconds timeout) = 0;

  // The rest is for a producer with a transactional id.

  // Takes over the id: whoever had it is fenced, and its open transaction
  // aborted. Called first, and once.
  // Errors: kRetriable; kFenced; kDenied; kFatal.
  virtual absl::Status InitTransactions(std::chrono::milliseconds timeout) = 0;

  // All that is produced from now on is in the transaction.
  // Errors: kFenced; kFatal.
  virtual absl::Status BeginTransaction() = 0;

  // Commits offsets of a group with the transaction. No offset of a member that
  // the group does not count any more gets through.
  // Errors: kRetriable; kAbortable, also for a member of the past; kFenced;
  // kFatal.
  virtual absl::Status SendOffsets(std::span<const PartitionOffset> offsets,
                                   const GroupMetadata& group,
                                   std::chrono::milliseconds timeout) = 0;

  // Delivers what is on its way, and commits. OK: nothing can undo it any more.
  // Readers of what is committed see it, and its offsets, when the brokers have
  // written their markers, a moment later.
  // Errors: kRetriable: whether it was committed is not known until the same
  // call says; kAbortable: not committed; kFenced; kFatal: not known.
  virtual absl::Status CommitTransaction(std::chrono::milliseconds timeout) = 0;

  // Drops what is on its way, and aborts.
  // Errors: kRetriable; kFenced; kFatal.
  virtual absl::Status AbortTransaction(std::chrono::milliseconds timeout) = 0;
};

enum class Compression : std::uint8_t {
  kNone = 0,
  kLz4 = 1,
  kZstd = 2,
};

struct ProducerOptions {
  // Told what becomes of each record. Must not be null.
  std::function<void(const Delivery&)> on_delivery;

  // The same in each life of a process that is to be fenced by its next one.
  // nullopt: no transactions.
  std::optional<std::string> transactional_id = std::nullopt;

  // The broker aborts a transaction that is open for longer.
  std::chrono::milliseconds transaction_timeout{60'000};

  // A record that was not delivered in so long has failed.
  std::chrono::milliseconds delivery_timeout{120'000};

  // How long a record may wait for others to go with it.
  std::chrono::milliseconds linger{5};

  // What may be on its way, before Produce() says kQueueFull.  Unit: bytes.
  std::size_t queue_bytes_max = std::size_t{64} << 20;

  Compression compression = Compression::kLz4;
};

// What every implementation refuses.
// Errors: kRejected naming what is missing.
absl::Status Validate(const ProducerOptions& options);

}  // namespace mayfly
