// Sections 6.4 and 6.10 of rows.md, and rows 133 and 134: a state that is
// registered again after a restart, as it was or with another TTL.
#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

// The state can be had as it was, untouched.
Program Refused(const MaybeTtl& ttl) {
  return {Write{kE}, RestartRefused{ttl}, At{50}, Reads{{kE}}};
}

// By event time, a TTL of 100.
StateTtlConfig EventTime() {
  return OnlyReadsRemove()
      .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
      .Build()
      .value();
}

}  // namespace

Rows RestartRows() {
  return {
      {"Row030", Suite(), Refused(std::nullopt)},
      {"Row065NeitherHasATtl",
       std::nullopt,
       {Write{kE}, Restart{}, Reads{{kE}}}},
      {"Row065BothHaveATtl",
       Suite(),
       {Write{kE}, Restart{Lasting(200)}, Reads{{kE}}}},
      {"Row065OneIsStored", Suite(), Refused(std::nullopt)},
      {"Row065OneIsAskedFor", std::nullopt, Refused(Suite())},
      {"Row070",
       Lasting(kDayMs),
       {Write{kE}, At{1000}, Restart{Lasting(2 * kDayMs)}, Reads{{kE}},
        Write{kU}, Restart{}, Reads{{kE, kU}}, At{kDayMs + 500},
        Reads{{kE, kU}}}},
      {"Row077SwitchedOff", Suite(), Refused(std::nullopt)},
      {"Row077SwitchedOn", std::nullopt, Refused(Suite())},
      {"Row133ProcessingTime",
       Suite(),
       {Write{kE}, Commit{}, At{1000}, Restore{}, Reads{}}},
      {"Row133EventTime",
       EventTime(),
       {Watermark{70}, Write{kE}, Commit{}, At{1000}, Restore{}, Reads{{kE}},
        Watermark{169}, Reads{{kE}}, Watermark{170}, Reads{}}},
      {"Row134Shortened",
       Lasting(1000),
       {Write{kE}, At{150}, Restart{Lasting(100)}, Reads{}, Raw{kEmpty}}},
      {"Row134Lengthened",
       Lasting(100),
       {Use{"expired"}, Write{kE}, At{20}, Use{"live"}, Write{kE}, At{90},
        Write{kU}, At{120}, Restart{Lasting(1000)}, Use{"expired"}, Reads{},
        Use{"live"}, Reads{{kU}, Batches{kE, kU}}, At{1089},
        Reads{{kU}, Batches{kE, kU}}, At{1090}, Reads{}}},
  };
}

}  // namespace mayfly::conformance
