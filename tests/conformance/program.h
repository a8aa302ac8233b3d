// The language in which the rows are written down: what happens,
// step by step, and what must be seen.
//
//   Program{Write{kE}, At{50}, Write{kU}, At{120},
//           Reads{{kU}, Batches{kE, kU}}}
//
// Between any two steps the variants of the suite may carry the state elsewhere
// (carriage.h), which no program says and none may notice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mayfly/serde/timestamp.h"
#include "mayfly/state/ttl_config.h"

namespace mayfly::conformance {

// What a context writes at once; each context has its own contents for them.
enum class Batch { kE, kU, kX };
using enum Batch;
using Batches = std::vector<Batch>;

// A user's key and a namespace; Mayfly has namespaces only as a part of keys.
using Key = std::pair<std::string, std::string>;

// The TTL that a state is registered with; nullopt for none.
using MaybeTtl = std::optional<StateTtlConfig>;

// Several keys: `prefix` with the numbers from `from` up to but not `to`.
struct Keys {
  std::string prefix;
  int from = 0;
  int to = 0;
};

// --- Time ---

// Lets time pass until `time_ms`, or sets the clock back to it.
struct At {
  TimestampMs time_ms;
};
struct Watermark {
  TimestampMs time_ms;
};

// --- Operations of a job ---

struct Use {
  std::string key;
  std::string name_space = "";
};
struct Write {
  Batch batch;
};
struct Clear {};

// For each of several keys in turn, which becomes current: nothing more, a
// write, a clear, or alternately a read and a write of kE.
struct UseEach {
  Keys keys;
};
struct WriteEach {
  Keys keys;
  Batch batch;
};
struct ClearEach {
  Keys keys;
};
struct AccessEach {
  Keys keys;
};

// Moves what the namespaces of the current key hold into another of them.
struct Merge {
  std::vector<std::string> sources;
  std::string target;
};

// --- What a reader sees ---

// The batches that a read of the current key shows. Elements and map entries
// have a time each and an accumulator has one for all that was folded into it,
// so that kinds may differ; nullopt says that they do not.
struct Reads {
  Batches elements = {};
  std::optional<Batches> folded = std::nullopt;
};
struct ReadsText {
  std::string text;
};
struct ReadsEach {
  Keys keys;
  Reads shown;
};

// --- What is stored, expired or not ---

enum class Contents { kEmpty, kPresent };
using enum Contents;

// Whether the state holds anything; on RocksDB, after a commit.
struct Raw {
  Contents contents;
};

// Exactly what it holds: so many keys with such batches.
struct StoredKeys {
  int keys;
  Batches batches;
};
struct Stores {
  std::vector<StoredKeys> all;
};

// --- Backends ---

struct Commit {};

// Gives up the backend and goes on from its last commit.
struct Restore {};

// A commit, and a restart from it; with another TTL if one is given.
struct Restart {
  std::optional<MaybeTtl> ttl = std::nullopt;
};

// The same, and from here on a TTL may be switched on and off.
struct RestartMigrating {
  MaybeTtl ttl;
};

// A restart in which registering with this TTL asks for a migration, which is
// not allowed.
struct RestartRefused {
  MaybeTtl ttl;
};

// Commits and compacts, on RocksDB.
struct Compact {};

// A whole round of clean-up, and on RocksDB a commit, which writes it.
struct CleanUp {};

using Step = std::variant<At, Watermark, Use, Write, Clear, UseEach, WriteEach,
                          ClearEach, AccessEach, Merge, Reads, ReadsText,
                          ReadsEach, Raw, Stores, Commit, Restore, Restart,
                          RestartMigrating, RestartRefused, Compact, CleanUp>;
using Program = std::vector<Step>;

// One program after another: most rows go on where another one ended.
inline Program operator+(Program first, const Program& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace mayfly::conformance
