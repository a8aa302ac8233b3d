// Programs of operations on the state of one shard: plain data, so that they
// can be printed, replayed and shrunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mayfly::model_test {

enum class StateKind : std::uint8_t {
  kValue,
  kList,
  kMap,
  kReducing,
  kAggregating,
};
inline constexpr std::size_t kStateKinds = 5;

enum class Action : std::uint8_t {
  // --- On the contents of one key ---
  kRead,  // All of it; a map by a walk.
  kWrite,
  kAdd,
  kAddAll,
  kClear,
  // --- On a map alone ---
  kReadEntry,
  kContains,
  kIsEmpty,
  kRemoveEntry,
  kWalk,  // A part of the way, and removing.
  // --- On the clocks ---
  kPass,           // Time passes.
  kSetBack,        // The machine's clock is set back.
  kJump,           // The machine's clock is set ahead.
  kSetRight,       // The machine's clock is set to what it should be.
  kMoveWatermark,  // Perhaps back, which changes nothing.
  // --- On the shard ---
  kCleanUp,
  kCleanUpInBackground,
  kCleanUpAll,  // Whole rounds of it.
  kCommit,
  kCount,    // Commits and counts.
  kCompact,  // Commits, compacts and counts.
  kCompactUncommitted,
  kBeginCommit,  // The first half, then parts of the second, then the rest.
  kStepCommit,
  kFinishCommit,
  kSweep,       // The disk.
  kCheckpoint,  // What is committed is saved, in one form or the other.
  kSavepoint,
  kRestart,       // At the last commit: a crash.
  kRewriteFiles,  // The same, and files are compacted and swept meanwhile.
  kRestore,       // At what was saved; if nothing was, as kRestart.
};
inline constexpr std::size_t kActions =
    static_cast<std::size_t>(Action::kRestore) + 1;

// A write with this TTL is for ever.
inline constexpr std::int64_t kForEverMs =
    std::numeric_limits<std::int64_t>::max();
// A state with this TTL never expires.
inline constexpr std::int64_t kInfiniteMs = -1;
// After a restart with this TTL the states have none.
inline constexpr std::int64_t kNoTtlMs = -2;

// How many saved copies there may be; one more replaces the one in its place.
inline constexpr std::size_t kPlaces = 2;

enum class Cleanup : std::uint8_t {
  kDefault,
  kOff,
  kEveryRecord,
  kOnlyIncremental,
  kOnlyCompactionFilter,
};
inline constexpr std::size_t kCleanups = 5;

enum class BackendChoice : std::uint8_t {
  kHeap,
  kRocksdb,
  // With so small a table that nearly every change of the key evicts from it.
  kRocksdbTinyTable,
};

// What a program's shards are.
struct Layout {
  BackendChoice backend = BackendChoice::kHeap;
  int shards = 1;

  bool on_heap() const { return backend == BackendChoice::kHeap; }
};

// Each action takes what it needs.
struct Operation {
  Action action = Action::kRead;
  StateKind state = StateKind::kValue;
  int key = 0;
  int map_key = 0;
  // Elements of a list to write, consecutive map keys to put, entries to walk,
  // to clean up. A walk with 0 ends at the end. Of a sweep: percent of a file
  // that must have expired; of kRewriteFiles: compactions; of kStepCommit:
  // parts. The place of what is saved or restored.
  int count = 1;
  // A walk removes the entries whose map key is a multiple of this; 0: none.
  int remove_every = 0;
  // What time moves by; the TTL of a write or after a restart, 0 for what it
  // was before; how long a sweep takes what is in memory to have lain there.
  std::int64_t ms = 0;
  // Makes what is written unique.
  int number = 0;
  // After a restart; nullopt for what it was before.
  std::optional<Cleanup> cleanup = std::nullopt;
  // What is restored moves into such shards; nullopt for those that it was
  // saved from, of which a checkpoint is then opened as it is.
  std::optional<Layout> layout = std::nullopt;
};

// How the states of a program are set up: all alike.
struct Settings {
  Layout layout;
  bool has_ttl = true;
  std::int64_t ttl_ms = 100;
  bool refresh_on_read = false;
  std::int64_t granularity_ms = 0;
  bool return_expired = false;
  bool event_time = false;
  Cleanup cleanup = Cleanup::kDefault;
  // Of the machine's clock.
  std::int64_t start_ms = 0;

  bool on_heap() const { return layout.on_heap(); }
  // With a TTL of `ms`, or with none, or unchanged if it is 0.
  void ChangeTtl(std::int64_t ms);
  // Whether entries are checked bit by bit, unasked.
  bool incremental() const;
  // Whether compactions, and merges of list pieces, remove what has expired.
  bool compaction_filter() const;
};

struct Program {
  Settings settings;
  std::vector<Operation> operations;
};

inline constexpr int kKeys = 8;

// What the keys of states are called, and those of maps: so that a key and a
// map key put together without care would be another pair put together.
std::string KeyName(int key);
std::string MapKeyName(int map_key);
int MapKeyOf(const std::string& name);

// The i-th of the texts that an operation writes.
std::string TextOf(const Operation& operation, int i);

// What the reducing and the aggregating state fold with: it matters what comes
// when, and nothing grows for ever.
std::string Fold(const std::string& folded, const std::string& text);
inline constexpr char kEmptyAccumulator[] = "0";
inline constexpr char kResultPrefix[] = "=";

std::string ToString(const Settings& settings);
std::string ToString(const Operation& operation);
std::string ToString(const Program& program);

}  // namespace mayfly::model_test
