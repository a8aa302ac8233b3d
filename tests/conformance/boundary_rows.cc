// Section 6.15 of rows.md, Flink's SQL operators, as the TTLs that they
// pin; and rows derived from code.
#include <cstdint>
#include <limits>

#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Rows OperatorRows() {
  const Program join = {At{1}, Write{kE}};
  return {
      {"Row094", Lasting(4000),
       join + Program{At{4000}, Reads{{kE}}, At{4001}, Reads{}}},
      {"Row095", Lasting(4000),
       join + Program{At{4000}, Write{kU}, At{7999},
                      Reads{{kU}, Batches{kE, kU}}, At{8000}, Reads{}}},
      {"Row096Right", Lasting(1000), join + Program{At{3000}, Reads{}}},
      {"Row096Left", Lasting(4000), join + Program{At{4001}, Reads{}}},
      {"Row096LeftRefreshed", Lasting(4000),
       join + Program{At{3000}, Write{kU}, At{6999},
                      Reads{{kU}, Batches{kE, kU}}, At{7000}, Reads{}}},
      {"Row097", std::nullopt, join + Program{At{kMax}, Reads{{kE}}}},
      {"Row097Infinite", StateTtlConfig::NewInfiniteBuilder().Build().value(),
       join + Program{At{kMax}, Reads{{kE}}}},
      {"Row098", Lasting(2000),
       join + Program{At{2001}, Reads{}, Write{kU}, Reads{{kU}}}},
      {"Row099",
       Lasting(2000),
       {At{1}, Write{kE}, Write{kU}, Write{kX}, At{2000}, Reads{{kE, kU, kX}},
        At{2001}, Write{kX}, Reads{{kX}}}},
      {"Row100Live", Lasting(1000),
       join + Program{At{1000}, Reads{{kE}}, Clear{}, Reads{}, Raw{kEmpty}}},
      {"Row100Expired", Lasting(1000), join + Program{At{1001}, Reads{}}},
      {"Row101", Lasting(1000), join + Program{At{1002}, Reads{}, Clear{}}},
      {"Row102", Lasting(1000),
       join + Program{At{1002}, Reads{}, Write{kU}, Reads{{kU}}}},
      {"Row103",
       Suite(),
       {Write{kE}, At{101}, Reads{}, Write{kU}, Reads{{kU}}}},
  };
}

// A job that is done before anything can expire does not notice its TTL.
Rows UnnoticedRows() {
  const Program program = {
      Write{kE}, Reads{{kE}},     At{400},   Write{kU},
      At{999},   Reads{{kE, kU}}, Write{kX}, Reads{{kE, kU, kX}}};
  return {{"Row063", Suite(kReadsToo, kReturn, 1000), program, {"MA", "A"}},
          {"Row063WithoutTtl", std::nullopt, program, {"MA", "A"}}};
}

// Elements and map entries that a read renews, or not.
Rows RenewedRows() {
  const std::vector<std::string> collections = {"LF", "LV", "MA"};
  const Program write = {Write{kE}, At{40},    Write{kU},
                         At{60},    Write{kX}, At{100}};
  return {
      {"Row108", Suite(kReadsToo),
       write + Program{Reads{{kU, kX}}, Stores{{{1, {kU, kX}}}},
                       // Reads do not renew from here on: both have one time.
                       Restart{Suite()}, At{199}, Reads{{kU, kX}}, At{200},
                       Reads{}},
       collections},
      {"Row109", Suite(kReadsToo, kReturn),
       write + Program{Reads{{kE, kU, kX}}, Reads{{kU, kX}}}, collections},
      {"Row111",
       Suite(),
       {Write{kE}, Reads{{kE}}, At{90}, Write{kU}, At{120}, Reads{{kU}},
        Reads{{kU}}},
       collections},
      // Walking is the one way to have all keys.
      {"Row114",
       Suite(kReadsToo),
       {Write{kE}, At{60}, Reads{{kE}}, Restart{Suite()}, At{159}, Reads{{kE}},
        At{160}, Reads{}},
       {"MA"}},
  };
}

}  // namespace

Rows BoundaryRows() {
  const Program added_late = {Write{kE},   At{120}, Write{kX},
                              Reads{{kX}}, At{219}, Reads{{kX}}};
  Rows rows = {
      {"Row105",
       Suite(),
       {At{1000}, Write{kE}, At{1099}, Reads{{kE}}, At{1100}, Reads{}}},
      // A clock before 1970 counts as 1970.
      {"Row106",
       Lasting(kMax - 1),
       {Write{kE}, At{kMax - 2}, Reads{{kE}}, At{kMax - 1}, Reads{}},
       {},
       Backends::kBoth,
       /*start_ms=*/-50},
      {"Row107",
       Suite(),
       {Write{kE}, At{100}, Commit{}, At{50}, Reads{}, At{20}, Reads{}}},
      {"Row118NeverReturned", Suite(), added_late, {"A", "R"}},
      {"Row118Returned", Suite(kWrites, kReturn), added_late, {"A", "R"}},
  };
  for (const Rows& more : {OperatorRows(), UnnoticedRows(), RenewedRows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace mayfly::conformance
