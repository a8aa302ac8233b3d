// Sections 6.5 and 6.6 of rows.md: what incremental clean-up, a round of
// it and the compaction filter remove.
#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

// As many keys as make a table grow while it is cleaned.
constexpr int kKeys = (64 + 32 + 1) * 10;
const Keys kAll{"key", 0, kKeys};

StateTtlConfig AtEachRecord(StateVisibility visibility = kNever) {
  return OnlyReadsRemove(kWrites, visibility)
      .CleanupIncrementally(5, true)
      .Build()
      .value();
}

Program AccessOthers(const std::string& prefix) {
  return {AccessEach{{prefix, 0, kKeys}}};
}

// What AccessOthers() leaves: every other key was written.
StoredKeys Others(int times) { return {times * kKeys / 2, {kE}}; }

// On RocksDB it walks what is committed.
Rows IncrementalRows() {
  const Program write = {WriteEach{kAll, kE}, At{50},
                         WriteEach{{"key", 0, 160}, kU}, Commit{}};
  const Program write_on = {WriteEach{{"key", 160, 320}, kU}, At{120}};
  // E of lists and maps has expired beside U, which takes a moment to go too.
  const Program row33 =
      write + write_on + AccessOthers("other") +
      Program{ReadsEach{{"key", 0, 320}, {{kU}, Batches{kE, kU}}},
              Stores{{{320, {kU}}, Others(1)}}};
  // The snapshot is a commit, and what came after it is given up.
  const Program back =
      write + write_on + AccessOthers("other") + Program{At{50}, Restore{}};
  const Program row34 = back + Program{ReadsEach{{"key", 160, kKeys}, {{kE}}}};
  const Program row35 =
      row34 + Program{At{120}, ClearEach{{"key", 80, 200}},
                      ReadsEach{{"key", 0, 80}, {{kU}, Batches{kE, kU}}}};
  const Program row36 =
      row35 + AccessOthers("second") + Program{Stores{{{80, {kU}}, Others(1)}}};
  const Program row37 = row36 + Program{At{170}} + AccessOthers("third") +
                        Program{Stores{{Others(2)}}};
  return {
      {"Row032",
       AtEachRecord(),
       {WriteEach{kAll, kE}, Commit{}, At{120}, UseEach{kAll}, Raw{kEmpty}}},
      {"Row033", AtEachRecord(), row33},
      // What is written behind a step is not removed with what was there.
      {"Row033RewrittenAfterAStep",
       AtEachRecord(),
       {WriteEach{kAll, kE}, Commit{}, At{120}, UseEach{{"other", 0, kKeys}},
        WriteEach{kAll, kU}, Restart{}, ReadsEach{kAll, {{kU}}},
        Stores{{{kKeys, {kU}}}}}},
      {"Row034", AtEachRecord(), row34},
      {"Row035", AtEachRecord(), row35},
      {"Row036", AtEachRecord(), row36},
      {"Row037", AtEachRecord(), row37}};
}

// Rows 38 to 42, with something that removes what has expired. Expired is
// returned, so that what is not read is not there.
Rows RemovalRows(const Step& remove, const std::string& suffix,
                 Backends backends) {
  const StateTtlConfig ttl = state_test::Ttl(100, kWrites, kReturn);
  const Program row38 = {remove, Reads{}, Raw{kEmpty}};
  const Program row39 = {Use{"k1"}, Write{kE}, Use{"k2"}, Write{kE},
                         Raw{kPresent}};
  const Program row40 =
      row39 + Program{At{50},      remove,    Raw{kPresent}, Use{"k1"},
                      Reads{{kE}}, Use{"k2"}, Reads{{kE}}};
  const Reads only_u{{kU}, Batches{kE, kU}};
  const Program row41 =
      row40 + Program{Use{"k1"}, Write{kU}, Use{"k2"}, Write{kU},     At{80},
                      remove,    At{120},   remove,    Raw{kPresent}, Use{"k1"},
                      only_u,    Use{"k2"}, only_u};
  const Program row42 =
      row41 + Program{At{170}, remove,    Raw{kEmpty}, Use{"k1"},
                      Reads{}, Use{"k2"}, Reads{}};
  Rows rows = {{"Row038" + suffix, ttl, row38},
               {"Row039" + suffix, ttl, row39},
               {"Row040" + suffix, ttl, row40},
               {"Row041" + suffix, ttl, row41},
               {"Row042" + suffix, ttl, row42}};
  for (Row& row : rows) {
    row.backends = backends;
    if (backends != Backends::kRocksdbOnly) continue;
    row.not_carried = {{Carriage::kOtherBackend, "heap has no compactions"}};
  }
  return rows;
}

// An accumulator that is added to every half TTL holds all of it.
Program AddedEveryHalfTtl() {
  Program program;
  Batches folded;
  for (TimestampMs now_ms = 0; now_ms <= 1000; now_ms += 50) {
    folded.push_back(kE);
    program = program + Program{At{now_ms}, Write{kE}, At{now_ms + 49},
                                Reads{{kE}, folded}};
  }
  return program;
}

}  // namespace

Rows CleanUpRows() {
  Rows rows = {
      {"Row119", AtEachRecord(), AddedEveryHalfTtl(), {"V", "ME", "A", "R"}},
      // Steps have been paid for, and still the entry is returned: the current
      // key was chosen before it expired.
      {"Row120",
       AtEachRecord(kReturn),
       {WriteEach{{"other", 0, 100}, kE}, Use{"key"}, Write{kE}, At{120},
        Reads{{kE}}, Reads{}}},
      // A table with ten keys where there were as many as elsewhere.
      {"Row124",
       AtEachRecord(),
       {WriteEach{kAll, kE}, ClearEach{{"key", 10, kKeys}}, Commit{}, At{120},
        UseEach{{"other", 0, kKeys}}, Raw{kEmpty}}},
  };
  for (const Rows& more :
       {IncrementalRows(),
        RemovalRows(Compact{}, "Compaction", Backends::kRocksdbOnly),
        RemovalRows(CleanUp{}, "CleanUp", Backends::kBoth)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace mayfly::conformance
