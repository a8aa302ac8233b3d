#include "testing/simulated_log/group.h"

#include <algorithm>
#include <utility>

namespace mayfly::testing_internal {

void Group::Join(const std::string& member, const GroupConsumerOptions& options,
                 std::int64_t now_ms) {
  const auto same_instance =
      std::find_if(members_.begin(), members_.end(), [&](const auto& other) {
        return options.instance_id &&
               other.second.instance_id == options.instance_id;
      });
  if (same_instance != members_.end()) {
    for (auto& [partition, target] : targets_) {
      if (target == same_instance->first) target = member;
    }
    std::erase_if(owners_, [&](const auto& owner) {
      return owner.second == same_instance->first;
    });
    members_.erase(same_instance);
  }
  members_[member] = {
      .topics = {options.topics.begin(), options.topics.end()},
      .instance_id = options.instance_id,
      .session_timeout = options.session_timeout,
      .poll_interval_max = options.poll_interval_max,
      .polled_ms = now_ms,
      .generation = generation_,
      .silent_since_ms = std::nullopt,
  };
  Balance();
}

void Group::Leave(const std::string& member) {
  Remove(member);
  Balance();
}

void Group::FallSilent(const std::string& member, std::int64_t now_ms) {
  const auto found = members_.find(member);
  if (found != members_.end()) found->second.silent_since_ms = now_ms;
}

void Group::Expire(std::int64_t now_ms) {
  std::vector<std::string> expired;
  for (const auto& [name, member] : members_) {
    const bool dead =
        member.silent_since_ms
            ? now_ms - *member.silent_since_ms > member.session_timeout.count()
            : now_ms - member.polled_ms > member.poll_interval_max.count();
    if (dead) expired.push_back(name);
  }
  for (const std::string& name : expired) Leave(name);
}

std::optional<std::int64_t> Group::GenerationOf(
    const std::string& member) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return std::nullopt;
  return found->second.generation;
}

Group::Changes Group::Sync(const std::string& member, std::int64_t now_ms) {
  members_.at(member).polled_ms = now_ms;
  members_.at(member).generation = generation_;
  Changes changes;
  for (const auto& [partition, owner] : owners_) {
    if (owner != member) continue;
    const auto target = targets_.find(partition);
    if (target == targets_.end() || target->second != member) {
      changes.revoked.push_back(partition);
    }
  }
  for (const auto& [partition, target] : targets_) {
    if (target != member || owners_.contains(partition)) continue;
    owners_[partition] = member;
    changes.assigned.push_back(partition);
  }
  return changes;
}

void Group::Release(const std::string& member,
                    const std::vector<TopicPartition>& partitions) {
  for (const TopicPartition& partition : partitions) {
    const auto owner = owners_.find(partition);
    if (owner != owners_.end() && owner->second == member) owners_.erase(owner);
  }
}

void Group::SetPartitions(const std::set<TopicPartition>& partitions) {
  if (partitions == partitions_) return;
  partitions_ = partitions;
  Balance();
}

void Group::Remove(const std::string& member) {
  const auto is_of_member = [&](const auto& of) { return of.second == member; };
  std::erase_if(targets_, is_of_member);
  std::erase_if(owners_, is_of_member);
  members_.erase(member);
}

std::vector<std::string> Group::TakersOf(
    const TopicPartition& partition) const {
  std::vector<std::string> takers;
  for (const auto& [name, member] : members_) {
    if (member.topics.contains(partition.topic)) takers.push_back(name);
  }
  return takers;
}

std::int64_t Group::TargetsOf(const std::string& member) const {
  return std::count_if(
      targets_.begin(), targets_.end(),
      [&](const auto& target) { return target.second == member; });
}

void Group::Balance() {
  ++generation_;
  std::erase_if(targets_, [&](const auto& target) {
    return !partitions_.contains(target.first);
  });
  const auto fewer = [&](const std::string& a, const std::string& b) {
    return TargetsOf(a) < TargetsOf(b);
  };
  for (const TopicPartition& partition : partitions_) {
    const std::vector<std::string> takers = TakersOf(partition);
    if (takers.empty()) continue;
    const std::string& least =
        *std::min_element(takers.begin(), takers.end(), fewer);
    const auto [target, is_new] = targets_.try_emplace(partition, least);
    // Only where it makes the two more equal: else everything stays.
    if (!is_new && TargetsOf(target->second) > TargetsOf(least) + 1) {
      target->second = least;
    }
  }
}

}  // namespace mayfly::testing_internal
