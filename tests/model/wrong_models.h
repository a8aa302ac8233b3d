// Models that are wrong in one rule each, to be found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tests/model/model.h"

namespace mayfly::model_test {

// --- Reads, writes and time ---

struct ExpiresOneMillisecondLate : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool Expired(const Entry& entry, std::int64_t at_ms) const override {
    return Model::Expired(entry, at_ms - 1);
  }
};

struct ExpiresOneMillisecondEarly : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool Expired(const Entry& entry, std::int64_t at_ms) const override {
    return Model::Expired(entry, at_ms + 1);
  }
};

// As cleaners do that stop at the first element that is live.
struct RemovesOnlyThePrefixOfAList : Model {
  using Model::Model;
  static Settings Where() { return {.return_expired = true}; }
  bool Removes(const Operation& read, bool returned,
               bool behind_live) const override {
    return !behind_live && Model::Removes(read, returned, behind_live);
  }
};

struct DoesNotRefreshOnRead : Model {
  using Model::Model;
  static Settings Where() { return {.refresh_on_read = true}; }
  bool RefreshDue(const Operation&, const Entry&) const override {
    return false;
  }
};

struct DoesNotRefreshOnContains : Model {
  using Model::Model;
  static Settings Where() { return {.refresh_on_read = true}; }
  bool RefreshDue(const Operation& read, const Entry& entry) const override {
    return read.action != Action::kContains && Model::RefreshDue(read, entry);
  }
};

struct RefreshesWhatIsTooYoung : Model {
  using Model::Model;
  static Settings Where() { return {.refresh_on_read = true}; }
  bool RefreshDue(const Operation&, const Entry& entry) const override {
    return entry.stamp_ms < NowMs();
  }
};

struct RevivesAnExpiredAccumulator : Model {
  using Model::Model;
  static Settings Where() { return {.return_expired = true}; }
  bool Accumulates(const Entry&) const override { return true; }
};

struct IgnoresTheTtlOfAWrite : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  std::int64_t StampOf(const Operation& write) const override {
    Operation without = write;
    without.ms = 0;
    return Model::StampOf(without);
  }
};

struct ReturnsWhatHasExpiredAgainAndAgain : Model {
  using Model::Model;
  static Settings Where() { return {.return_expired = true}; }
  bool Removes(const Operation&, bool, bool) const override { return false; }
};

struct DestroysByAClockThatJumped : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  std::int64_t TrustedMs() const override { return NowMs(); }
};

struct KeepsWhatWasNotCommitted : Model {
  using Model::Model;
  static Settings Where() { return {.has_ttl = false}; }
  bool ForgetsUncommitted() const override { return false; }
};

// --- Commits, what is saved, and what is restored ---

struct CommitsWhatChangedMeanwhile : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool CommitsWhatWasThen() const override { return false; }
};

struct ForgetsWhatNobodyRegistered : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool KeepsUnregistered() const override { return false; }
};

struct SavesWhatIsNotCommitted : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool SavesOnlyCommitted() const override { return false; }
};

struct ForgetsTheLastWrite : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool Saves(const Entry& entry) const override {
    return entry.stamp_ms != NowMs();
  }
};

struct RestoresTheOtherPlace : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  std::size_t PlaceOf(const Operation& restore) const override {
    return 1 - Model::PlaceOf(restore);
  }
};

struct LosesOneKeyOnItsWay : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool LeavesOut(const Entry& entry, int key,
                 std::int64_t at_ms) const override {
    return key == kKeys - 1 || Model::LeavesOut(entry, key, at_ms);
  }
};

struct RestoresWhatHasExpired : Model {
  using Model::Model;
  static Settings Where() { return {.return_expired = true}; }
  bool LeavesOut(const Entry&, int, std::int64_t) const override {
    return false;
  }
};

// --- Other TTLs ---

struct RevivesUnderALongerTtl : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  std::int64_t ExpiredForGoodMs(std::int64_t) const override {
    return std::numeric_limits<std::int64_t>::min();
  }
};

struct KeepsExpiredWithoutTtl : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  bool OutlivesItsTtl(const Entry&) const override { return true; }
};

struct LeavesWhatGetsATtlUnstamped : Model {
  using Model::Model;
  static Settings Where() { return {}; }
  std::int64_t FirstStampMs() const override { return 0; }
};

}  // namespace mayfly::model_test
