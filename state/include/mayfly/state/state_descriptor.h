// What a job author says about a state: its name, its types and its TTL.
//
//   ValueStateDescriptor<std::int64_t> streak("streak");
//   streak.EnableTimeToLive(ttl);
//   MAYFLY_ASSIGN_OR_RETURN(streak_, context.GetState(streak));
//
// A descriptor has no default value: absent or expired is reported as absent.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mayfly/serde/serializer.h"
#include "mayfly/state/internal/key_type.h"
#include "mayfly/state/ttl_config.h"

namespace mayfly {

// What descriptors of all kinds have in common.
// Threads: a plain value; copy freely.
class StateDescriptor {
 public:
  // Unique within a job; it names the state's column family and its changelog.
  const std::string& name() const { return name_; }

  // Gives the state a TTL. A config whose update type is kDisabled leaves it
  // without one.
  // Source: Flink StateDescriptor.enableTimeToLive.
  void EnableTimeToLive(const StateTtlConfig& ttl) {
    ttl_.reset();
    if (ttl.enabled()) ttl_ = ttl;
  }

  // The TTL, nullopt if the state has none.
  const std::optional<StateTtlConfig>& ttl() const { return ttl_; }

  // Allows a state that is stored without a TTL to be given one, and the other
  // way round. Its entries are rewritten when it is registered: each is stamped
  // with the time of that, or loses its timestamp, and those that had expired
  // are dropped. With the next commit it is as if it had always been so; until
  // then the old form is kept, and a start that does not get there changes
  // nothing. Without this, registering such a state fails. A state that is
  // stored as it is asked for takes no notice, so that the call may stay.
  void AllowTtlMigration() { ttl_migration_allowed_ = true; }
  bool ttl_migration_allowed() const { return ttl_migration_allowed_; }

 protected:
  explicit StateDescriptor(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
  std::optional<StateTtlConfig> ttl_;
  bool ttl_migration_allowed_ = false;
};

// One value per key.
template <Serializable T>
class ValueStateDescriptor : public StateDescriptor {
 public:
  explicit ValueStateDescriptor(std::string name)
      : StateDescriptor(std::move(name)) {}
};

// One value per key into which others are folded.
template <Serializable T>
class ReducingStateDescriptor : public StateDescriptor {
 public:
  // Makes one value of what there is and what is added.
  using ReduceFunction = std::function<T(const T& accumulated, const T& value)>;

  ReducingStateDescriptor(std::string name, ReduceFunction reduce)
      : StateDescriptor(std::move(name)), reduce_(std::move(reduce)) {}

  const ReduceFunction& reduce() const { return reduce_; }

 private:
  ReduceFunction reduce_;
};

// How values are aggregated. Functions of states that live in several shards
// are called on all of their threads, at once.
// Source: Flink AggregateFunction.
template <typename In, typename Acc, typename Out>
struct AggregateFunction {
  // The accumulator of a key to which nothing has been added yet.
  std::function<Acc()> create_accumulator = [] { return Acc{}; };
  std::function<void(const In& value, Acc& accumulator)> add;
  std::function<Out(const Acc& accumulator)> get_result;
};

// One accumulator per key; only that is stored.
template <typename In, Serializable Acc, typename Out>
class AggregatingStateDescriptor : public StateDescriptor {
 public:
  using Function = AggregateFunction<In, Acc, Out>;

  AggregatingStateDescriptor(std::string name, Function function)
      : StateDescriptor(std::move(name)), function_(std::move(function)) {}

  const Function& function() const { return function_; }

 private:
  Function function_;
};

// A list per key; each element expires by itself.
template <Serializable T>
class ListStateDescriptor : public StateDescriptor {
 public:
  explicit ListStateDescriptor(std::string name)
      : StateDescriptor(std::move(name)) {}
};

// A map per key; each entry expires by itself.
template <Serializable UK, Serializable UV>
class MapStateDescriptor : public StateDescriptor,
                           state_internal::RequireKeyType<UK> {
 public:
  explicit MapStateDescriptor(std::string name)
      : StateDescriptor(std::move(name)) {}
};

}  // namespace mayfly
