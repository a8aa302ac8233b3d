// Random operations on a shard and on a plain model of it: every answer must be
// one that the model allows, through commits, restarts, crashes, changes of the
// TTL and compactions, on every configuration.
//
// MAYFLY_SEED and MAYFLY_STEPS replay a history and make it longer.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/state/shard_model.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

enum class Mode { kNoTtl, kWrite, kWriteShown, kRead, kReadShown };
using enum Mode;

std::string ModeName(Mode mode) {
  constexpr const char* kNames[] = {
      "NoTtl", "CreateAndWrite", "CreateAndWriteReturningExpired",
      "ReadAndWrite", "ReadAndWriteReturningExpired"};
  return kNames[static_cast<int>(mode)];
}

using Param = std::tuple<BackendSetup, Mode, TimeCharacteristic>;

class RandomHistoryTest : public ::testing::TestWithParam<Param> {
 protected:
  RandomHistoryTest()
      : seed_(FromEnvironment("MAYFLY_SEED", 1)),
        random_(seed_),
        options_(MakeOptions()),
        model_(options_),
        shard_(std::get<BackendSetup>(GetParam())) {}

  void SetUp() override { Register(options_.ttl_ms); }

  // --- Chance ---
  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  std::string NewText() {
    std::string text = std::to_string(++texts_);
    if (OneIn(4)) text.append(Below(200), '.');
    return text;
  }
  std::string MapKey() {
    // One key's map grows beyond what is read at once.
    return "m" + std::to_string(Below(key_ == "0" ? 600 : 20));
  }

  // --- Set-up ---
  bool event_time() const {
    return std::get<TimeCharacteristic>(GetParam()) ==
           TimeCharacteristic::kEventTime;
  }

  ModelOptions MakeOptions() {
    const Mode mode = std::get<Mode>(GetParam());
    ModelOptions options;
    if (mode != kNoTtl) options.ttl_ms = 100;
    options.refresh_on_read = mode == kRead || mode == kReadShown;
    options.show_expired = mode == kWriteShown || mode == kReadShown;
    options.granularity_ms =
        options.refresh_on_read && OneIn(2) ? static_cast<int>(Below(30)) : 0;
    options.records_ttl_at_once =
        std::get<BackendSetup>(GetParam()).kind == BackendKind::kRocksdb;
    options.merges_lists = options.records_ttl_at_once;
    return options;
  }

  void Register(std::optional<std::int64_t> ttl_ms) {
    std::optional<StateTtlConfig> ttl;
    if (ttl_ms) {
      ttl = TtlBuilder(*ttl_ms)
                .SetUpdateType(options_.refresh_on_read
                                   ? UpdateType::kOnReadAndWrite
                                   : UpdateType::kOnCreateAndWrite)
                .SetRefreshGranularity(
                    std::chrono::milliseconds(options_.granularity_ms))
                .SetStateVisibility(
                    options_.show_expired
                        ? StateVisibility::kReturnExpiredIfNotCleanedUp
                        : StateVisibility::kNeverReturnExpired)
                .SetTimeCharacteristic(std::get<TimeCharacteristic>(GetParam()))
                .Build()
                .value();
    }
    value_ =
        &shard_.Get(Describe<ValueStateDescriptor<std::string>>("value", ttl));
    list_ =
        &shard_.Get(Describe<ListStateDescriptor<std::string>>("list", ttl));
    map_ = &shard_.Get(
        Describe<MapStateDescriptor<std::string, std::string>>("map", ttl));
    shard_->SetCurrentKey(key_);
  }

  void Expect(const std::string& what, const std::string& error) {
    if (error.empty()) return;
    ADD_FAILURE() << "seed " << seed_ << ", step " << step_ << ", key '" << key_
                  << "' at " << model_.now_ms() << " ms: " << what << ": "
                  << error;
  }

  // --- Operations ---
  void UseKey(const std::string& key) {
    key_ = key;
    shard_->SetCurrentKey(key);
  }

  void ReadValue() { Expect("value", model_.ReadValue(key_, Read(*value_))); }
  void ReadList() { Expect("list", model_.ReadList(key_, Read(*list_))); }
  void ReadMap() { Expect("map", model_.ReadEntries(key_, Read(*map_))); }

  void OperateOnValue() {
    switch (Below(8)) {
      case 0:
        Must(value_->Clear());
        model_.ClearValue(key_);
        break;
      case 1:
      case 2:
      case 3: {
        const std::string text = NewText();
        Must(value_->Update(text));
        model_.SetValue(key_, text);
        break;
      }
      default:
        ReadValue();
    }
  }

  void OperateOnList() {
    const std::uint64_t operation = Below(12);
    if (operation < 4) return ReadList();
    if (operation == 4) {
      Must(list_->Clear());
      model_.ClearList(key_);
      return;
    }
    if (operation < 9) {
      const std::string text = NewText();
      Must(list_->Add(text));
      model_.AddToList(key_, text);
      return;
    }
    std::vector<std::string> texts(Below(4));
    std::generate(texts.begin(), texts.end(), [&] { return NewText(); });
    if (operation == 9) {
      Must(list_->Update(texts));
      model_.ClearList(key_);
    } else {
      Must(list_->AddAll(texts));
    }
    for (const std::string& text : texts) model_.AddToList(key_, text);
  }

  void Put() {
    const std::string map_key = MapKey();
    const std::string text = NewText();
    Must(map_->Put(map_key, text));
    model_.PutEntry(key_, map_key, text);
  }

  void OperateOnMap() {
    const std::string map_key = MapKey();
    switch (Below(16)) {
      case 0:
        Must(map_->Clear());
        model_.ClearMap(key_);
        break;
      case 1:
      case 2:
        Must(map_->Remove(map_key));
        model_.RemoveEntry(key_, map_key);
        break;
      case 3:
        Expect("is empty", model_.ReadIsEmpty(key_, map_->IsEmpty().value()));
        break;
      case 4:
        Expect("contains '" + map_key + "'",
               model_.ReadContains(key_, map_key,
                                   map_->Contains(map_key).value()));
        break;
      case 5:
      case 6:
      case 7:
        Expect("entry '" + map_key + "'",
               model_.ReadEntry(key_, map_key, Read(*map_, map_key)));
        break;
      case 8:
      case 9:
        ReadMap();
        break;
      case 10:
        for (std::uint64_t i = Below(key_ == "0" ? 300 : 5); i > 0; --i) Put();
        break;
      default:
        Put();
    }
  }

  // The read shows the shard the new time, so that it is seen even if the next
  // move is backwards.
  void MoveTime() {
    const auto step_ms = static_cast<std::int64_t>(Below(OneIn(8) ? 150 : 25));
    if (event_time()) {
      shard_->AdvanceWatermark(model_.now_ms() + step_ms);
      model_.AdvanceTo(model_.now_ms() + step_ms);
    } else if (OneIn(10)) {
      shard_.clock().SetMs(
          std::max<std::int64_t>(0, shard_.clock().NowMs() - step_ms));
    } else {
      shard_.clock().SetMs(model_.now_ms() + step_ms);
      model_.AdvanceTo(shard_.clock().NowMs());
    }
    ReadValue();
  }

  void Commit() {
    const std::string position = NewText();
    shard_.Commit(position);
    model_.Commit(position);
    ExpectCounts(/*compacted=*/false);
  }

  void Compact() {
    Commit();
    Must(shard_->Compact());
    ExpectCounts(/*compacted=*/true);
  }

  void ExpectCounts(bool compacted) {
    const ShardModel::Counts counts = model_.LiveCounts();
    const std::map<std::string, std::size_t> expected = {
        {"value", counts.values},
        {"list", counts.elements},
        {"map", counts.entries}};
    const std::vector<StateStatistics> all = shard_->Statistics().value();
    for (const StateStatistics& state : all) {
      if (state.live_entries != expected.at(state.state)) {
        Expect("statistics of " + state.state,
               std::to_string(state.live_entries) + " live entries, not " +
                   std::to_string(expected.at(state.state)));
      }
      if (compacted && shard_.options.kind == BackendKind::kRocksdb &&
          state.expired_entries > 0) {
        Expect("compaction of " + state.state, "expired entries are left");
      }
    }
  }

  // Without a commit this is a crash.
  void Restart() {
    std::optional<std::int64_t> ttl_ms = options_.ttl_ms;
    if (ttl_ms && OneIn(3)) ttl_ms = 30 + static_cast<std::int64_t>(Below(300));
    shard_.Reopen();
    model_.Restart(ttl_ms);
    if (!event_time()) model_.AdvanceTo(shard_.clock().NowMs());
    if (shard_->committed_position() != model_.committed_position()) {
      Expect("position", shard_->committed_position());
    }
    Register(ttl_ms);
    if (OneIn(3)) ReadAll();
  }

  void ReadAll() {
    for (int key = 0; key < kKeys; ++key) {
      UseKey(std::to_string(key));
      ReadValue();
      ReadList();
      ReadMap();
    }
  }

  void Step() {
    if (OneIn(2)) UseKey(std::to_string(Below(kKeys)));
    const std::uint64_t operation = Below(100);
    if (operation < 22) {
      OperateOnValue();
    } else if (operation < 48) {
      OperateOnList();
    } else if (operation < 80) {
      OperateOnMap();
    } else if (operation < 90) {
      MoveTime();
    } else if (operation < 96) {
      Commit();
    } else if (operation < 97) {
      Commit();
      Restart();
    } else if (operation < 98) {
      Restart();
    } else if (operation < 99) {
      Compact();
    } else {
      Must(shard_->Compact());
    }
  }

  static constexpr int kKeys = 12;

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  const ModelOptions options_;
  ShardModel model_;
  Shard<> shard_;
  ValueState<std::string>* value_ = nullptr;
  ListState<std::string>* list_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
  std::string key_ = "0";
  std::uint64_t step_ = 0;
  std::uint64_t texts_ = 0;
};

TEST_P(RandomHistoryTest, GivesOnlyAnswersThatTheModelAllows) {
  RecordProperty("seed", std::to_string(seed_));
  const std::uint64_t steps = FromEnvironment("MAYFLY_STEPS", 400);
  for (step_ = 0; step_ < steps && !HasFailure(); ++step_) Step();
  if (!HasFailure()) ReadAll();
}

INSTANTIATE_TEST_SUITE_P(
    Configurations, RandomHistoryTest,
    ::testing::Combine(AllSetups(),
                       ::testing::Values(kNoTtl, kWrite, kWriteShown, kRead,
                                         kReadShown),
                       ::testing::Values(TimeCharacteristic::kProcessingTime,
                                         TimeCharacteristic::kEventTime)),
    [](const ::testing::TestParamInfo<Param>& at) {
      return std::string(std::get<BackendSetup>(at.param).name) +
             ModeName(std::get<Mode>(at.param)) +
             (std::get<TimeCharacteristic>(at.param) ==
                      TimeCharacteristic::kEventTime
                  ? "EventTime"
                  : "");
    });

}  // namespace
}  // namespace mayfly::state_test
