// Sections 6.4 and 6.10 of rows.md, and rows 133 and 134: a state that is
// registered again after a restart, as it was or with another TTL.
#include <string>
#include <vector>

#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

// The state can be had as it was, untouched.
Program Refused(const MaybeTtl& ttl) {
  return {Write{kE}, RestartRefused{ttl}, At{50}, Reads{{kE}}};
}

const std::vector<std::string> kValues = {"V", "A", "R"};
const std::vector<std::string> kLists = {"LF", "LV"};
const std::vector<std::string> kMaps = {"MA", "ME", "MN"};

// Keys 1 to 3 are stored without a TTL and get one: what is stored is read, and
// what is written is; a snapshot holds both, and one TTL later it is all gone.
Program SwitchedOn() {
  return {Use{"3"},    Write{kE},       Write{kU},
          Use{"2"},    Write{kU},       Use{"1"},
          Write{kE},   At{1000},        RestartMigrating{Suite()},
          Reads{{kE}}, Use{"2"},        Reads{{kU}},
          Use{"3"},    Reads{{kE, kU}}, At{1050},
          Use{"2"},    Write{kX},       Reads{{kU, kX}},
          Use{"1"},    At{1099},        Reads{{kE}},
          At{1100},    Reads{},         Use{"3"},
          Reads{},     Use{"2"},        Reads{{kX}, Batches{kU, kX}}};
}

// The other way round: what lives then lives for ever.
Program SwitchedOff() {
  return {Use{"3"},        Write{kE},       Write{kU},
          Use{"2"},        Write{kU},       Use{"1"},
          Write{kE},       At{99},          RestartMigrating{std::nullopt},
          Reads{{kE}},     Use{"2"},        Reads{{kU}},
          Use{"3"},        Reads{{kE, kU}}, At{100'000},
          Use{"2"},        Write{kX},       Reads{{kU, kX}},
          Reads{{kU, kX}}, Use{"1"},        Reads{{kE}},
          Use{"3"},        Reads{{kE, kU}}};
}

// Entries that expire before, and at, the restart, and one that lives.
Program SwitchedOffLate() {
  return {Use{"expired"},
          Write{kE},
          At{20},
          Use{"live"},
          Write{kE},
          At{90},
          Write{kU},
          At{120},
          RestartMigrating{std::nullopt},
          Use{"expired"},
          Reads{},
          Use{"live"},
          Reads{{kU}, Batches{kE, kU}},
          At{100'000},
          Reads{{kU}, Batches{kE, kU}},
          Use{"expired"},
          Reads{}};
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
      {"Row031", Suite(), SwitchedOff(), {}, Backends::kRocksdbOnly},
      {"Row068SwitchedOn", std::nullopt, SwitchedOn()},
      {"Row068SwitchedOff", Suite(), SwitchedOff()},
      {"Row070",
       Lasting(kDayMs),
       {Write{kE}, At{1000}, Restart{Lasting(2 * kDayMs)}, Reads{{kE}},
        Write{kU}, Restart{}, Reads{{kE, kU}}, At{kDayMs + 500},
        Reads{{kE, kU}}}},
      {"Row071", std::nullopt, SwitchedOn(), kValues},
      {"Row072", std::nullopt, SwitchedOn(), kLists},
      {"Row073", std::nullopt, SwitchedOn(), kMaps},
      {"Row074", Suite(), SwitchedOff(), kValues},
      {"Row075", Suite(), SwitchedOff(), kLists},
      {"Row076", Suite(), SwitchedOff(), kMaps},
      {"Row077SwitchedOffRefused", Suite(), Refused(std::nullopt)},
      {"Row077SwitchedOnRefused", std::nullopt, Refused(Suite())},
      {"Row077SwitchedOffAndOn",
       Suite(),
       {Write{kE}, At{50}, RestartMigrating{std::nullopt}, Reads{{kE}},
        At{5000}, RestartMigrating{Suite()}, Reads{{kE}}, At{5099}, Reads{{kE}},
        At{5100}, Reads{}}},
      {"Row129", Suite(), SwitchedOffLate()},
      {"Row129OffAndOnAgain",
       Suite(),
       {Write{kE}, At{100}, RestartMigrating{std::nullopt}, Reads{},
        RestartMigrating{Lasting(kDayMs)}, Reads{}, Raw{kEmpty}}},
      {"Row130", std::nullopt, SwitchedOn()},
      {"Row131", std::nullopt, SwitchedOn(), {"MA", "MN"}},
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
