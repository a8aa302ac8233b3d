// Where a consumer is in each of its partitions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "mayfly/log/consumer.h"
#include "testing/simulated_log/broker.h"

namespace mayfly::testing_internal {

// Threads: one at a time, within a Call() of the broker.
// Aborts when it goes before a record that it has given out: with Kafka that
// would hang or crash.
class Cursors {
 public:
  explicit Cursors(IsolationLevel isolation) : isolation_(isolation) {}
  Cursors(const Cursors&) = delete;
  Cursors& operator=(const Cursors&) = delete;
  ~Cursors();

  // `offset` as PartitionOffset has it; nullopt: as `Committed` will say.
  void Assign(const TopicPartition& partition,
              std::optional<std::int64_t> offset);
  void Unassign(const TopicPartition& partition);
  void Pause(std::span<const TopicPartition> partitions, bool paused);
  absl::Status Seek(const PartitionOffset& offset);

  std::vector<TopicPartition> partitions() const;

  // Where the group has committed of a partition; nullopt: that cannot be said
  // yet.
  using Committed =
      std::function<std::optional<std::int64_t>(const TopicPartition&)>;

  // The next event; partitions take turns.
  LogEvent Next(Broker& broker, const Committed& committed);

 private:
  struct Cursor {
    std::optional<std::int64_t> position;
    bool is_paused = false;
    // Nothing comes until the next Seek().
    bool has_failed = false;
    // The end that was told of.
    std::optional<std::int64_t> end_told;
  };

  LogEvent NextOf(const TopicPartition& partition, Cursor& cursor,
                  Broker& broker, const Committed& committed);
  ConsumedRecord Give(const TopicPartition& partition,
                      const StoredRecord& record);

  const IsolationLevel isolation_;
  std::map<TopicPartition, Cursor> cursors_;
  std::optional<TopicPartition> last_served_;
  const std::shared_ptr<std::atomic<int>> given_out_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace mayfly::testing_internal
