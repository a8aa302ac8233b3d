#include "tests/model/model.h"

#include <algorithm>
#include <utility>

namespace mayfly::model_test {
Model::Model(const Settings& settings)
    : settings_(settings), time_(settings.start_ms) {}

// --- Rules ---

std::int64_t Model::NowMs() const {
  return settings_.event_time ? time_.watermark_ms() : time_.now_ms();
}

std::int64_t Model::TrustedMs() const {
  return settings_.event_time ? time_.watermark_ms() : time_.trusted_ms();
}

bool Model::Expired(const Entry& entry, std::int64_t at_ms) const {
  const Rule& rule = RuleOf(entry.state);
  if (!rule.has_ttl || entry.stamp_ms == kForEverMs) return false;
  if (entry.stamp_ms <= rule.expired_through_ms) return true;
  return rule.ttl_ms != kInfiniteMs && at_ms - entry.stamp_ms >= rule.ttl_ms;
}

bool Model::RefreshDue(const Operation&, const Entry& entry) const {
  const std::int64_t age_ms = NowMs() - entry.stamp_ms;
  return RuleOf(entry.state).has_ttl && settings_.refresh_on_read &&
         age_ms > 0 && age_ms >= settings_.granularity_ms;
}

std::int64_t Model::StampOf(const Operation& write) const {
  const Rule& rule = RuleOf(write.state);
  if (!rule.has_ttl || write.ms == kForEverMs) return kForEverMs;
  if (write.ms == 0) return NowMs();
  // Such that it expires when it should under the TTL of all.
  return std::max(NowMs() + write.ms - rule.ttl_ms,
                  rule.expired_through_ms + 1);
}

bool Model::Accumulates(const Entry& accumulator) const {
  // What a jump alone hides is not lost.
  return !Doomed(accumulator);
}

bool Model::Removes(const Operation& read, bool returned,
                    bool /*behind_live*/) const {
  // RocksDB leaves expired elements out whenever it merges pieces of a list,
  // which need not be what it did when it wrote them down.
  return returned || !settings_.return_expired || settings_.on_heap() ||
         read.state != StateKind::kList;
}

bool Model::LeavesOut(const Entry& entry, int /*key*/,
                      std::int64_t at_ms) const {
  return Expired(entry, at_ms);
}

bool Model::PerhapsGone(const Entry& entry) const {
  const bool background =
      settings_.incremental() || settings_.compaction_filter();
  return entry.perhaps_gone || (background && Doomed(entry));
}

std::size_t Model::IndexOf(StateKind state, int key) {
  return static_cast<std::size_t>(state) * kKeys +
         static_cast<std::size_t>(key);
}

const Entries& Model::ContentsOf(const Operation& operation) const {
  return shard_.contents[IndexOf(operation.state, operation.key)];
}

Entries& Model::ContentsOf(const Operation& operation) {
  return shard_.contents[IndexOf(operation.state, operation.key)];
}

const Model::Rule& Model::RuleOf(StateKind state) const {
  return shard_.rules[static_cast<std::size_t>(state)];
}

bool Model::Concerns(const Operation& operation, const Entry& entry) {
  const bool one_entry = operation.action == Action::kReadEntry ||
                         operation.action == Action::kContains ||
                         operation.action == Action::kRemoveEntry;
  return !one_entry || entry.map_key == operation.map_key;
}

bool Model::IsPartOfAWalk(const Operation& read) {
  return read.action == Action::kWalk && read.count > 0;
}

Item Model::ShownBy(const Operation& read, const Entry& entry) {
  if (read.action == Action::kContains) return {entry.map_key, "contained"};
  if (read.state == StateKind::kAggregating) {
    return {entry.map_key, kResultPrefix + entry.value};
  }
  return {entry.map_key, entry.value};
}

// --- What happens ---

void Model::Apply(const Operation& operation, const Answer& answer) {
  const bool on_contents = operation.action < Action::kPass;
  if (on_contents && !registered_[static_cast<std::size_t>(operation.state)]) {
    return;
  }
  switch (operation.action) {
    case Action::kRead:
    case Action::kReadEntry:
    case Action::kContains:
    case Action::kWalk:
      return ApplyRead(operation, answer);
    case Action::kWrite:
    case Action::kAdd:
    case Action::kAddAll:
      if (answer.code == Code::kOk) Write(operation);
      return;
    case Action::kRemoveEntry:
    case Action::kClear:
      return Remove(operation);
    case Action::kPass:
    case Action::kSetBack:
    case Action::kJump:
    case Action::kSetRight:
    case Action::kMoveWatermark:
      return time_.Move(operation);
    case Action::kCleanUp:
      return CleanUp(/*surely=*/false);
    case Action::kCleanUpAll:
      return CleanUp(/*surely=*/settings_.on_heap());
    case Action::kCommit:
    case Action::kCount:
    case Action::kCompact:
      BeginCommit(operation);
      return FinishCommit();
    case Action::kBeginCommit:
      BeginCommit(operation);
      // RocksDB does all of it at once.
      if (!settings_.on_heap()) FinishCommit();
      return;
    case Action::kFinishCommit:
      return FinishCommit();
    case Action::kCheckpoint:
    case Action::kSavepoint:
      return Save(operation);
    case Action::kRestart:
    case Action::kRewriteFiles:
      return Restart(operation);
    case Action::kRestore:
      return Restore(operation);
    // What these may remove, PerhapsGone() says always.
    case Action::kCleanUpInBackground:
    case Action::kCompactUncommitted:
    case Action::kSweep:
    case Action::kIsEmpty:
    case Action::kStepCommit:
      return;
  }
}

void Model::ApplyRead(const Operation& read, const Answer& answer) {
  Entries& entries = ContentsOf(read);
  ReadSoFar so_far;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!KeepsRead(read, answer, entries[i], so_far)) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
  if (!so_far.refreshes || read.state != StateKind::kList) return;
  // A list is written as a whole, so all that lives in it is renewed.
  for (Entry& entry : entries) {
    if (Live(entry)) entry.stamp_ms = std::max(entry.stamp_ms, NowMs());
  }
}

bool Model::KeepsRead(const Operation& read, const Answer& answer, Entry& entry,
                      ReadSoFar& so_far) const {
  if (!Concerns(read, entry)) return true;
  const bool returned = so_far.returned < answer.items.size() &&
                        answer.items[so_far.returned] == ShownBy(read, entry);
  so_far.returned += returned ? 1 : 0;
  if (returned && read.remove_every > 0 &&
      entry.map_key % read.remove_every == 0) {
    return false;
  }
  if (Live(entry)) {
    so_far.live = true;
    if (RefreshDue(read, entry) && (returned || !IsPartOfAWalk(read))) {
      entry.stamp_ms = NowMs();
      so_far.refreshes = true;
    }
    return true;
  }
  // By a jump alone: nothing is destroyed.
  if (!Doomed(entry)) return true;
  if (returned || !IsPartOfAWalk(read)) {
    if (Removes(read, returned, so_far.live)) return false;
    entry.perhaps_gone = true;
  } else if (!settings_.return_expired) {
    // The walk has passed it, or not.
    entry.perhaps_gone = true;
  }
  return true;
}

void Model::Write(const Operation& write) {
  Entries& entries = ContentsOf(write);
  switch (write.state) {
    case StateKind::kValue:
      entries = {{.state = write.state,
                  .value = TextOf(write, 0),
                  .stamp_ms = StampOf(write)}};
      return;
    case StateKind::kList:
      if (write.action == Action::kWrite) entries.clear();
      for (int i = 0; i < write.count; ++i) {
        entries.push_back({.state = write.state,
                           .value = TextOf(write, i),
                           .stamp_ms = StampOf(write)});
      }
      return;
    case StateKind::kMap:
      return PutEntries(write);
    case StateKind::kReducing:
    case StateKind::kAggregating:
      return Accumulate(write);
  }
}

void Model::Accumulate(const Operation& add) {
  Entries& entries = ContentsOf(add);
  const std::string text = TextOf(add, 0);
  Entry entry{.state = add.state, .stamp_ms = StampOf(add)};
  if (!entries.empty() && Accumulates(entries[0])) {
    entry.value = Fold(entries[0].value, text);
  } else if (add.state == StateKind::kReducing) {
    entry.value = text;
  } else {
    entry.value = Fold(kEmptyAccumulator, text);
  }
  entries = {std::move(entry)};
}

void Model::PutEntries(const Operation& put) {
  Entries& entries = ContentsOf(put);
  for (int i = 0; i < put.count; ++i) {
    Entry entry{.state = put.state,
                .map_key = put.map_key + i,
                .value = TextOf(put, i),
                .stamp_ms = StampOf(put)};
    const auto it = std::lower_bound(
        entries.begin(), entries.end(), entry.map_key,
        [](const Entry& a, int map_key) { return a.map_key < map_key; });
    if (it != entries.end() && it->map_key == entry.map_key) {
      *it = std::move(entry);
    } else {
      entries.insert(it, std::move(entry));
    }
  }
}

void Model::Remove(const Operation& remove) {
  std::erase_if(ContentsOf(remove),
                [&](const Entry& entry) { return Concerns(remove, entry); });
}

void Model::CleanUp(bool surely) {
  for (std::size_t i = 0; i < shard_.contents.size(); ++i) {
    if (!registered_[i / kKeys]) continue;
    Entries& entries = shard_.contents[i];
    if (surely) {
      std::erase_if(entries,
                    [this](const Entry& entry) { return Doomed(entry); });
    }
    for (Entry& entry : entries) entry.perhaps_gone |= Doomed(entry);
  }
}

// --- Commits and restarts ---

std::int64_t Model::CommittedMs() const {
  return settings_.event_time ? committed_.watermark_ms : committed_.trusted_ms;
}

bool Model::Register(StateKind state) {
  const auto at = static_cast<std::size_t>(state);
  if (registered_[at]) return true;
  Rule& rule = shard_.rules[at];
  const bool migrates = rule.recorded && rule.has_ttl != settings_.has_ttl;
  if (migrates && settings_.has_ttl && settings_.event_time &&
      time_.watermark_ms() == 0) {
    return false;
  }
  registered_[at] = true;
  if (!settings_.on_heap()) {
    // Until now entries were removed by the rule that is recorded.
    for (int key = 0; key < kKeys; ++key) {
      for (Entry& entry : shard_.contents[IndexOf(state, key)]) {
        entry.perhaps_gone |= Expired(entry, CommittedMs());
      }
    }
  }
  if (migrates) {
    Migrate(state);
  } else if (rule.recorded && rule.ttl_ms != settings_.ttl_ms &&
             rule.ttl_ms != kInfiniteMs) {
    // Once expired, always expired.
    rule.expired_through_ms = std::max(
        rule.expired_through_ms, ExpiredForGoodMs(CommittedMs() - rule.ttl_ms));
  }
  rule.has_ttl = settings_.has_ttl;
  rule.ttl_ms = settings_.ttl_ms;
  return true;
}

// All entries are rewritten: with a first timestamp, or with none.
void Model::Migrate(StateKind state) {
  Rule& rule = shard_.rules[static_cast<std::size_t>(state)];
  for (int key = 0; key < kKeys; ++key) {
    Entries& entries = shard_.contents[IndexOf(state, key)];
    std::erase_if(
        entries, [this](const Entry& entry) { return !OutlivesItsTtl(entry); });
    for (Entry& entry : entries) {
      entry.stamp_ms = rule.has_ttl ? kForEverMs : FirstStampMs();
    }
  }
  rule.expired_through_ms = std::numeric_limits<std::int64_t>::min();
}

void Model::BeginCommit(const Operation& commit) {
  FinishCommit();
  shard_.trusted_ms = time_.trusted_ms();
  shard_.watermark_ms = time_.watermark_ms();
  shard_.position = commit.number;
  for (std::size_t state = 0; state < kStateKinds; ++state) {
    shard_.rules[state].recorded |= registered_[state];
  }
  // A restart may switch off what has perhaps removed them.
  if (settings_.incremental()) CleanUp(/*surely=*/false);
  pending_ = shard_;
  if (KeepsUnregistered()) return;
  for (std::size_t i = 0; i < pending_->contents.size(); ++i) {
    if (!registered_[i / kKeys]) pending_->contents[i].clear();
  }
}

void Model::FinishCommit() {
  if (!pending_) return;
  committed_ = CommitsWhatWasThen() ? *std::move(pending_) : shard_;
  pending_.reset();
}

void Model::Save(const Operation& save) {
  if (committed_.position == 0) return;
  Saved saved{.shard = SavesOnlyCommitted() ? committed_ : shard_,
              .from = settings_.layout,
              .is_savepoint = save.action == Action::kSavepoint};
  for (Entries& entries : saved.shard.contents) {
    std::erase_if(entries,
                  [this](const Entry& entry) { return !Saves(entry); });
  }
  saved_.at(static_cast<std::size_t>(save.count)) = std::move(saved);
}

void Model::Restart(const Operation& restart) {
  settings_.ChangeTtl(restart.ms);
  settings_.cleanup = restart.cleanup.value_or(settings_.cleanup);
  pending_.reset();
  if (ForgetsUncommitted()) shard_ = committed_;
  registered_.fill(false);
  time_.Restart(committed_.trusted_ms, committed_.watermark_ms);
}

const Model::Saved* Model::SavedFor(const Operation& restore) const {
  const std::optional<Saved>& saved = saved_.at(PlaceOf(restore));
  return saved ? &*saved : nullptr;
}

void Model::Restore(const Operation& restore) {
  if (const Saved* const saved = SavedFor(restore)) {
    shard_ = saved->shard;
    settings_.layout = restore.layout.value_or(saved->from);
    if (saved->is_savepoint || restore.layout) MoveIntoOtherShards();
    committed_ = shard_;
  }
  Restart(restore);
}

// What has expired by the machine's clock stays behind, and with it what an
// earlier TTL had to say.
void Model::MoveIntoOtherShards() {
  const std::int64_t at_ms = settings_.event_time
                                 ? shard_.watermark_ms
                                 : std::max(shard_.trusted_ms, time_.wall_ms());
  for (std::size_t i = 0; i < shard_.contents.size(); ++i) {
    const int key = static_cast<int>(i % kKeys);
    std::erase_if(shard_.contents[i], [&](const Entry& entry) {
      return LeavesOut(entry, key, at_ms);
    });
  }
  for (Rule& rule : shard_.rules) {
    rule.expired_through_ms = std::numeric_limits<std::int64_t>::min();
  }
}

}  // namespace mayfly::model_test
