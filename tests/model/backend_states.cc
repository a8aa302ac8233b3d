#include "tests/model/backend_states.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "mayfly/serde/status_macros.h"

namespace mayfly::model_test {
namespace {

// Of what may be null or nullopt.
template <typename Pointer>
Answer AnswerOfRead(const absl::StatusOr<Pointer>& read, int key = 0) {
  Answer answer = AnswerOf(read.status());
  if (read.ok() && *read) answer.items.push_back({key, **read});
  return answer;
}

std::vector<std::string> TextsOf(const Operation& write) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(write.count));
  for (int i = 0; i < write.count; ++i) texts.push_back(TextOf(write, i));
  return texts;
}

// Calls `write` with the TTL that an operation gives, if any.
template <typename Write>
absl::Status WithTtl(const Operation& operation, const Write& write) {
  return operation.ms == 0 ? write()
                           : write(std::chrono::milliseconds(operation.ms));
}

// The state of a descriptor.
template <typename State, typename Descriptor>
absl::Status Get(KeyedStateBackend<std::string>& backend,
                 const std::optional<StateTtlConfig>& ttl,
                 Descriptor descriptor, State*& state) {
  if (ttl) descriptor.EnableTimeToLive(*ttl);
  descriptor.AllowTtlMigration();
  MAYFLY_ASSIGN_OR_RETURN(state, backend.GetState(descriptor));
  return absl::OkStatus();
}

AggregatingStateDescriptor<std::string, std::string, std::string>
AggregatingDescriptor() {
  AggregateFunction<std::string, std::string, std::string> function;
  function.create_accumulator = [] { return std::string(kEmptyAccumulator); };
  function.add = [](const std::string& text, std::string& accumulator) {
    accumulator = Fold(accumulator, text);
  };
  function.get_result = [](const std::string& accumulator) {
    return kResultPrefix + accumulator;
  };
  return {"aggregating", function};
}

}  // namespace

Answer AnswerOf(const absl::Status& status) {
  Answer answer;
  if (status.ok()) return answer;
  answer.error = status.ToString();
  answer.code = absl::IsInvalidArgument(status)      ? Code::kInvalidArgument
                : absl::IsFailedPrecondition(status) ? Code::kFailedPrecondition
                                                     : Code::kOther;
  return answer;
}

Answer BackendStates::Run(const Operation& operation) {
  // Each record sets the key, and some records have several operations.
  const std::string key = KeyName(operation.key);
  if (key_ != key || operation.number % 2 == 0) SetKey(key);
  switch (operation.state) {
    case StateKind::kValue:
      return OnValue(operation);
    case StateKind::kList:
      return OnList(operation);
    case StateKind::kMap:
      return OnMap(operation);
    case StateKind::kReducing:
      return OnReducing(operation);
    case StateKind::kAggregating:
      return OnAggregating(operation);
  }
  return {};
}

Answer BackendStates::Look() {
  if (probe_ == nullptr) {
    const auto ttl = StateTtlConfig::NewBuilder(std::chrono::hours(1)).Build();
    const absl::Status registered =
        Get(backend_, *ttl, ValueStateDescriptor<std::string>("probe"), probe_);
    if (!registered.ok()) return AnswerOf(registered);
  }
  SetKey(KeyName(0));
  return AnswerOfRead(probe_->Value());
}

absl::Status BackendStates::Register(StateKind state) {
  using String = std::string;
  switch (state) {
    case StateKind::kValue:
      if (value_ != nullptr) break;
      return Get(backend_, ttl_, ValueStateDescriptor<String>("value"), value_);
    case StateKind::kList:
      if (list_ != nullptr) break;
      return Get(backend_, ttl_, ListStateDescriptor<String>("list"), list_);
    case StateKind::kMap:
      if (map_ != nullptr) break;
      return Get(backend_, ttl_, MapStateDescriptor<String, String>("map"),
                 map_);
    case StateKind::kReducing:
      if (reducing_ != nullptr) break;
      return Get(backend_, ttl_,
                 ReducingStateDescriptor<String>("reducing", Fold), reducing_);
    case StateKind::kAggregating:
      if (aggregating_ != nullptr) break;
      return Get(backend_, ttl_, AggregatingDescriptor(), aggregating_);
  }
  return absl::OkStatus();
}

void BackendStates::SetKey(const std::string& key) {
  key_ = key;
  backend_.SetCurrentKey(key);
}

Answer BackendStates::OnValue(const Operation& operation) {
  if (operation.action == Action::kRead) return AnswerOfRead(value_->Value());
  if (operation.action == Action::kClear) return AnswerOf(value_->Clear());
  return AnswerOf(WithTtl(operation, [&](auto... ttl) {
    return value_->Update(TextOf(operation, 0), ttl...);
  }));
}

Answer BackendStates::ReadList() {
  const absl::StatusOr<ListRange<std::string>> list = list_->Get();
  Answer answer = AnswerOf(list.status());
  if (!list.ok()) return answer;
  for (const std::string& element : *list) answer.items.push_back({0, element});
  return answer;
}

Answer BackendStates::OnList(const Operation& operation) {
  switch (operation.action) {
    case Action::kRead:
      return ReadList();
    case Action::kClear:
      return AnswerOf(list_->Clear());
    case Action::kAdd:
      return AnswerOf(WithTtl(operation, [&](auto... ttl) {
        return list_->Add(TextOf(operation, 0), ttl...);
      }));
    case Action::kAddAll:
      return AnswerOf(WithTtl(operation, [&](auto... ttl) {
        return list_->AddAll(TextsOf(operation), ttl...);
      }));
    default:
      return AnswerOf(WithTtl(operation, [&](auto... ttl) {
        return list_->Update(TextsOf(operation), ttl...);
      }));
  }
}

Answer BackendStates::OnMap(const Operation& operation) {
  const std::string map_key = MapKeyName(operation.map_key);
  switch (operation.action) {
    case Action::kReadEntry:
      return AnswerOfRead(map_->Get(map_key), operation.map_key);
    case Action::kContains: {
      const absl::StatusOr<bool> contained = map_->Contains(map_key);
      Answer answer = AnswerOf(contained.status());
      if (contained.ok() && *contained) {
        answer.items.push_back({operation.map_key, "contained"});
      }
      return answer;
    }
    case Action::kIsEmpty: {
      const absl::StatusOr<bool> empty = map_->IsEmpty();
      Answer answer = AnswerOf(empty.status());
      if (empty.ok() && *empty) answer.items.push_back({0, "empty"});
      return answer;
    }
    case Action::kRemoveEntry:
      return AnswerOf(map_->Remove(map_key));
    case Action::kClear:
      return AnswerOf(map_->Clear());
    case Action::kWrite:
      return PutEntries(operation);
    default:
      return WalkMap(operation);
  }
}

Answer BackendStates::PutEntries(const Operation& put) {
  for (int i = 0; i < put.count; ++i) {
    const absl::Status status = WithTtl(put, [&](auto... ttl) {
      return map_->Put(MapKeyName(put.map_key + i), TextOf(put, i), ttl...);
    });
    if (!status.ok()) return AnswerOf(status);
  }
  return {};
}

Answer BackendStates::WalkMap(const Operation& walk) {
  absl::StatusOr<MapRange<std::string, std::string>> range = map_->Entries();
  if (!range.ok()) return AnswerOf(range.status());
  const std::size_t items_max = walk.action == Action::kWalk && walk.count > 0
                                    ? static_cast<std::size_t>(walk.count)
                                    : std::numeric_limits<std::size_t>::max();
  Answer answer;
  for (const auto& [name, text] : *range) {
    const int map_key = MapKeyOf(name);
    answer.items.push_back({map_key, text});
    if (walk.remove_every > 0 && map_key % walk.remove_every == 0) {
      const absl::Status removed = range->RemoveCurrent();
      if (!removed.ok()) return AnswerOf(removed);
      // A second time is an error, and does no harm.
      if (!absl::IsFailedPrecondition(range->RemoveCurrent())) {
        return {.code = Code::kOther, .error = "removed twice", .items = {}};
      }
    }
    if (answer.items.size() == items_max) break;
  }
  if (!range->status().ok()) return AnswerOf(range->status());
  std::sort(answer.items.begin(), answer.items.end(),
            [](const Item& a, const Item& b) { return a.key < b.key; });
  return answer;
}

Answer BackendStates::OnReducing(const Operation& operation) {
  if (operation.action == Action::kRead) return AnswerOfRead(reducing_->Get());
  if (operation.action == Action::kClear) return AnswerOf(reducing_->Clear());
  return AnswerOf(WithTtl(operation, [&](auto... ttl) {
    return reducing_->Add(TextOf(operation, 0), ttl...);
  }));
}

Answer BackendStates::OnAggregating(const Operation& operation) {
  if (operation.action == Action::kRead) {
    return AnswerOfRead(aggregating_->Get());
  }
  if (operation.action == Action::kClear) {
    return AnswerOf(aggregating_->Clear());
  }
  return AnswerOf(WithTtl(operation, [&](auto... ttl) {
    return aggregating_->Add(TextOf(operation, 0), ttl...);
  }));
}

}  // namespace mayfly::model_test
