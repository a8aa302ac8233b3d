// Cases C38 and C41: keys are their bytes, all of them, and nothing but them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/cases/five_states.h"
#include "tests/unit/state/raw_database.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::Must;
using state_test::RawDatabase;
using state_test::Read;
using state_test::SetupName;
using state_test::Shard;
using state_test::Ttl;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;
using Map = MapStateDescriptor<std::string, std::string>;

class KeyCasesTest : public ::testing::TestWithParam<BackendSetup> {};

INSTANTIATE_TEST_SUITE_P(Setups, KeyCasesTest, state_test::AllSetups(),
                         SetupName);

// --- C38: keys and values with zero bytes, and empty ones ---

const std::map<std::string, std::string>& BinaryEntries() {
  static const auto* const entries = new std::map<std::string, std::string>{
      {std::string("a\0b", 3), std::string("1\0", 2)},
      {"a", std::string("2\0", 2)},
      {std::string("a\0", 2), std::string("3\0", 2)},
      {std::string("\0", 1), std::string("4\0", 2)},
      {"", std::string("5\0", 2)},
  };
  return *entries;
}

class BinaryKeys {
 public:
  explicit BinaryKeys(const BackendSetup& setup) : shard_(setup) {
    Register();
    for (const auto& [key, value] : BinaryEntries()) {
      shard_->SetCurrentKey(key);
      Must(value_->Update(value));
      for (const auto& [map_key, map_value] : BinaryEntries()) {
        Must(map_->Put(map_key, map_value + value));
      }
    }
  }

  void RemoveExpired() { cases::RemoveExpired(shard_); }
  void Restart() {
    shard_.Commit();
    shard_.Reopen();
    Register();
  }
  void Clear(const std::string& key) {
    shard_->SetCurrentKey(key);
    Must(value_->Clear());
    Must(map_->Clear());
  }
  void RemoveFromMaps(const std::string& map_key) {
    for (const auto& [key, value] : BinaryEntries()) {
      shard_->SetCurrentKey(key);
      Must(map_->Remove(map_key));
    }
  }

  // That all is as it was put but what belongs to these keys.
  void Expect(const std::string& step,
              const std::optional<std::string>& cleared,
              const std::optional<std::string>& removed_from_maps) {
    SCOPED_TRACE(step);
    for (const auto& [key, value] : BinaryEntries()) {
      shard_->SetCurrentKey(key);
      const bool there = key != cleared;
      EXPECT_EQ(Read(*value_), there ? std::optional(value) : std::nullopt);
      std::map<std::string, std::string> expected;
      if (there) {
        for (const auto& [map_key, map_value] : BinaryEntries()) {
          expected[map_key] = map_value + value;
        }
        if (removed_from_maps) expected.erase(*removed_from_maps);
      }
      EXPECT_EQ(Read(*map_), expected);
      for (const auto& [map_key, map_value] : expected) {
        EXPECT_EQ(Read(*map_, map_key), map_value);
      }
    }
  }

 private:
  void Register() {
    value_ = &shard_.Get(Describe<Text>("value", Ttl(100)));
    map_ = &shard_.Get(Describe<Map>("map", Ttl(100)));
  }

  Shard<> shard_;
  ValueState<std::string>* value_ = nullptr;
  MapState<std::string, std::string>* map_ = nullptr;
};

TEST_P(KeyCasesTest, CaseC38ZeroBytesEndNeitherKeysNorValues) {
  BinaryKeys keys(GetParam());
  keys.Expect("put", std::nullopt, std::nullopt);
  keys.RemoveExpired();
  keys.Expect("compacted", std::nullopt, std::nullopt);
  keys.Restart();
  keys.Expect("restarted", std::nullopt, std::nullopt);
  keys.RemoveFromMaps("a");
  keys.Expect("removed from maps", std::nullopt, "a");
  keys.Clear("a");
  keys.Expect("cleared", "a", "a");
  keys.RemoveExpired();
  keys.Restart();
  keys.Expect("cleared and restarted", "a", "a");
}

TEST(KeyErrorCasesTest, CaseC38ErrorsNameTheWholeKey) {
  Shard<> shard(state_test::kRocksdb);
  shard.Get(Describe<Text>("value", Ttl(100)));
  shard.Commit();
  shard.Close();
  const std::string key("a\0b", 3);
  RawDatabase(shard.options.directory, RawDatabase::Access::kWrite)
      .Put("value", key, "short");
  shard.Reopen();
  auto& state = shard.Get(Describe<Text>("value", Ttl(100)));
  shard->SetCurrentKey(key);
  EXPECT_THAT(state.Value(), StatusIs(absl::StatusCode::kDataLoss,
                                      AllOf(HasSubstr("state 'value'"),
                                            HasSubstr("key 0x610062"))));
}

// --- C41: a hash is not an identity ---

TEST_P(KeyCasesTest, CaseC41AHundredThousandKeysKeepTheirOwnValues) {
  const auto descriptor =
      Describe<ValueStateDescriptor<std::int64_t>>("value", Ttl(100));
  std::mt19937_64 random(41);
  std::vector<std::int64_t> keys(100'000);
  for (std::int64_t& key : keys) key = static_cast<std::int64_t>(random());
  // Collide under fmix64 modulo INT32_MAX.
  keys.insert(keys.end(), {391, 32'728});
  std::sort(keys.begin(), keys.end());
  ASSERT_EQ(std::unique(keys.begin(), keys.end()), keys.end());

  Shard<std::int64_t> shard(GetParam());
  auto* state = &shard.Get(descriptor);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    shard->SetCurrentKey(keys[i]);
    Must(state->Update(~keys[i]));
    if (i % 10'000 == 0) shard.Commit();
  }
  shard->SetCurrentKey(391);
  Must(state->Clear());
  shard->SetCurrentKey(32'728);
  EXPECT_EQ(Read(*state), ~std::int64_t{32'728});
  shard.Commit();
  EXPECT_EQ(shard->CleanUp().value().entries_removed, 0u);
  shard.Commit();
  shard.Reopen();
  state = &shard.Get(descriptor);
  for (const std::int64_t key : keys) {
    shard->SetCurrentKey(key);
    ASSERT_EQ(Read(*state), key == 391 ? std::nullopt : std::optional(~key));
  }
}

}  // namespace
}  // namespace mayfly::cases
