// Sections 6.2 to 6.4 of rows.md: namespaces that are merged, several
// keys, and snapshots that are gone back to. A namespace is a part of the key;
// a merge is what a job does that reads several of them and adds what it finds
// to another.
#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

Rows MergeRows() {
  const Program write = {Use{"key", "expired"},
                         Write{kE},
                         Use{"key", "expiredAndUpdated"},
                         Write{kE},
                         At{120},
                         Use{"key", "expiredAndUpdated"},
                         Write{kU},
                         Use{"key", "unexpired"},
                         Write{kU},
                         At{150},
                         Use{"key", "expiredAndUpdated"},
                         Write{kX},
                         Use{"key", "unexpired"},
                         Write{kX},
                         Use{"key", "final"},
                         Write{kX},
                         At{230}};
  const Merge merge{{"expired", "expiredAndUpdated", "unexpired", "unset"},
                    "final"};
  // The target's own elements come first.
  const Program merged = write + Program{merge};
  return {
      {"Row014", Suite(), merged + Program{Reads{{kX, kX, kX}}}, {"LF", "LV"}},
      {"Row015", Suite(), merged + Program{Reads{{kX, kU, kX, kU, kX}}}, {"R"}},
      // 6 + 3, and twice 7 + 6 + 3: the default once per live source.
      {"Row016", Suite(), merged + Program{ReadsText{"41"}}, {"A"}},
      {"Row017",
       Suite(),
       {Use{"key", "final"}, Write{kE}, Merge{{"unset", "never"}, "final"},
        Reads{{kE}}, Merge{{"unset", "never"}, "empty"}, Reads{}},
       {"LF", "LV", "A", "R"}},
  };
}

// Two of something that keeps entries apart.
Rows TwoRows(const Use& one, const Use& two, const std::string& empty,
             const std::string& first, const std::string& second,
             const std::string& third) {
  const Program row19 = {two,         Write{kE}, At{50},
                         one,         Write{kE}, two,
                         Write{kU},   At{120},   one,
                         Reads{{kE}}, two,       Reads{{kU}, Batches{kE, kU}}};
  const Program row20 = row19 + Program{At{170}, two, Write{kX},  At{230}, one,
                                        Reads{}, two, Reads{{kX}}};
  const Program row21 = row20 + Program{At{300}, one, Reads{}, two, Reads{}};
  return {{empty, Suite(), {one, Reads{}, two, Reads{}, Raw{kEmpty}}},
          {first, Suite(), row19},
          {second, Suite(), row20},
          {third, Suite(), row21 + Program{Raw{kEmpty}}}};
}

// As above with snapshots that hold nothing expired, after which the clock is
// set back.
Rows SetBackRows(const Use& one, const Use& two, const std::string& first,
                 const std::string& second) {
  const StateTtlConfig ttl =
      OnlyReadsRemove().CleanupFullSnapshot().Build().value();
  const Program write = {two,       Write{kE}, At{50},    one,
                         Write{kE}, two,       Write{kU}, At{170},
                         two,       Write{kX}, At{230}};
  const Program row25 =
      write + Program{Restart{}, At{170}, one, Reads{}, two, Reads{{kX}}};
  const Program row26 =
      write + Program{At{300}, Restart{}, At{230}, one, Reads{}, two, Reads{}};
  return {{first, ttl, row25}, {second, ttl, row26}};
}

}  // namespace

Rows KeyRows() {
  const Use key1{"id1"}, key2{"id2"};
  const Use space1{"key", "id1"}, space2{"key", "id2"};
  Rows rows = MergeRows();
  for (const Rows& more :
       {TwoRows(key1, key2, "Row018", "Row019", "Row020", "Row021"),
        // Rows 22 to 24 are 18 to 21 with namespaces; 22 is two of those.
        TwoRows(space1, space2, "Row022Empty", "Row022", "Row023", "Row024"),
        SetBackRows(key1, key2, "Row025", "Row026"),
        SetBackRows(space1, space2, "Row027", "Row028")}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  rows.push_back(
      {"Row029",
       Suite(),
       {Use{"k1"}, Write{kE}, At{50}, Write{kU}, At{100}, Use{"k2"}, Write{kE},
        Commit{}, At{170}, Use{"k1"}, Write{kX}, Use{"k2"}, Write{kU},
        Restore{}, At{180}, Use{"k1"}, Reads{}, Use{"k2"}, Reads{{kE}}}});
  return rows;
}

}  // namespace mayfly::conformance
