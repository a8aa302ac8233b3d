// A plain model of a shard: the contents of each key of each state in a vector,
// and the rules of TTL written down once more. It shares no code with the
// library, the arithmetic of expiry included.
//
// The rules that the canaries break are virtual.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/model/answer.h"
#include "tests/model/model_time.h"
#include "tests/model/program.h"

namespace mayfly::model_test {

// What expires by itself: a value, an accumulator, a list element, a map entry.
struct Entry {
  StateKind state = StateKind::kValue;
  int map_key = 0;
  std::string value;
  std::int64_t stamp_ms = 0;
  // Has expired, and clean-up had an occasion to remove it.
  bool perhaps_gone = false;
};

// Of one key of one state. A list's in their order, a map's by their keys.
using Entries = std::vector<Entry>;

class Model {
 public:
  explicit Model(const Settings& settings);
  virtual ~Model() = default;

  // What a right shard may answer to an operation, for which a state is
  // registered if it is used for the first time since a restart.
  Allowed Allow(const Operation& operation);

  // Does what the operation does, to which a shard gave this allowed answer.
  void Apply(const Operation& operation, const Answer& answer);

 protected:
  // Whether an entry has expired at `at_ms`.
  virtual bool Expired(const Entry& entry, std::int64_t at_ms) const;
  // Whether a read of a live entry renews it.
  virtual bool RefreshDue(const Operation& read, const Entry& entry) const;
  // The timestamp of a write.
  virtual std::int64_t StampOf(const Operation& write) const;
  // Whether an Add() goes on with an accumulator.
  virtual bool Accumulates(const Entry& accumulator) const;
  // Whether a read that has met an expired entry has removed it for good;
  // `behind_live` is one that comes after a live entry.
  virtual bool Removes(const Operation& read, bool returned,
                       bool behind_live) const;
  // By what time entries are destroyed.
  virtual std::int64_t TrustedMs() const;
  // What a restart goes back to.
  virtual bool ForgetsUncommitted() const { return true; }
  // Whether a restore into other shards leaves an entry of a key out: one that
  // has expired under its rule.
  virtual bool LeavesOut(const Entry& entry, int key, std::int64_t at_ms) const;
  // Whether an entry stays when its state's TTL is switched off.
  virtual bool OutlivesItsTtl(const Entry& entry) const {
    return !Doomed(entry);
  }
  // The timestamp of what was stored without one, of a state that gets a TTL.
  virtual std::int64_t FirstStampMs() const { return TrustedMs(); }
  // What is stamped no later has expired, however long a new TTL is, where
  // `expired_ms` had under the one before.
  virtual std::int64_t ExpiredForGoodMs(std::int64_t expired_ms) const {
    return expired_ms;
  }
  // Where a restore looks for what was saved at a place.
  virtual std::size_t PlaceOf(const Operation& restore) const {
    return static_cast<std::size_t>(restore.count);
  }
  // Whether a commit keeps what nobody has registered.
  virtual bool KeepsUnregistered() const { return true; }
  // Whether a commit in parts is of the time when it began.
  virtual bool CommitsWhatWasThen() const { return true; }
  // Whether what is saved is as of the last commit, not of now; and an entry is
  // in it.
  virtual bool SavesOnlyCommitted() const { return true; }
  virtual bool Saves(const Entry&) const { return true; }

  std::int64_t NowMs() const;
  // Has expired, and may be destroyed.
  bool Doomed(const Entry& entry) const { return Expired(entry, TrustedMs()); }

 private:
  // By what a state's entries expire.
  struct Rule {
    bool has_ttl = false;
    std::int64_t ttl_ms = 0;
    // What is stamped no later had expired under an earlier TTL.
    std::int64_t expired_through_ms = std::numeric_limits<std::int64_t>::min();
    bool recorded = false;
  };

  // All that a restart may take back.
  struct Shard {
    std::array<Entries, kKeys * kStateKinds> contents;
    std::int64_t trusted_ms = 0;
    std::int64_t watermark_ms = 0;
    int position = 0;
    std::array<Rule, kStateKinds> rules;
  };

  // What was saved, and of what.
  struct Saved {
    Shard shard;
    Layout from;
    bool is_savepoint = false;
  };

  static std::size_t IndexOf(StateKind state, int key);
  const Rule& RuleOf(StateKind state) const;
  const Entries& ContentsOf(const Operation& operation) const;
  Entries& ContentsOf(const Operation& operation);

  bool Live(const Entry& entry) const { return !Expired(entry, NowMs()); }
  // Whether it may have been removed unnoticed.
  bool PerhapsGone(const Entry& entry) const;

  // Whether a read is about an entry, or a removal.
  static bool Concerns(const Operation& operation, const Entry& entry);
  static bool IsPartOfAWalk(const Operation& read);
  // An entry as a read returns it.
  static Item ShownBy(const Operation& read, const Entry& entry);

  // False if the state cannot be had as it is asked for: it would be stamped by
  // event time, and there is none yet.
  bool Register(StateKind state);
  void Migrate(StateKind state);
  std::int64_t CommittedMs() const;
  // What a restore goes back to; null if nothing was saved there.
  const Saved* SavedFor(const Operation& restore) const;

  Allowed AllowRead(const Operation& read) const;
  Allowed AllowIsEmpty(const Operation& operation) const;
  Allowed AllowWrite(const Operation& write) const;
  Allowed AllowClockMove(const Operation& move) const;
  Allowed AllowCount(bool compacted) const;
  void AllowCountOf(StateKind state, bool compacted, Allowed& allowed) const;

  // What a read has come across.
  struct ReadSoFar {
    std::size_t returned = 0;
    bool live = false;
    bool refreshes = false;
  };

  void ApplyRead(const Operation& read, const Answer& answer);
  // Reads one entry; false if that has removed it.
  bool KeepsRead(const Operation& read, const Answer& answer, Entry& entry,
                 ReadSoFar& so_far) const;
  void Write(const Operation& write);
  void Accumulate(const Operation& add);
  void PutEntries(const Operation& put);
  void Remove(const Operation& remove);
  void CleanUp(bool surely);
  void BeginCommit(const Operation& commit);
  void FinishCommit();
  void Save(const Operation& save);
  void Restart(const Operation& restart);
  void Restore(const Operation& restore);
  void MoveIntoOtherShards();

  // The TTL with which states are registered, the clean-up and the shards of
  // now are in it.
  Settings settings_;
  ModelTime time_;
  std::array<bool, kStateKinds> registered_{};
  Shard shard_;
  // Of a commit under way.
  std::optional<Shard> pending_;
  Shard committed_;
  std::array<std::optional<Saved>, kPlaces> saved_;
};

}  // namespace mayfly::model_test
