// Section 6.1 of rows.md, and 6.12: one key from its first write on.
#include <cstdint>
#include <limits>

#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// On create and write, never returning expired: each row goes on where the one
// before it ended.
Rows WrittenRows() {
  const Program row3 = {Write{kE}, At{20}, Reads{{kE}}};
  const Program row4 =
      row3 + Program{At{50}, Write{kU}, At{120}, Reads{{kU}, Batches{kE, kU}}};
  const Program row5 = row4 + Program{At{170}, Write{kX}, At{220}, Reads{{kX}}};
  const Program row6 = row5 + Program{At{300}, Reads{}, Raw{kEmpty}};
  return {{"Row003", Suite(), row3},
          {"Row004", Suite(), row4},
          {"Row005", Suite(), row5},
          {"Row006", Suite(), row6}};
}

Rows ReturnedOnceRows() {
  const StateTtlConfig ttl = Suite(kWrites, kReturn);
  const Program row7 = {Write{kE}, At{120}, Reads{{kE}}};
  const Program row8 = row7 + Program{Raw{kEmpty}};
  const Program row9 = row7 + Program{Reads{}};
  return {{"Row007", ttl, row7}, {"Row008", ttl, row8}, {"Row009", ttl, row9}};
}

Rows RenewedByReadsRows() {
  const Program row10 = {Write{kE}, At{50}, Reads{{kE}}, At{120}, Reads{{kE}}};
  const Program row11 = row10 + Program{At{250}, Reads{}, Raw{kEmpty}};
  const Program row12 = {Write{kE}, At{50},      Reads{{kE}},
                         At{170},   Reads{{kE}}, Reads{}};
  return {{"Row010", Suite(kReadsToo), row10},
          {"Row011", Suite(kReadsToo), row11},
          {"Row012", Suite(kReadsToo, kReturn), row12}};
}

}  // namespace

Rows LifeRows() {
  Rows rows = {
      {"Row001", Suite(), {Reads{}, Reads{}, Raw{kEmpty}}},
      {"Row002",
       Suite(kWrites, kReturn),
       {Write{kU}, Reads{{kU}}, Clear{}, Reads{}, Raw{kEmpty}}},
      {"Row013",
       Lasting(kMax),
       {At{10}, Write{kE}, At{50}, Reads{{kE}}, At{kMax - 1}, Reads{{kE}}}},
      {"Row086",
       Lasting(3'600'000),
       {Write{kE}, At{3'599'999}, Reads{{kE}}, At{3'600'001}, Reads{}}},
  };
  for (const Rows& more :
       {WrittenRows(), ReturnedOnceRows(), RenewedByReadsRows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace mayfly::conformance
