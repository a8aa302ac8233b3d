// Values of an older version of their serializer: rows 68, 69 and 79 to 82.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/migrating_states.h"

namespace mayfly::state_test {

// One type in three programs: what it was, what it became, and one more version
// that reads nothing but the one before.
struct FlightV1 {
  std::int64_t time_ms = 0;
  bool operator==(const FlightV1&) const = default;
};
struct FlightV2 {
  std::int64_t time_ms = 0;
  std::string origin;
  bool operator==(const FlightV2&) const = default;
};

// As keys of maps.
template <typename H>
H AbslHashValue(H hash, const FlightV1& flight) {
  return H::combine(std::move(hash), flight.time_ms);
}
template <typename H>
H AbslHashValue(H hash, const FlightV2& flight) {
  return H::combine(std::move(hash), flight.time_ms, flight.origin);
}

struct FlightV3 {
  std::string origin;
};
struct BadFlightV2 {};
struct Stranger {
  std::int64_t time_ms = 0;
};

}  // namespace mayfly::state_test

namespace mayfly {

using state_test::BadFlightV2;
using state_test::FlightV1;
using state_test::FlightV2;
using state_test::FlightV3;
using state_test::Stranger;

template <>
struct Serializer<FlightV1> {
  static SerializerIdentity Identity() { return {"airports.Flight", 1}; }
  static void Serialize(const FlightV1& flight, std::string& out) {
    AppendFields(out, flight.time_ms);
  }
  static absl::Status Deserialize(std::string_view bytes, FlightV1& flight) {
    return ReadFields(bytes, flight.time_ms);
  }
};

template <>
struct Serializer<FlightV2> {
  static SerializerIdentity Identity() { return {"airports.Flight", 2}; }
  static void Serialize(const FlightV2& flight, std::string& out) {
    AppendFields(out, flight.time_ms, flight.origin);
  }
  static absl::Status Deserialize(std::string_view bytes, FlightV2& flight) {
    return ReadFields(bytes, flight.time_ms, flight.origin);
  }
  static constexpr std::uint32_t kOldestVersion = 1;
  static absl::Status DeserializeVersion(std::uint32_t version,
                                         std::string_view bytes,
                                         FlightV2& flight) {
    flight.origin = "of version " + std::to_string(version);
    return ReadFields(bytes, flight.time_ms);
  }
};

template <>
struct Serializer<BadFlightV2> {
  static SerializerIdentity Identity() { return {"airports.Flight", 2}; }
  static void Serialize(const BadFlightV2&, std::string& out) { out += "bad"; }
  static absl::Status Deserialize(std::string_view, BadFlightV2&) {
    return absl::OkStatus();
  }
};

template <>
struct Serializer<FlightV3> {
  static SerializerIdentity Identity() { return {"airports.Flight", 3}; }
  static void Serialize(const FlightV3& flight, std::string& out) {
    out += flight.origin;
  }
  static absl::Status Deserialize(std::string_view bytes, FlightV3& flight) {
    flight.origin = bytes;
    return absl::OkStatus();
  }
  static constexpr std::uint32_t kOldestVersion = 2;
  static absl::Status DeserializeVersion(std::uint32_t, std::string_view bytes,
                                         FlightV3& flight) {
    std::int64_t time_ms = 0;
    return ReadFields(bytes, time_ms, flight.origin);
  }
};

template <>
struct Serializer<Stranger> {
  static SerializerIdentity Identity() { return {"airports.Stranger", 2}; }
  static void Serialize(const Stranger& stranger, std::string& out) {
    AppendFields(out, stranger.time_ms);
  }
  static absl::Status Deserialize(std::string_view bytes, Stranger& stranger) {
    return ReadFields(bytes, stranger.time_ms);
  }
  static constexpr std::uint32_t kOldestVersion = 1;
  static absl::Status DeserializeVersion(std::uint32_t, std::string_view bytes,
                                         Stranger& stranger) {
    return ReadFields(bytes, stranger.time_ms);
  }
};

static_assert(!ReadsOlderVersions<FlightV1>);
static_assert(ReadsOlderVersions<FlightV2>);

}  // namespace mayfly

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A state of each kind over flights, with the entries of key "k".
template <typename Flight>
class Flights {
 public:
  Flights(Shard<>& shard, const std::optional<StateTtlConfig>& ttl)
      : shard_(shard),
        value_(
            shard.Get(Migrating<ValueStateDescriptor<Flight>>("value", ttl))),
        list_(shard.Get(Migrating<ListStateDescriptor<Flight>>("list", ttl))),
        map_(shard.Get(
            Migrating<MapStateDescriptor<std::string, Flight>>("map", ttl))),
        last_(shard.Get(Last(ttl))) {
    shard_->SetCurrentKey("k");
  }

  void Write(const Flight& flight) {
    Must(value_.Update(flight));
    Must(list_.Add(flight));
    Must(map_.Put("entry", flight));
    Must(last_.Add(flight));
  }

  // All that there is, of the value, the list, the map and the accumulator.
  std::vector<Flight> Read() {
    std::vector<Flight> all = state_test::Read(list_);
    if (const auto value = state_test::Read(value_)) all.push_back(*value);
    for (const auto& [key, flight] : state_test::Read(map_)) {
      all.push_back(flight);
    }
    if (const auto last = last_.Get().value()) all.push_back(*last);
    return all;
  }

 private:
  using LastDescriptor = AggregatingStateDescriptor<Flight, Flight, Flight>;

  static LastDescriptor Last(const std::optional<StateTtlConfig>& ttl) {
    LastDescriptor last(
        "last", {.add = [](const Flight& in, Flight& flight) { flight = in; },
                 .get_result = [](const Flight& flight) { return flight; }});
    if (ttl) last.EnableTimeToLive(*ttl);
    last.AllowTtlMigration();
    return last;
  }

  Shard<>& shard_;
  ValueState<Flight>& value_;
  ListState<Flight>& list_;
  MapState<std::string, Flight>& map_;
  AggregatingState<Flight, Flight>& last_;
};

class SerializerMigrationTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  auto Refuses(const std::string& text) {
    return StatusIs(absl::StatusCode::kFailedPrecondition,
                    AllOf(HasSubstr("StateMigration: state 'value'"),
                          HasSubstr(text), HasSubstr(directory())));
  }

  const std::string& directory() const { return shard_.options.directory; }

  Shard<> shard_{GetParam(), /*now_ms=*/1000};
};

INSTANTIATE_TEST_SUITE_P(Setups, SerializerMigrationTest, AllSetups(),
                         SetupName);

const FlightV2 kRead{7, "of version 1"};

TEST_P(SerializerMigrationTest, Row79OldValuesAreRewrittenInAllKinds) {
  Flights<FlightV1>(shard_, std::nullopt).Write({7});
  shard_.Commit();
  for (int start = 0; start < 2; ++start) {
    shard_.Reopen();
    Flights<FlightV2> flights(shard_, std::nullopt);
    EXPECT_THAT(flights.Read(), ::testing::Each(kRead));
    EXPECT_EQ(flights.Read().size(), 4u);
    shard_.Commit();
  }
  shard_.Close();
  EXPECT_EQ(Stored(directory(), "value").at("k"), ToBytes(kRead));
}

TEST_P(SerializerMigrationTest, TimestampsStayAndWhatHadExpiredIsDropped) {
  Flights<FlightV1>(shard_, Ttl(100)).Write({6});
  shard_.Commit();
  shard_.clock().SetMs(1050);
  Flights<FlightV1>(shard_, Ttl(100)).Write({7});
  shard_.Commit();
  shard_.clock().SetMs(1100);
  shard_.Reopen();
  Flights<FlightV2> flights(shard_, Ttl(100));
  EXPECT_THAT(flights.Read(), ::testing::Each(kRead));
  EXPECT_EQ(flights.Read().size(), 4u);
  shard_.clock().SetMs(1149);
  EXPECT_EQ(flights.Read().size(), 4u);
  shard_.clock().SetMs(1150);
  EXPECT_EQ(flights.Read().size(), 0u);
}

// A longer TTL at the same time revives nothing.
TEST_P(SerializerMigrationTest, ALongerTtlAtTheSameTimeRevivesNothing) {
  Flights<FlightV1>(shard_, Ttl(100)).Write({6});
  shard_.clock().SetMs(1100);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_TRUE(Flights<FlightV2>(shard_, Ttl(10'000)).Read().empty());
}

TEST_P(SerializerMigrationTest, Row68TogetherWithATtlSwitchedOnAndOff) {
  Flights<FlightV1>(shard_, std::nullopt).Write({7});
  shard_.Commit();
  shard_.clock().SetMs(2000);
  shard_.Reopen();
  Flights<FlightV2> on(shard_, Ttl(100));
  EXPECT_THAT(on.Read(), ::testing::Each(kRead));
  shard_.Commit();
  shard_.clock().SetMs(2099);
  EXPECT_EQ(on.Read().size(), 4u);
  shard_.Reopen();
  Flights<FlightV3> off(shard_, std::nullopt);
  ASSERT_EQ(off.Read().size(), 4u);
  EXPECT_EQ(off.Read()[0].origin, "of version 1");
  shard_.Commit();
  shard_.Close();
  EXPECT_EQ(Stored(directory(), "value").at("k"), "of version 1");
}

TEST_P(SerializerMigrationTest, Row69WhatCannotBeReadIsRefusedNamingBoth) {
  const ValueStateDescriptor<FlightV1> one("value");
  const ValueStateDescriptor<FlightV2> two("value");
  const ValueStateDescriptor<FlightV3> three("value");
  const ValueStateDescriptor<Stranger> stranger("value");
  shard_->SetCurrentKey("k");
  Must(shard_.Get(one).Update({7}));
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(three).status(),
              Refuses("airports.Flight@1 and asked for with "
                      "airports.Flight@3; nothing"));
  EXPECT_THAT(shard_->GetState(three).status(),
              Refuses("DeserializeVersion() that reads version 1"));
  EXPECT_THAT(shard_->GetState(stranger).status(),
              Refuses("airports.Flight@1 and asked for with "
                      "airports.Stranger@2"));
  shard_.Get(two);
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(shard_->GetState(one).status(),
              Refuses("start with the newer program"));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(shard_.Get(two)), kRead);
}

TEST_P(SerializerMigrationTest, Rows80And82KeysOfAnotherVersionAreRefused) {
  shard_->SetCurrentKey("k");
  Must(shard_.Get(MapStateDescriptor<FlightV1, int>("value")).Put({7}, 1));
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(
      shard_->GetState(MapStateDescriptor<FlightV2, int>("value")).status(),
      Refuses("the map key serializer airports.Flight@1 and asked for "
              "with airports.Flight@2"));
}

// What a version wrote that did not keep to its own form.
TEST_P(SerializerMigrationTest, AValueThatItsReaderRefusesIsNamed) {
  shard_->SetCurrentKey("k");
  Must(shard_.Get(ValueStateDescriptor<BadFlightV2>("value")).Update({}));
  shard_.Commit();
  shard_.Reopen();
  EXPECT_THAT(
      shard_->GetState(ValueStateDescriptor<FlightV3>("value")).status(),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("state 'value', key 0x6b cannot be rewritten"),
                     HasSubstr(directory()))));
  EXPECT_THAT(shard_->GetState(ValueStateDescriptor<BadFlightV2>("value")),
              IsOk());
}

}  // namespace
}  // namespace mayfly::state_test
