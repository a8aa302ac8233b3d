// Which states a program may have, over what is registered and what is stored.
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/raw_database.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Text = ValueStateDescriptor<std::string>;
using Number = ValueStateDescriptor<std::int64_t>;
using List = ListStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class RegistrationTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  // Commits a value under the descriptor and restarts, not registered.
  void Store(const Text& descriptor) {
    auto& state = shard_.Get(descriptor);
    shard_->SetCurrentKey("k");
    Must(state.Update("v"));
    shard_.Commit();
    shard_.Reopen();
  }

  template <typename Descriptor>
  absl::Status Register(const Descriptor& descriptor) {
    return shard_->GetState(descriptor).status();
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Backends, RegistrationTest, BothBackends(), SetupName);

auto Refuses(const std::string& text) {
  return StatusIs(absl::StatusCode::kFailedPrecondition,
                  AllOf(HasSubstr("state 'state'"), HasSubstr(text)));
}

auto RefusesMigration(const std::string& text) {
  return StatusIs(absl::StatusCode::kFailedPrecondition,
                  AllOf(HasSubstr("StateMigration: state 'state'"),
                        HasSubstr(text), HasSubstr("start with the old")));
}

TEST_P(RegistrationTest, TheSameAgainIsTheSameState) {
  EXPECT_EQ(&shard_.Get(Describe<Text>("state", Ttl(100))),
            &shard_.Get(Describe<Text>("state", Ttl(100))));
}

TEST_P(RegistrationTest, ABadNameIsRefused) {
  EXPECT_THAT(Register(Text("a/b")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'a/b'")));
  EXPECT_THAT(Register(Text("default")),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_P(RegistrationTest, Row125AnotherTtlIsRefusedNamingBoth) {
  shard_.Get(Describe<Text>("state", Ttl(100)));
  EXPECT_THAT(Register(Describe<Text>("state", Ttl(200))),
              Refuses("is already registered as value state, key string@1, "
                      "value string@1, TTL 100 ms"));
  EXPECT_THAT(Register(Describe<Text>("state", Ttl(200))),
              Refuses("TTL 200 ms on create and write"));
  EXPECT_THAT(Register(Text("state")), Refuses("no TTL"));
}

TEST_P(RegistrationTest, Row125AnotherTypeOrKindIsRefusedNamingBoth) {
  shard_.Get(Text("state"));
  EXPECT_THAT(Register(Number("state")), Refuses("value int64@1"));
  EXPECT_THAT(Register(List("state")), Refuses("list state"));
  EXPECT_THAT(Register(Map("state")), Refuses("map state"));
  EXPECT_THAT(Register(Text("state")), IsOk());
}

// Stored alike, so only the C++ type differs.
TEST_P(RegistrationTest, AnotherCppTypeOfTheSameSerializerIsRefused) {
  shard_.Get(ValueStateDescriptor<std::map<std::string, int>>("state"));
  EXPECT_THAT(
      Register(
          ValueStateDescriptor<std::unordered_map<std::string, int>>("state")),
      Refuses("another C++ type"));
}

TEST_P(RegistrationTest, Row61ADisabledTtlIsNone) {
  Text descriptor("state");
  descriptor.EnableTimeToLive(Ttl(100, UpdateType::kDisabled));
  Store(descriptor);
  auto& state = shard_.Get(Text("state"));
  shard_->SetCurrentKey("k");
  shard_.clock().SetMs(1'000'000);
  EXPECT_EQ(Read(state), "v");
}

// --- Over what is stored ---

TEST_P(RegistrationTest, Row30SwitchingTtlOnIsRefused) {
  Store(Text("state"));
  EXPECT_THAT(Register(Describe<Text>("state", Ttl(100))),
              RefusesMigration("no TTL and asked for with a TTL"));
  // What is stored is untouched and can still be had.
  auto& state = shard_.Get(Text("state"));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(state), "v");
}

TEST_P(RegistrationTest, Rows30And129SwitchingTtlOffIsRefused) {
  Store(Describe<Text>("state", Ttl(100)));
  EXPECT_THAT(Register(Text("state")),
              RefusesMigration("a TTL and asked for with no TTL"));
  auto& state = shard_.Get(Describe<Text>("state", Ttl(100)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(state), "v");
}

TEST_P(RegistrationTest, OtherSerializersAreRefused) {
  Store(Text("state"));
  EXPECT_THAT(Register(Number("state")),
              RefusesMigration("the value serializer string@1 and asked for "
                               "with int64@1"));
  EXPECT_THAT(Register(List("state")), RefusesMigration("the kind value"));
}

TEST_P(RegistrationTest, AnotherKeyTypeIsRefused) {
  Store(Text("state"));
  shard_.Close();
  auto backend = KeyedStateBackend<std::int64_t>::Open(shard_.options).value();
  EXPECT_THAT(backend->GetState(Text("state")),
              RefusesMigration("the key serializer string@1 and asked for with "
                               "int64@1"));
}

TEST_P(RegistrationTest, AnotherTimeIsRefused) {
  Store(Describe<Text>("state", Ttl(100)));
  EXPECT_THAT(
      Register(Describe<Text>(
          "state", TtlBuilder(100)
                       .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
                       .Build()
                       .value())),
      RefusesMigration("processing time and asked for with event time"));
}

TEST_P(RegistrationTest, WhatSteersReadsMayChange) {
  Store(Describe<Text>("state", Ttl(100)));
  auto& state = shard_.Get(Describe<Text>(
      "state", Ttl(100, UpdateType::kOnReadAndWrite,
                   StateVisibility::kReturnExpiredIfNotCleanedUp)));
  shard_->SetCurrentKey("k");
  shard_.clock().SetMs(50);
  EXPECT_EQ(Read(state), "v");
  shard_.clock().SetMs(149);
  EXPECT_EQ(Read(state), "v");
  shard_.clock().SetMs(300);
  EXPECT_EQ(Read(state), "v");
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST_P(RegistrationTest, AStateMayBeRegisteredLate) {
  auto& early = shard_.Get(Text("early"));
  for (int i = 0; i < 100; ++i) {
    shard_->SetCurrentKey(std::to_string(i));
    Must(early.Update("v"));
    if (i % 10 == 0) shard_.Commit();
  }
  auto& late = shard_.Get(Describe<List>("late", Ttl(100)));
  Must(late.Add("1"));
  shard_.Commit();
  shard_.Reopen();
  auto& restored = shard_.Get(Describe<List>("late", Ttl(100)));
  shard_->SetCurrentKey("99");
  EXPECT_THAT(Read(restored), ElementsAre("1"));
}

// --- Row 126: restored, and not registered (yet) ---

TEST_P(RegistrationTest, Row126UnregisteredStateSurvivesCommitsAndRestarts) {
  Store(Describe<Text>("state", Ttl(1000)));
  for (int restart = 0; restart < 3; ++restart) {
    auto& other = shard_.Get(Text("other"));
    shard_->SetCurrentKey("k");
    Must(other.Update(std::to_string(restart)));
    shard_.Commit();
    shard_.Commit();
    shard_.Reopen();
  }
  auto& state = shard_.Get(Describe<Text>("state", Ttl(1000)));
  auto& other = shard_.Get(Text("other"));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(state), "v");
  EXPECT_EQ(Read(other), "2");
}

TEST_P(RegistrationTest, Row126ItMayBeRegisteredAfterCommits) {
  Store(Describe<Text>("state", Ttl(1000)));
  shard_.Commit();
  shard_.Commit();
  auto& state = shard_.Get(Describe<Text>("state", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(state), "v");
  shard_.Commit();
  shard_.Reopen();
  auto& restored = shard_.Get(Describe<Text>("state", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(restored), "v");
}

TEST_P(RegistrationTest, Row126ItKeepsItsRecordedTtl) {
  Store(Describe<Text>("state", Ttl(1000)));
  shard_.clock().SetMs(1000);
  shard_.Commit();
  Must(shard_->Compact());
  if (GetParam().kind == BackendKind::kRocksdb) {
    shard_.Close();
    EXPECT_EQ(RawDatabase(shard_.options.directory).Records("state"), 0u);
    shard_.Reopen();
  }
  auto& state = shard_.Get(Describe<Text>("state", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(state), std::nullopt);
}

TEST(RocksdbLayoutTest, EachStateIsAColumnFamily) {
  Shard<> shard(kRocksdb);
  shard.Get(Text("value"));
  shard.Get(List("list"));
  shard.Get(Map("map"));
  shard.Close();
  EXPECT_THAT(RawDatabase(shard.options.directory).column_families(),
              UnorderedElementsAre("default", "value", "list", "map"));
}

// A start that failed before its first commit binds nobody to what it asked
// for.
TEST_P(RegistrationTest, WhatWasNeverCommittedIsForgotten) {
  EXPECT_THAT(Register(Describe<Text>("state", Ttl(100))), IsOk());
  shard_.Reopen();
  EXPECT_THAT(Register(List("state")), IsOk());
  shard_.Reopen();
  EXPECT_THAT(Register(Text("other")), IsOk());
  shard_.Commit();
  EXPECT_THAT(Register(Number("state")), IsOk());
  shard_.Reopen();
  EXPECT_THAT(Register(Text("state")), IsOk());
  EXPECT_THAT(Register(Number("other")),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace mayfly::state_test
