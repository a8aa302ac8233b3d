#include "tests/conformance/context.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "gtest/gtest.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::conformance {
namespace {

using state_test::Must;
using ::testing::PrintToString;

// The contents of the batches in one context.
template <typename T>
struct PerBatch {
  T e, u, x;
  const T& operator[](Batch batch) const {
    return batch == kE ? e : batch == kU ? u : x;
  }
};

template <typename T>
std::string TextOf(const std::optional<T>& value) {
  return value ? PrintToString(*value) : "nothing";
}

// Registers, and keeps the state.
template <typename Descriptor, typename State>
absl::Status RegisterAs(Backend& backend, Descriptor descriptor,
                        const Asked& asked, State** state) {
  if (asked.ttl) descriptor.EnableTimeToLive(*asked.ttl);
  if (asked.migrates) descriptor.AllowTtlMigration();
  absl::StatusOr<State*> registered = backend.GetState(descriptor);
  if (registered.ok()) *state = *registered;
  return registered.status();
}

class ValueSubject final : public Subject {
 public:
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(backend, ValueStateDescriptor<std::int64_t>(kStateName),
                      asked, &state_);
  }
  void Write(Batch batch) override { Must(state_->Update(contents_[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string Read() override { return TextOf(state_test::Read(*state_)); }
  std::string Shown(const Batches& batches) const override {
    if (batches.empty()) return "nothing";
    return PrintToString(contents_[batches.back()]);
  }
  std::size_t EntriesOf(const Batches& batches) const override {
    return batches.empty() ? 0 : 1;
  }

 private:
  const PerBatch<std::int64_t> contents_{11, 21, 31};
  ValueState<std::int64_t>* state_ = nullptr;
};

template <typename T>
class ListSubject final : public Subject {
 public:
  explicit ListSubject(PerBatch<std::vector<T>> contents)
      : contents_(std::move(contents)) {}
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(backend, ListStateDescriptor<T>(kStateName), asked,
                      &state_);
  }
  void Write(Batch batch) override { Must(state_->AddAll(contents_[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string Read() override {
    return PrintToString(state_test::Read(*state_));
  }
  std::string Shown(const Batches& batches) const override {
    return PrintToString(ElementsOf(batches));
  }
  std::size_t EntriesOf(const Batches& batches) const override {
    return ElementsOf(batches).size();
  }
  std::function<void(Subject&)> TakeOut() override {
    std::vector<T> elements = state_test::Read(*state_);
    Clear();
    return [elements](Subject& into) {
      Must(dynamic_cast<ListSubject&>(into).state_->AddAll(elements));
    };
  }

 private:
  std::vector<T> ElementsOf(const Batches& batches) const {
    std::vector<T> elements;
    for (const Batch batch : batches) {
      const std::vector<T>& more = contents_[batch];
      elements.insert(elements.end(), more.begin(), more.end());
    }
    return elements;
  }

  const PerBatch<std::vector<T>> contents_;
  ListState<T>* state_ = nullptr;
};

// All entries of a map, one of them null.
class MapSubject final : public Subject {
 public:
  using Map = std::map<std::int32_t, std::optional<std::int32_t>>;
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(
        backend,
        MapStateDescriptor<std::int32_t, std::optional<std::int32_t>>(
            kStateName),
        asked, &state_);
  }
  void Write(Batch batch) override {
    for (const auto& [key, value] : contents_[batch]) {
      Must(state_->Put(key, value));
    }
  }
  void Clear() override { Must(state_->Clear()); }
  std::string Read() override {
    return PrintToString(state_test::Read(*state_));
  }
  std::string Shown(const Batches& batches) const override {
    return PrintToString(EntriesIn(batches));
  }
  std::size_t EntriesOf(const Batches& batches) const override {
    return EntriesIn(batches).size();
  }

 private:
  Map EntriesIn(const Batches& batches) const {
    Map entries;
    for (const Batch batch : batches) {
      for (const auto& [key, value] : contents_[batch]) entries[key] = value;
    }
    return entries;
  }

  const PerBatch<Map> contents_{{{3, 30}, {5, 50}, {23, std::nullopt}, {10, 1}},
                                {{12, 120}, {24, std::nullopt}, {7, 70}},
                                {{15, 150}, {25, std::nullopt}, {4, 40}}};
  MapState<std::int32_t, std::optional<std::int32_t>>* state_ = nullptr;
};

// One entry of a map, looked up by its key.
template <typename V>
class MapEntrySubject final : public Subject {
 public:
  explicit MapEntrySubject(PerBatch<V> contents)
      : contents_(std::move(contents)) {}
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(backend, MapStateDescriptor<std::int32_t, V>(kStateName),
                      asked, &state_);
  }
  void Write(Batch batch) override { Must(state_->Put(1, contents_[batch])); }
  void Clear() override { Must(state_->Remove(1)); }
  std::string Read() override { return TextOf(state_test::Read(*state_, 1)); }
  std::string Shown(const Batches& batches) const override {
    if (batches.empty()) return "nothing";
    return PrintToString(contents_[batches.back()]);
  }
  std::size_t EntriesOf(const Batches& batches) const override {
    return batches.empty() ? 0 : 1;
  }
  std::optional<bool> Contains() override {
    return state_->Contains(1).value();
  }

 private:
  const PerBatch<V> contents_;
  MapState<std::int32_t, V>* state_ = nullptr;
};

const PerBatch<std::int64_t>& Addends() {
  static const PerBatch<std::int64_t> addends{5, 7, 6};
  return addends;
}

std::int64_t SumOf(const Batches& batches, std::int64_t start) {
  return std::accumulate(
      batches.begin(), batches.end(), start,
      [](std::int64_t sum, Batch batch) { return sum + Addends()[batch]; });
}

// The sum of what was added.
class ReducingSubject final : public Subject {
 public:
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(backend,
                      ReducingStateDescriptor<std::int64_t>(
                          kStateName, std::plus<std::int64_t>()),
                      asked, &state_);
  }
  void Write(Batch batch) override { Must(state_->Add(Addends()[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string Read() override { return TextOf(Sum()); }
  std::string Shown(const Batches& batches) const override {
    return batches.empty() ? "nothing" : PrintToString(SumOf(batches, 0));
  }
  bool folds() const override { return true; }
  std::size_t EntriesOf(const Batches& batches) const override {
    return batches.empty() ? 0 : 1;
  }
  std::function<void(Subject&)> TakeOut() override {
    const std::optional<std::int64_t> sum = Sum();
    Clear();
    return [sum](Subject& into) {
      if (sum) Must(dynamic_cast<ReducingSubject&>(into).state_->Add(*sum));
    };
  }

 private:
  std::optional<std::int64_t> Sum() {
    const std::int64_t* const sum = state_->Get().value();
    return sum == nullptr ? std::nullopt : std::optional(*sum);
  }

  ReducingState<std::int64_t>* state_ = nullptr;
};

// The sum of what was added and three, as text.
class AggregatingSubject final : public Subject {
 public:
  absl::Status Register(Backend& backend, const Asked& asked) override {
    return RegisterAs(
        backend,
        AggregatingStateDescriptor<std::int64_t, std::int64_t, std::string>(
            kStateName,
            {.create_accumulator = [] { return kStart; },
             .add = [](const std::int64_t& value,
                       std::int64_t& sum) { sum += value; },
             .get_result =
                 [](const std::int64_t& sum) { return std::to_string(sum); }}),
        asked, &state_);
  }
  void Write(Batch batch) override { Must(state_->Add(Addends()[batch])); }
  void Clear() override { Must(state_->Clear()); }
  std::string Read() override {
    return state_->Get().value().value_or("nothing");
  }
  std::string Shown(const Batches& batches) const override {
    if (batches.empty()) return "nothing";
    return std::to_string(SumOf(batches, kStart));
  }
  bool folds() const override { return true; }
  std::size_t EntriesOf(const Batches& batches) const override {
    return batches.empty() ? 0 : 1;
  }
  std::function<void(Subject&)> TakeOut() override {
    const std::optional<std::string> result = state_->Get().value();
    Clear();
    return [result](Subject& into) {
      if (!result) return;
      Must(dynamic_cast<AggregatingSubject&>(into).state_->Add(
          std::stoll(*result)));
    };
  }

 private:
  static constexpr std::int64_t kStart = 3;
  AggregatingState<std::int64_t, std::string>* state_ = nullptr;
};

template <typename Made, typename... Arguments>
Context Make(std::string name, Arguments... arguments) {
  return {std::move(name),
          [=] { return std::make_unique<Made>(arguments...); }};
}

}  // namespace

std::function<void(Subject&)> Subject::TakeOut() {
  throw std::logic_error("not a kind that merges");
}

const std::vector<Context>& AllContexts() {
  using Text = std::string;
  using Texts = std::vector<Text>;
  using Numbers = std::vector<std::int32_t>;
  using Null = std::optional<std::int32_t>;
  static const std::vector<Context> all = {
      Make<ValueSubject>("V"),
      Make<ListSubject<std::int32_t>>(
          "LF", PerBatch<Numbers>{{5, 7, 10}, {8, 9, 11}, {1, 4}}),
      Make<ListSubject<Text>>(
          "LV",
          // Half of a list with the first two: then clean-up rewrites it.
          PerBatch<Texts>{
              {"five", "seven", ""}, {"8", "9", "eleven"}, {"1", ""}}),
      Make<MapSubject>("MA"),
      Make<MapEntrySubject<Text>>(
          "ME", PerBatch<Text>{"test value1", "test value2", "test value3"}),
      Make<MapEntrySubject<Null>>("MN", PerBatch<Null>{}),
      Make<AggregatingSubject>("A"),
      Make<ReducingSubject>("R"),
  };
  return all;
}

}  // namespace mayfly::conformance
