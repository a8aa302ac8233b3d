// What states return is invalid from the next call on, and builds that check
// lifetimes have the address sanitizer say so.
#include <cstddef>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "mayfly/state/internal/loan.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;

class LifetimeTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void SetUp() override {
    // RocksDB's threads are there when the test dies.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    shard_->SetCurrentKey("k");
  }

  Shard<> shard_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Setups, LifetimeTest, SomeSetups(), SetupName);

void Use(const std::string& text) {
  const volatile std::size_t size = text.size();
  static_cast<void>(size);
}

constexpr char kFreed[] = "heap-use-after-free";

TEST_P(LifetimeTest, AValueEndsWithTheNextCall) {
  auto& state = shard_.Get(Text("value"));
  Must(state.Update("a value that does not fit into the string itself"));
  const std::string* const value = state.Value().value();
  EXPECT_EQ(value->front(), 'a');
  Must(state.Update("another"));
  EXPECT_DEATH(Use(*value), kFreed);
}

TEST_P(LifetimeTest, AValueEndsWithItsKey) {
  auto& state = shard_.Get(Text("value"));
  Must(state.Update("a"));
  const std::string* const value = state.Value().value();
  shard_->SetCurrentKey("k");
  EXPECT_DEATH(Use(*value), kFreed);
}

TEST_P(LifetimeTest, AValueEndsWithACommit) {
  auto& state = shard_.Get(Text("value"));
  Must(state.Update("a"));
  const std::string* const value = state.Value().value();
  shard_.Commit();
  EXPECT_DEATH(Use(*value), kFreed);
}

TEST_P(LifetimeTest, OtherStatesDoNotEndIt) {
  auto& state = shard_.Get(Text("value"));
  auto& other = shard_.Get(Text("other"));
  Must(state.Update("a"));
  const std::string* const value = state.Value().value();
  Must(other.Update(*value));
  EXPECT_EQ(*value, "a");
}

// The next call may be given what the last one returned.
TEST_P(LifetimeTest, TheArgumentsOfTheNextCallAreStillValid) {
  auto& map = shard_.Get(TextMap("map"));
  Must(map.Put("a", "b"));
  const std::string* const value = map.Get("a").value();
  Must(map.Put(*value, *value));
  EXPECT_EQ(Read(map, std::string("b")), "b");
}

TEST_P(LifetimeTest, AListEndsWithTheNextCall) {
  auto& state = shard_.Get(Texts("list"));
  Must(state.Add("a"));
  const ListRange<std::string> range = state.Get().value();
  EXPECT_EQ(*range.begin(), "a");
  Must(state.Add("b"));
  EXPECT_DEATH(Use(*range.begin()), kFreed);
}

TEST_P(LifetimeTest, AMapEntryEndsWithTheNextStepOfItsWalk) {
  auto& state = shard_.Get(TextMap("map"));
  Must(state.Put("a", "1"));
  Must(state.Put("b", "2"));
  MapRange<std::string, std::string> range = state.Entries().value();
  auto at = range.begin();
  const std::string& value = (*at).value;
  EXPECT_FALSE(value.empty());
  ++at;
  EXPECT_DEATH(Use(value), kFreed);
}

}  // namespace
}  // namespace mayfly::state_test
