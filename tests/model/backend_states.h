// One state of each kind of a backend, as operations use them.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "mayfly/state/keyed_state_backend.h"
#include "tests/model/answer.h"
#include "tests/model/program.h"

namespace mayfly::model_test {

// For what the library returned.
Answer AnswerOf(const absl::Status& status);

class BackendStates {
 public:
  using Backend = KeyedStateBackend<std::string>;

  // `ttl` is for all states; nullopt for none.
  BackendStates(Backend* backend, const std::optional<StateTtlConfig>& ttl)
      : backend_(*backend), ttl_(ttl) {}

  // Nothing if it is registered already. Of what is stored with a TTL, or
  // without, it makes what is asked for.
  absl::Status Register(StateKind state);

  // Runs an operation on the contents of a key of a registered state.
  Answer Run(const Operation& operation);

  // Has the shard look at the clock, as any operation does, and does nothing
  // else; so that what the clock says is seen even if its next move takes it
  // back.
  Answer Look();

 private:
  void SetKey(const std::string& key);

  Answer OnValue(const Operation& operation);
  Answer OnList(const Operation& operation);
  Answer OnMap(const Operation& operation);
  Answer OnReducing(const Operation& operation);
  Answer OnAggregating(const Operation& operation);
  Answer ReadList();
  Answer PutEntries(const Operation& put);
  Answer WalkMap(const Operation& walk);

  Backend& backend_;
  const std::optional<StateTtlConfig> ttl_;
  // The current one, if there is one.
  std::optional<std::string> key_;
  // Null until they are registered.
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
  ReducingState<std::string>* reducing_ = nullptr;
  AggregatingState<std::string, std::string>* aggregating_ = nullptr;
  // Never holds anything: reading it is a look at the clock.
  ValueState<std::string>* probe_ = nullptr;
};

}  // namespace mayfly::model_test
