// A consumer group, as its coordinator sees it: who is in it, which partition
// is whose, and what has been committed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mayfly/log/consumer.h"
#include "mayfly/log/topic_partition.h"

namespace mayfly::testing_internal {

// Assignment is sticky and cooperative: a partition goes to a new owner when
// the old one has given it up, and all others stay where they are.
// Threads: one at a time.
class Group {
 public:
  struct Changes {
    std::vector<TopicPartition> revoked;
    std::vector<TopicPartition> assigned;
  };

  // Takes in a member; one of the same instance id gives its place to it.
  void Join(const std::string& member, const GroupConsumerOptions& options,
            std::int64_t now_ms);

  // The member gives up all it has, and is no member any more.
  void Leave(const std::string& member);

  // The member is not there any more, though nobody has said so: the group
  // finds out by the session's timeout.
  void FallSilent(const std::string& member, std::int64_t now_ms);

  // Puts out members that have not polled, or not been heard of, for too long.
  void Expire(std::int64_t now_ms);

  bool Has(const std::string& member) const {
    return members_.contains(member);
  }

  // What a member must name to commit in a transaction: the generation of the
  // group when it last polled. nullopt: it is no member.
  std::optional<std::int64_t> GenerationOf(const std::string& member) const;

  // What changes for a member that polls. What is assigned is the member's at
  // once; what is revoked stays so until Release().
  // Requires: Has(member).
  Changes Sync(const std::string& member, std::int64_t now_ms);
  void Release(const std::string& member,
               const std::vector<TopicPartition>& partitions);

  // Says what partitions there are.
  void SetPartitions(const std::set<TopicPartition>& partitions);

  std::map<TopicPartition, std::int64_t>& committed() { return committed_; }

 private:
  struct Member {
    std::set<std::string> topics;
    std::optional<std::string> instance_id;
    std::chrono::milliseconds session_timeout{};
    std::chrono::milliseconds poll_interval_max{};
    std::int64_t polled_ms = 0;
    std::int64_t generation = 0;
    std::optional<std::int64_t> silent_since_ms;
  };

  void Remove(const std::string& member);
  // Decides anew what is to be whose.
  void Balance();
  std::vector<std::string> TakersOf(const TopicPartition& partition) const;
  std::int64_t TargetsOf(const std::string& member) const;

  // Rises with each change of members or partitions.
  std::int64_t generation_ = 0;
  std::set<TopicPartition> partitions_;
  std::map<std::string, Member> members_;
  // Whose a partition is to be, and whose it is.
  std::map<TopicPartition, std::string> targets_;
  std::map<TopicPartition, std::string> owners_;
  std::map<TopicPartition, std::int64_t> committed_;
};

}  // namespace mayfly::testing_internal
