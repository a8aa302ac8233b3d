#include "tests/conformance/runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly::conformance {
namespace {

using state_test::Must;
using state_test::ShardSet;
using ::testing::HasSubstr;

template <typename... Steps>
bool IsOneOf(const Step& step) {
  return (std::holds_alternative<Steps>(step) || ...);
}

// --- Where to carry a state ---

// Whether a later step gives up what is not committed before step `i`, so that
// a commit would give the program another meaning.
bool IsGivenUp(const Program& program, std::size_t i) {
  for (; i < program.size(); ++i) {
    if (IsOneOf<Restore>(program[i])) return true;
    if (IsOneOf<Commit, Restart, RestartMigrating, RestartRefused>(
            program[i])) {
      return false;
    }
  }
  return false;
}

// All steps before which a state can be carried unnoticed, and anything has
// happened since the one before. A savepoint leaves out what has expired, which
// a reader might be shown.
std::vector<std::size_t> PlacesIn(const Program& program, const MaybeTtl& ttl,
                                  const Surroundings& surroundings) {
  const bool shows_expired =
      ttl && ttl->visibility() == StateVisibility::kReturnExpiredIfNotCleanedUp;
  std::vector<std::size_t> places;
  for (std::size_t i = 1; i < program.size(); ++i) {
    const auto* const at = std::get_if<At>(&program[i - 1]);
    if (at != nullptr && shows_expired && IsPortable(surroundings.carriage) &&
        at->time_ms - surroundings.start_ms >= ttl->ttl_ms()) {
      break;
    }
    const bool anything = !IsOneOf<Use, Raw, Stores>(program[i - 1]);
    if (anything && !IsGivenUp(program, i)) places.push_back(i);
  }
  return places;
}

// Those that are taken: as many as take no more than a moment. To open RocksDB
// takes as long as all else together.
std::set<std::size_t> StepsToCarryBefore(const Program& program,
                                         const MaybeTtl& ttl,
                                         const Surroundings& surroundings) {
  if (surroundings.carriage == Carriage::kNone) return {};
  const std::vector<std::size_t> places = PlacesIn(program, ttl, surroundings);
  const std::size_t taken =
      std::min<std::size_t>(places.size(), surroundings.on_rocksdb() ? 1 : 12);
  std::set<std::size_t> steps;
  for (std::size_t i = 0; i < taken; ++i) {
    const std::size_t from_turn = i * places.size() / taken;
    steps.insert(places[(surroundings.turn + from_turn) % places.size()]);
  }
  return steps;
}

// --- The programs ---

class Interpreter {
 public:
  Interpreter(const Context& context, const MaybeTtl& ttl,
              const Surroundings& surroundings)
      : make_subject_(context.make),
        carriage_(surroundings.carriage),
        shards_({surroundings.backend, ShardsAtFirst(surroundings)},
                surroundings.start_ms),
        ttl_(ttl) {
    Reopen();
  }

  // Carries the state between two steps.
  void CarryOn() {
    Carry(carriage_, shards_);
    RegisterAll();
  }

  // --- Time ---

  void operator()(const At& step) { shards_.clock().SetMs(step.time_ms); }
  void operator()(const Watermark& step) {
    ForEachShard([&](Backend& shard) { shard.AdvanceWatermark(step.time_ms); });
  }

  // --- Operations of a job ---

  void operator()(const Use& step) { MakeCurrent(step.key, step.name_space); }
  void operator()(const Write& step) { subject().Write(step.batch); }
  void operator()(const Clear&) { subject().Clear(); }
  void operator()(const UseEach& step) {
    ForEach(step.keys, [](int) {});
  }
  void operator()(const WriteEach& step) {
    ForEach(step.keys, [&](int) { subject().Write(step.batch); });
  }
  void operator()(const ClearEach& step) {
    ForEach(step.keys, [&](int) { subject().Clear(); });
  }
  void operator()(const AccessEach& step) {
    ForEach(step.keys, [&](int number) {
      if (number % 2 == 0) {
        subject().Read();
      } else {
        subject().Write(kE);
      }
    });
  }
  void operator()(const Merge& step) {
    std::vector<std::function<void(Subject&)>> contents;
    for (const std::string& source : step.sources) {
      MakeCurrent(key_.first, source);
      contents.push_back(subject().TakeOut());
    }
    MakeCurrent(key_.first, step.target);
    for (const auto& add : contents) add(subject());
  }

  // --- What a reader sees ---

  void operator()(const Reads& step) {
    EXPECT_EQ(subject().Read(), Shown(step)) << "of key " << key_.first;
  }
  void operator()(const ReadsText& step) {
    EXPECT_EQ(subject().Read(), step.text);
  }
  void operator()(const ReadsEach& step) {
    ForEach(step.keys, [&](int) { (*this)(step.shown); });
  }

  // --- What is stored ---

  void operator()(const Raw& step) {
    const bool present = Entries() > 0;
    EXPECT_EQ(present, step.contents == kPresent);
    if (const auto contained = subject().Contains()) {
      EXPECT_EQ(present, *contained);
    }
  }
  void operator()(const Stores& step) {
    std::uint64_t entries = 0;
    for (const StoredKeys& some : step.all) {
      entries += static_cast<std::uint64_t>(some.keys) *
                 subject().EntriesOf(some.batches);
    }
    EXPECT_EQ(Entries(), entries);
  }

  // --- Backends ---

  void operator()(const Commit&) { Must(shards_.Commit()); }
  void operator()(const Restore&) { Reopen(); }
  void operator()(const Restart& step) {
    if (step.ttl) ttl_ = *step.ttl;
    Must(shards_.Commit());
    Reopen();
  }
  void operator()(const RestartMigrating& step) {
    migrates_ = true;
    (*this)(Restart{step.ttl});
  }
  void operator()(const RestartRefused& step) {
    Must(shards_.Commit());
    Must(shards_.Open());
    ForEachShard([&](Backend& shard) {
      EXPECT_THAT(make_subject_()->Register(shard, {step.ttl}),
                  StatusIs(absl::StatusCode::kFailedPrecondition,
                           HasSubstr("StateMigration: state 'state'")));
    });
    RegisterAll();
  }
  void operator()(const Compact&) {
    Must(shards_.Commit());
    ForEachShard([](Backend& shard) { Must(shard.Compact()); });
  }
  void operator()(const CleanUp&) {
    ForEachShard([](Backend& shard) {
      EXPECT_TRUE(shard.CleanUp().value().round_complete);
    });
    if (on_rocksdb()) Must(shards_.Commit());
    MakeCurrent(key_.first, key_.second);
  }

 private:
  static int ShardsAtFirst(const Surroundings& surroundings) {
    if (surroundings.carriage != Carriage::kOtherShards) return 1;
    return 1 + static_cast<int>(surroundings.turn % kShardsMax);
  }

  void Reopen() {
    Must(shards_.Open());
    RegisterAll();
  }

  void RegisterAll() {
    subjects_.clear();
    ForEachShard([&](Backend& shard) {
      subjects_.push_back(make_subject_());
      Must(subjects_.back()->Register(shard, {ttl_, migrates_}));
    });
    MakeCurrent(key_.first, key_.second);
  }

  void MakeCurrent(std::string key, std::string name_space) {
    key_ = Key(std::move(key), std::move(name_space));
    current_ = shards_.ShardOf(key_);
    shards_[current_].SetCurrentKey(key_);
  }

  // That of the shard which has the current key.
  Subject& subject() { return *subjects_[current_]; }
  const Subject& subject() const { return *subjects_[current_]; }

  template <typename Action>
  void ForEachShard(Action action) {
    for (std::size_t i = 0; i < shards_.size(); ++i) action(shards_[i]);
  }

  template <typename Action>
  void ForEach(const Keys& keys, Action action) {
    for (int number = keys.from; number < keys.to; ++number) {
      MakeCurrent(keys.prefix + std::to_string(number), "");
      action(number);
    }
  }

  std::string Shown(const Reads& step) const {
    const bool folded = subject().folds() && step.folded.has_value();
    return subject().Shown(folded ? *step.folded : step.elements);
  }

  std::uint64_t Entries() {
    if (on_rocksdb()) Must(shards_.Commit());
    const StateStatistics counts = shards_.Counts(kStateName);
    return counts.live_entries + counts.expired_entries;
  }

  bool on_rocksdb() const {
    return shards_.placement().setup.kind == BackendKind::kRocksdb;
  }

  const std::function<std::unique_ptr<Subject>()> make_subject_;
  const Carriage carriage_;
  ShardSet<Key> shards_;
  // One for each shard.
  std::vector<std::unique_ptr<Subject>> subjects_;
  MaybeTtl ttl_;
  bool migrates_ = false;
  Key key_{"key", ""};
  std::size_t current_ = 0;
};

}  // namespace

void RunProgram(const Program& program, const Context& context,
                const MaybeTtl& ttl, const Surroundings& surroundings) {
  Interpreter interpreter(context, ttl, surroundings);
  const std::set<std::size_t> carried_before =
      StepsToCarryBefore(program, ttl, surroundings);
  // Else the variant would show nothing; rows.h says how a row is exempt.
  EXPECT_EQ(carried_before.empty(), surroundings.carriage == Carriage::kNone);
  for (std::size_t i = 0; i < program.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "step " << i);
    if (carried_before.contains(i)) interpreter.CarryOn();
    std::visit(interpreter, program[i]);
  }
}

}  // namespace mayfly::conformance
