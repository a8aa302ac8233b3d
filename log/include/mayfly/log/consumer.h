// Reading a log: as a member of a group that shares partitions, or at places
// that the reader says.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/log/record.h"
#include "mayfly/log/topic_partition.h"

namespace mayfly {

enum class IsolationLevel : std::uint8_t {
  // Everything up to the high watermark, of open and aborted transactions too.
  kReadUncommitted = 1,
  // What was committed, up to the last stable offset: where the first
  // transaction begins that is still open.
  kReadCommitted = 2,
};

// All that there is has been read: up to the high watermark, or to the last
// stable offset under kReadCommitted. Comes once at each arrival there.
struct EndOfPartition {
  TopicPartition partition;
  // That of the next record to come. Offsets below it that no record had are
  // past: it goes over markers of transactions and what compaction has removed.
  std::int64_t offset = 0;
};

// Nothing more comes of the partition until Seek(), or until the trouble is
// over; other partitions go on.
struct PartitionError {
  TopicPartition partition;
  // kOffsetOutOfRange, kUnknownTopic, kDenied or kRetriable.
  absl::Status status;
};

// std::monostate: nothing came in the time.
using LogEvent = std::variant<std::monostate, ConsumedRecord, EndOfPartition,
                              PartitionError>;

// What both kinds of consumers can do.
// Threads: all calls from one, which is called the polling thread. Records may
// be passed on to others.
class LogConsumer {
 public:
  virtual ~LogConsumer() = default;

  // The next event; waits for one if there is none. Records of a partition come
  // in the order of their offsets.
  // Errors: kRetriable when no broker is to be reached, also of many calls in a
  // row; kUnknownTopic once if a topic of the group is not there, which is
  // taken when it is; kDenied; kFatal.
  virtual absl::StatusOr<LogEvent> Poll(std::chrono::milliseconds timeout) = 0;

  // Nothing of these partitions comes until Resume(), which goes on where they
  // stopped. Neither does anything to a partition that is in that state already
  // or that is not assigned. A partition that comes anew is not paused.
  // Errors: kFatal.
  virtual absl::Status Pause(std::span<const TopicPartition> partitions) = 0;
  virtual absl::Status Resume(std::span<const TopicPartition> partitions) = 0;

  // The next record of the partition is the first one at that offset or after
  // it; a paused partition stays so.
  // Errors: kUnknownTopic if the partition is not assigned; kRetriable; kFatal.
  virtual absl::Status Seek(const PartitionOffset& offset) = 0;
};

// Reads partitions from offsets that its owner gives, in no group and without
// ever committing: for restores and copies.
class PartitionReader : public LogConsumer {
 public:
  // Adds partitions; of those that it has already it is a Seek().
  // Errors: kFatal.
  virtual absl::Status Assign(std::span<const PartitionOffset> partitions) = 0;

  // Takes them away. Nothing of them comes any more.
  // Errors: kFatal.
  virtual absl::Status Unassign(std::span<const TopicPartition> partitions) = 0;
};

// A partition that the group gives to a member.
struct Assignment {
  TopicPartition partition;
  // Where reading starts; nullopt: where the group has committed, or at the
  // start of the log if it has committed nothing.
  std::optional<std::int64_t> offset = std::nullopt;
};

// What a member of a group is told. Only partitions that come or go are named;
// all others go on meanwhile (cooperative rebalance).
// Threads: the polling thread, within Poll() and Close(). The consumer's
// Commit(), Pause() and metadata() may be called from within, not Poll().
class RebalanceListener {
 public:
  virtual ~RebalanceListener() = default;

  // These are now the member's. Set where to start, if it is not where the
  // group has committed.
  virtual void OnAssigned(std::span<Assignment> partitions) = 0;

  // These go to somebody else when this returns: finish, and commit.
  virtual void OnRevoked(std::span<const TopicPartition> partitions) = 0;

  // These have been somebody else's for a while: commit and write nothing for
  // them.
  virtual void OnLost(std::span<const TopicPartition> partitions) = 0;
};

// A member of a group as of now, for Producer::SendOffsets(). Opaque.
struct GroupMetadata {
  std::string bytes;
};

// A member of a consumer group, from when it is made until it is closed.
class GroupConsumer : public LogConsumer {
 public:
  // Commits offsets for the group and waits for the answer.
  // Errors: kFenced if the group does not count the member any more: OnLost()
  // comes, or has come; kRetriable; kFatal.
  virtual absl::Status Commit(std::span<const PartitionOffset> offsets) = 0;

  // Threads: as all; what it returns may go to the thread of a producer. Take
  // it anew for each transaction, since a rebalance changes it.
  // Errors: kRetriable while it is no member of the group, before its first
  // assignment or since it has lost its partitions: Poll(); kFatal.
  virtual absl::StatusOr<GroupMetadata> metadata() const = 0;

  // Gives the partitions back, with OnRevoked(), and leaves the group, so that
  // others get them at once. After it only the destructor may be called, which
  // calls it if nobody has.
  // Errors: kRetriable if the group did not answer in time: it will find out
  // by the session's timeout.
  virtual absl::Status Close() = 0;
};

struct GroupConsumerOptions {
  std::string group;
  std::vector<std::string> topics;

  // A member that comes back under the same id within the session's timeout
  // gets its partitions back without a rebalance. nullopt: it is a new member.
  std::optional<std::string> instance_id = std::nullopt;

  IsolationLevel isolation = IsolationLevel::kReadCommitted;

  // A member that is not heard of for so long is taken for dead.
  std::chrono::milliseconds session_timeout{45'000};

  // One that does not Poll() for so long loses its partitions.
  std::chrono::milliseconds poll_interval_max{300'000};

  // What is fetched ahead and waits for Poll().  Unit: bytes.
  std::size_t prefetch_bytes_max = std::size_t{64} << 20;
};

// What every implementation refuses.
// Errors: kRejected naming what is missing.
absl::Status Validate(const GroupConsumerOptions& options);

struct PartitionReaderOptions {
  IsolationLevel isolation = IsolationLevel::kReadCommitted;

  // What is fetched ahead and waits for Poll().  Unit: bytes.
  std::size_t prefetch_bytes_max = std::size_t{64} << 20;
};

}  // namespace mayfly
