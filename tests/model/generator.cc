#include "tests/model/generator.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <random>
#include <utility>

namespace mayfly::model_test {
namespace {

// Reads of all keys of all states, in turn.
constexpr int kAllReads = kKeys * static_cast<int>(kStateKinds);

Operation ReadOf(int i) {
  constexpr int kStates = static_cast<int>(kStateKinds);
  return {.state = static_cast<StateKind>(i % kStates), .key = i / kStates};
}

class Generator {
 public:
  Generator(std::uint64_t seed, const Settings& given)
      : random_(seed), settings_(given) {
    ChooseSettings();
  }

  const Settings& settings() const { return settings_; }

  Operation Next() {
    if (reads_left_ > 0) return ReadOf(--reads_left_);
    Operation operation = Choose();
    // What nobody uses is not registered.
    const bool rests =
        operation.action < Action::kPass && operation.state == resting_;
    return rests ? Operation{.action = Action::kPass, .ms = 1} : operation;
  }

 private:
  Operation Choose() {
    Operation operation;
    operation.number = ++number_;
    operation.key = key_ = OneIn(2) ? Below(kKeys) : key_;
    const int choice = Below(1000);
    if (about_files_ && (committed_ || OneIn(30))) {
      OnFiles(operation);
    } else if (choice < 150) {
      OnSingle(StateKind::kValue, Action::kWrite, operation);
    } else if (choice < 380) {
      OnList(operation);
    } else if (choice < 650) {
      OnMap(operation);
    } else if (choice < 750) {
      OnSingle(StateKind::kReducing, Action::kAdd, operation);
    } else if (choice < 850) {
      OnSingle(StateKind::kAggregating, Action::kAdd, operation);
    } else if (choice < 960) {
      OnTime(operation);
    } else {
      OnShard(operation);
    }
    return operation;
  }

  // Of a sweep that takes what is in memory to have lain there for too long.
  static constexpr std::int64_t kHoursLateMs = 3'600'000;

  // --- Chance ---
  int Below(int bound) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(bound));
  }
  bool OneIn(int n) { return Below(n) == 0; }

  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(static_cast<int>(choices.size()))];
  }

  void ChooseSettings() {
    // At 0 no short TTL can be expressed under a long one; the other is 2023.
    settings_.start_ms = OneIn(4) ? 0 : 1'700'000'000'000;
    settings_.ttl_ms = 100;
    if (OneIn(4)) settings_.ttl_ms = 30 + Below(300);
    if (OneIn(16)) settings_.ttl_ms = OneOf({kInfiniteMs, kForEverMs});
    settings_.granularity_ms =
        settings_.refresh_on_read && OneIn(2) ? 1 + Below(30) : 0;
    settings_.cleanup = AnyCleanup();
    about_files_ = !settings_.on_heap() && OneIn(4);
  }

  Cleanup AnyCleanup() {
    return static_cast<Cleanup>(Below(static_cast<int>(kCleanups)));
  }

  // --- Operations ---
  // Under no or an infinite TTL a TTL of a write's own is an error.
  void ChooseTtl(Operation& operation) {
    const bool allowed = settings_.has_ttl && settings_.ttl_ms != kInfiniteMs;
    if (!OneIn(allowed ? (about_files_ ? 2 : 4) : 50)) return;
    operation.ms = about_files_ ? 10 * (1 + Below(25)) : 1 + Below(250);
    if (OneIn(about_files_ ? 4 : 15)) operation.ms = kForEverMs;
    if (OneIn(30)) operation.ms = -5;
  }

  void OnSingle(StateKind state, Action change, Operation& operation) {
    operation.state = state;
    if (OneIn(2)) return;  // A read.
    operation.action = OneIn(8) ? Action::kClear : change;
    ChooseTtl(operation);
  }

  void OnList(Operation& operation) {
    operation.state = StateKind::kList;
    const int choice = Below(24);
    if (choice < 9) return;
    if (choice == 9) {
      operation.action = Action::kClear;
      return;
    }
    operation.action = choice < 18   ? Action::kAdd
                       : choice < 22 ? Action::kAddAll
                                     : Action::kWrite;
    if (operation.action != Action::kAdd) operation.count = Below(4);
    ChooseTtl(operation);
  }

  void OnMap(Operation& operation) {
    operation.state = StateKind::kMap;
    // The maps of two keys grow beyond what is read at once, and with them what
    // is stored beyond what one step of clean-up checks.
    const bool large = operation.key < 2;
    operation.map_key = Below(large ? 1500 : 20);
    const int choice = Below(200);
    if (choice < 30) {
      operation.action = Action::kRead;
    } else if (choice < 90) {
      operation.action = Action::kReadEntry;
    } else if (choice < 100) {
      operation.action = Action::kContains;
    } else if (choice < 108) {
      operation.action = Action::kIsEmpty;
    } else if (choice < 120) {
      operation.action = Action::kRemoveEntry;
    } else if (choice < 125) {
      operation.action = Action::kClear;
    } else if (choice < 140) {
      operation.action = Action::kWalk;
      operation.count = OneIn(2) ? 0 : 1 + Below(5);
      operation.remove_every = OneIn(3) ? 0 : 1 + Below(4);
    } else {
      operation.action = Action::kWrite;
      if (OneIn(8)) operation.count = 1 + Below(4);
      if (large && OneIn(10)) {
        operation.count = 1 + Below(1200);
      }
      ChooseTtl(operation);
    }
  }

  void OnTime(Operation& operation) {
    operation.ms = Below(OneIn(8) ? 150 : 25);
    // To deadlines, and to a millisecond before and after them.
    if (about_files_) {
      operation.ms = std::max(0, 10 * Below(8) + OneOf({-1, 0, 0, 1}));
    }
    operation.action = Action::kPass;
    if (wrong_ && OneIn(6)) {
      wrong_ = false;
      operation.action = Action::kSetRight;
      return;
    }
    if (settings_.event_time && !OneIn(8)) {
      operation.action = Action::kMoveWatermark;
      if (OneIn(10)) operation.ms = -operation.ms;
      return;
    }
    const int choice = Below(40);
    if (choice == 0) {
      // Somebody sets the clock wrong: far enough to be noticed, or just not.
      wrong_ = true;
      operation.action = Action::kJump;
      operation.ms = 60'000 + OneOf({1, 60, Below(10'000'000)});
    } else if (choice == 1) {
      wrong_ = true;
      operation.action = Action::kJump;
    } else if (choice < 5) {
      wrong_ = true;
      operation.action = Action::kSetBack;
    }
  }

  void OnShard(Operation& operation) {
    const int choice = Below(settings_.on_heap() ? 58 : 138);
    if (choice < 8) {
      operation.action =
          OneIn(3) ? Action::kCleanUpInBackground : Action::kCleanUp;
      operation.count = 1 + Below(50);
    } else if (choice < 10) {
      operation.action = Action::kCleanUpAll;
    } else if (choice < 14) {
      operation.action = Action::kCount;
    } else if (choice < 16) {
      operation.action = Action::kCompact;
    } else if (choice < 18) {
      operation.action = Action::kCompactUncommitted;
    } else if (choice < 22) {
      Restart(operation);
    } else if (choice < 32) {
      Save(operation);
    } else if (choice < 40) {
      Restore(operation);
    } else if (choice < 48) {
      CommitInParts(operation);
    } else if (choice < 60 && !settings_.on_heap()) {
      Sweep(operation);
    } else {
      operation.action = Action::kCommit;
    }
  }

  void CommitInParts(Operation& operation) {
    operation.action = OneOf({Action::kBeginCommit, Action::kBeginCommit,
                              Action::kStepCommit, Action::kFinishCommit});
    if (operation.action == Action::kStepCommit)
      operation.count = 1 + Below(40);
  }

  void Restart(Operation& operation) {
    operation.action = Action::kRestart;
    ChooseNewOptions(operation);
    wrong_ = false;
    resting_.reset();
    if (OneIn(3))
      resting_ = static_cast<StateKind>(Below(static_cast<int>(kStateKinds)));
  }

  void Save(Operation& operation) {
    operation.action = OneIn(2) ? Action::kCheckpoint : Action::kSavepoint;
    operation.count = Below(static_cast<int>(kPlaces));
  }

  void Restore(Operation& operation) {
    Restart(operation);
    operation.action = Action::kRestore;
    operation.count = Below(static_cast<int>(kPlaces));
    if (!OneIn(2)) return;
    // Mostly the same backend: RocksDB takes long in programs of many restarts.
    operation.layout = settings_.layout;
    operation.layout->shards = 1 + Below(3);
    if (OneIn(5)) operation.layout->backend = AnyBackend();
    settings_.layout = *operation.layout;
  }

  BackendChoice AnyBackend() {
    return OneOf({BackendChoice::kHeap, BackendChoice::kRocksdb,
                  BackendChoice::kRocksdbTinyTable});
  }

  void OnFiles(Operation& operation) {
    // Mostly before anything else happens to what was committed.
    const int choice = std::exchange(committed_, false) ? 5 : Below(8);
    if (choice < 3) {
      operation.action = Action::kCommit;
      committed_ = !OneIn(4);
    } else if (choice < 5) {
      Sweep(operation);
    } else {
      operation.action = Action::kRewriteFiles;
      operation.count = 1 + Below(6);
      wrong_ = false;
      if (OneIn(2)) reads_left_ = kAllReads;
    }
  }

  void Sweep(Operation& operation) {
    operation.action = Action::kSweep;
    operation.count = OneIn(2) ? 1 : 1 + Below(100);
    operation.ms = OneIn(2) ? 0 : kHoursLateMs;
  }

  void ChooseNewOptions(Operation& operation) {
    if (OneIn(3)) {
      operation.ms = OneIn(8)   ? kInfiniteMs
                     : OneIn(8) ? kNoTtlMs
                                : 30 + Below(300);
      settings_.ChangeTtl(operation.ms);
    }
    if (OneIn(3)) operation.cleanup = AnyCleanup();
  }

  std::mt19937_64 random_;
  Settings settings_;
  int number_ = 0;
  int key_ = 0;
  // Not used until the next restart.
  std::optional<StateKind> resting_;
  // The machine's clock is not what it should be.
  bool wrong_ = false;
  // Files are often rewritten, and what is older often lives for longer: it is
  // then that a wrong removal uncovers something.
  bool about_files_ = false;
  // The files are next.
  bool committed_ = false;
  // Before anything else.
  int reads_left_ = 0;
};

}  // namespace

Program MakeProgram(std::uint64_t seed, std::size_t steps,
                    const Settings& given) {
  Generator generator(seed, given);
  Program program{.settings = generator.settings(), .operations = {}};
  program.operations.reserve(steps + kAllReads);
  for (std::size_t i = 0; i < steps; ++i) {
    program.operations.push_back(generator.Next());
  }
  for (int i = 0; i < kAllReads; ++i) program.operations.push_back(ReadOf(i));
  return program;
}

}  // namespace mayfly::model_test
