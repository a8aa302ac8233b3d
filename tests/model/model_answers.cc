// What the model allows as an answer.
#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/model/model.h"

namespace mayfly::model_test {

Allowed Model::Allow(const Operation& operation) {
  if (operation.action < Action::kPass && !Register(operation.state)) {
    return {.code = Code::kFailedPrecondition};
  }
  switch (operation.action) {
    case Action::kRead:
    case Action::kReadEntry:
    case Action::kContains:
    case Action::kWalk:
      return AllowRead(operation);
    case Action::kIsEmpty:
      return AllowIsEmpty(operation);
    case Action::kWrite:
    case Action::kAdd:
    case Action::kAddAll:
      return AllowWrite(operation);
    case Action::kPass:
    case Action::kSetBack:
    case Action::kJump:
    case Action::kSetRight:
    case Action::kMoveWatermark:
      return AllowClockMove(operation);
    case Action::kCount:
      return AllowCount(/*compacted=*/false);
    case Action::kCompact:
      return AllowCount(/*compacted=*/true);
    case Action::kRestart:
    case Action::kRewriteFiles:
      return {.items = {{{0, std::to_string(committed_.position)}}}};
    case Action::kRestore: {
      const Saved* const saved = SavedFor(operation);
      const Shard& shard = saved != nullptr ? saved->shard : committed_;
      return {.items = {{{0, std::to_string(shard.position)}}}};
    }
    case Action::kCheckpoint:
    case Action::kSavepoint:
      return {.code = committed_.position > 0 ? Code::kOk
                                              : Code::kFailedPrecondition};
    default:
      return {};
  }
}

Allowed Model::AllowRead(const Operation& read) const {
  Allowed allowed;
  std::size_t required = 0;
  for (const Entry& entry : ContentsOf(read)) {
    if (!Concerns(read, entry)) continue;
    const bool live = Live(entry);
    if (!live && !settings_.return_expired) continue;
    const bool sure = live || !PerhapsGone(entry);
    required += sure ? 1 : 0;
    allowed.items.push_back(
        {ShownBy(read, entry), sure && !IsPartOfAWalk(read)});
  }
  if (IsPartOfAWalk(read)) {
    const auto count = static_cast<std::size_t>(read.count);
    allowed.items_min = std::min(count, required);
    allowed.items_max = count;
  }
  return allowed;
}

Allowed Model::AllowIsEmpty(const Operation& operation) const {
  // As a walk of one entry would say, were it to show no more than that.
  Operation walk = operation;
  walk.action = Action::kWalk;
  walk.count = 1;
  const Allowed entries = AllowRead(walk);
  if (entries.items.empty()) return {.items = {{{0, "empty"}}}};
  return {.items = {{{0, "empty"}, false}},
          .items_max = entries.items_min > 0 ? std::size_t{0} : 1};
}

Allowed Model::AllowWrite(const Operation& write) const {
  if (write.ms == 0) return {};
  const Rule& rule = RuleOf(write.state);
  if (!rule.has_ttl || rule.ttl_ms == kInfiniteMs) {
    return {.code = Code::kFailedPrecondition};
  }
  // No stamp is before 1970.
  const bool in_range = write.ms == kForEverMs ||
                        (write.ms > 0 && NowMs() + write.ms - rule.ttl_ms >= 0);
  return {.code = in_range ? Code::kOk : Code::kInvalidArgument};
}

Allowed Model::AllowClockMove(const Operation& move) const {
  ModelTime after = time_;
  after.Move(move);
  if (!after.jumped()) return {};
  return {.items = {{{0, "jumped"}}}};
}

Allowed Model::AllowCount(bool compacted) const {
  Allowed allowed;
  for (std::size_t state = 0; state < kStateKinds; ++state) {
    if (!registered_[state]) continue;
    AllowCountOf(static_cast<StateKind>(state), compacted, allowed);
  }
  return allowed;
}

void Model::AllowCountOf(StateKind state, bool compacted,
                         Allowed& allowed) const {
  int live = 0;
  bool expired = false;
  bool surely_expired = false;
  for (int key = 0; key < kKeys; ++key) {
    for (const Entry& entry : shard_.contents[IndexOf(state, key)]) {
      live += Live(entry) ? 1 : 0;
      expired |= !Live(entry);
      surely_expired |= !Live(entry) && !PerhapsGone(entry);
    }
  }
  if (!settings_.on_heap()) {
    // It may store what readers have removed already.
    surely_expired = false;
    expired =
        !compacted || !settings_.compaction_filter() || TrustedMs() != NowMs();
  }
  const int at = static_cast<int>(state);
  allowed.items.push_back({{at, std::to_string(live)}});
  if (expired) allowed.items.push_back({{at, "expired"}, surely_expired});
}

}  // namespace mayfly::model_test
