// Cases C32, C35, C40, C65 and C70: what must not change when state is moved,
// by checkpoints and savepoints, from either backend into either.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/state/checkpoint.h"
#include "mayfly/state/savepoint.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::cases {
namespace {

using state_test::BackendSetup;
using state_test::Describe;
using state_test::kHeap;
using state_test::kRocksdb;
using state_test::Must;
using state_test::Read;
using state_test::Shard;
using state_test::Ttl;
using ::testing::Each;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Text = ValueStateDescriptor<std::string>;
using Texts = ListStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;
using NullableNumbers =
    MapStateDescriptor<std::string, std::optional<std::int32_t>>;

constexpr std::int64_t kForeverMs = 1'000'000'000'000;

enum class Carrier { kCheckpoint, kSavepoint };

class TransferCasesTest : public ::testing::TestWithParam<
                              std::tuple<BackendSetup, Carrier, BackendSetup>> {
 protected:
  static const BackendSetup& from() { return std::get<0>(GetParam()); }
  static Carrier carrier() { return std::get<1>(GetParam()); }
  static const BackendSetup& to() { return std::get<2>(GetParam()); }

  // As of now.
  std::string Carry(Shard<>& shard) {
    shard.Commit();
    const std::string path = directory_.Path(std::to_string(++paths_));
    Must(shard->Checkpoint(path).status());
    if (carrier() == Carrier::kCheckpoint) return path;
    Must(WriteSavepoint(path, path + ".savepoint").status());
    return path + ".savepoint";
  }

  // Each of so many shards.
  std::vector<std::unique_ptr<Shard<>>> Restore(
      const std::vector<std::string>& sources, TimestampMs now_ms,
      int shards = 1) {
    std::vector<std::unique_ptr<Shard<>>> restored;
    for (int i = 0; i < shards; ++i) {
      auto shard = std::make_unique<Shard<>>(to(), now_ms);
      shard->Close();
      shard->options.directory = directory_.Path(std::to_string(++paths_));
      Must(RestoreShard({.sources = sources,
                         .shard = i,
                         .shards = shards,
                         .position = "",
                         .processing_clock = shard->options.processing_clock},
                        shard->options)
               .status());
      shard->Reopen();
      restored.push_back(std::move(shard));
    }
    return restored;
  }

  static int ShardOf(const std::string& key, int shards) {
    std::string bytes;
    Serializer<std::string>::Serialize(key, bytes);
    return PartitionForKey(bytes, shards);
  }

 private:
  const TempDirectory directory_;
  int paths_ = 0;
};

INSTANTIATE_TEST_SUITE_P(
    Routes, TransferCasesTest,
    ::testing::Combine(::testing::Values(kHeap, kRocksdb),
                       ::testing::Values(Carrier::kCheckpoint,
                                         Carrier::kSavepoint),
                       ::testing::Values(kHeap, kRocksdb)),
    [](const auto& route) {
      return std::string(std::get<0>(route.param).name) +
             (std::get<1>(route.param) == Carrier::kCheckpoint
                  ? "ByCheckpointTo"
                  : "BySavepointTo") +
             std::get<2>(route.param).name;
    });

TEST_P(TransferCasesTest, CaseC32HugeValuesArriveToTheByte) {
  const std::size_t sizes[] = {4'194'303, 4'194'304, 4'194'305, 67'108'864};
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  const auto patterned = [](std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
      text[i] = static_cast<char>(i * 131 + i / 251);
    }
    return text;
  };
  const Text value = Describe<Text>("value", Ttl(100));
  const Texts list = Describe<Texts>("list", Ttl(100));
  std::string source;
  {
    Shard<> shard(from());
    for (const std::size_t size : sizes) {
      shard->SetCurrentKey(std::to_string(size));
      Must(shard.Get(value).Update(patterned(size)));
    }
    shard->SetCurrentKey("k");
    for (int i = 0; i < 64; ++i) {
      Must(shard.Get(list).Add(std::string(kMebibyte, static_cast<char>(i))));
    }
    source = Carry(shard);
  }
  const auto restored = Restore({source}, 99);
  Shard<>& shard = *restored[0];
  for (const std::size_t size : sizes) {
    shard->SetCurrentKey(std::to_string(size));
    ASSERT_TRUE(Read(shard.Get(value)) == patterned(size)) << size;
  }
  shard->SetCurrentKey("k");
  const ListRange<std::string> elements = shard.Get(list).Get().value();
  ASSERT_EQ(elements.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(elements[i] == std::string(kMebibyte, static_cast<char>(i)));
  }
}

TEST_P(TransferCasesTest, CaseC35NullsArriveWithTheirTimes) {
  const auto numbers = Describe<NullableNumbers>("numbers", Ttl(100));
  Shard<> shard(from());
  shard->SetCurrentKey("k");
  Must(shard.Get(numbers).Put("a", std::nullopt));
  Must(shard.Get(numbers).Put("b", 1));
  shard.clock().SetMs(50);
  Must(shard.Get(numbers).Put("c", std::nullopt));
  const auto restored = Restore({Carry(shard)}, 99);
  auto& copy = restored[0]->Get(numbers);
  (*restored[0])->SetCurrentKey("k");
  EXPECT_THAT(Read(copy),
              UnorderedElementsAre(Pair("a", std::nullopt), Pair("b", 1),
                                   Pair("c", std::nullopt)));
  restored[0]->clock().SetMs(100);
  EXPECT_THAT(Read(copy), UnorderedElementsAre(Pair("c", std::nullopt)));
  EXPECT_THAT(copy.Contains("c"), IsOkAndHolds(true));
  restored[0]->clock().SetMs(150);
  EXPECT_THAT(Read(copy), SizeIs(0));
}

TEST_P(TransferCasesTest, CaseC40MapsOfNeighbouringKeysAreParted) {
  const TextMap map = Describe<TextMap>("map", Ttl(kForeverMs));
  const std::vector<std::string> keys = {
      "\x03\xaa\xff", "\x03\xab\x10", "\xff\xff",
      std::string("\xff\xff\x00", 3), "\xff"};
  Shard<> shard(from());
  for (const std::string& key : keys) {
    shard->SetCurrentKey(key);
    for (int i = 0; i < 10; ++i) {
      Must(shard.Get(map).Put(std::to_string(i), key));
    }
  }
  const auto restored = Restore({Carry(shard)}, 0, /*shards=*/3);
  for (const std::string& key : keys) {
    for (int i = 0; i < 3; ++i) {
      (*restored[i])->SetCurrentKey(key);
      const auto entries = Read(restored[i]->Get(map));
      EXPECT_THAT(entries, SizeIs(i == ShardOf(key, 3) ? 10 : 0));
      EXPECT_THAT(entries, Each(Pair(::testing::_, key)));
    }
  }
  // Clearing one takes none along, in its new place either.
  Shard<>& owner = *restored[ShardOf(keys[2], 3)];
  owner->SetCurrentKey(keys[2]);
  Must(owner.Get(map).Clear());
  for (const std::string& key : keys) {
    Shard<>& at = *restored[ShardOf(key, 3)];
    at->SetCurrentKey(key);
    EXPECT_THAT(Read(at.Get(map)), SizeIs(key == keys[2] ? 0 : 10));
  }
}

TEST_P(TransferCasesTest, CaseC65EachKeyIsInOneShardWhateverTheirNumber) {
  constexpr int kKeys = 1000;
  constexpr std::int64_t kTtlMs = 20'000;
  const Text value = Describe<Text>("value", Ttl(kTtlMs));
  std::vector<std::unique_ptr<Shard<>>> shards;
  for (int i = 0; i < 2; ++i) {
    shards.push_back(std::make_unique<Shard<>>(from()));
  }
  for (int key = 0; key < kKeys; ++key) {
    const std::string name = std::to_string(key);
    Shard<>& shard = *shards[ShardOf(name, 2)];
    shard.clock().SetMs(key * 10);
    shard->SetCurrentKey(name);
    Must(shard.Get(value).Update(name));
  }
  for (const int count : {3, 1, 16}) {
    std::vector<std::string> sources;
    for (const auto& shard : shards) sources.push_back(Carry(*shard));
    shards = Restore(sources, kKeys * 10, count);
    std::uint64_t stored = 0;
    for (int i = 0; i < count; ++i) {
      shards[i]->Get(value);
      stored += shards[i]->StoredEntries("value");
    }
    EXPECT_EQ(stored, static_cast<std::uint64_t>(kKeys)) << count;
    for (int key = 0; key < kKeys; ++key) {
      const std::string name = std::to_string(key);
      Shard<>& owner = *shards[ShardOf(name, count)];
      owner->SetCurrentKey(name);
      ASSERT_EQ(Read(owner.Get(value)), name) << count;
    }
  }
  // And with the time at which it was written.
  for (const int key : {0, 1, 500, 999}) {
    const std::string name = std::to_string(key);
    Shard<>& owner = *shards[ShardOf(name, 16)];
    owner->SetCurrentKey(name);
    owner.clock().SetMs(key * 10 + kTtlMs - 1);
    EXPECT_EQ(Read(owner.Get(value)), name);
    owner.clock().SetMs(key * 10 + kTtlMs);
    EXPECT_EQ(Read(owner.Get(value)), std::nullopt);
  }
}

TEST_P(TransferCasesTest, CaseC70OfNothingAndOfWhatHasExpired) {
  const Text value = Describe<Text>("value", Ttl(100));
  for (const int keys : {0, 1000}) {
    Shard<> shard(from());
    shard.Get(value);
    for (int key = 0; key < keys; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      Must(shard.Get(value).Update("v"));
    }
    shard.Commit();
    shard.clock().SetMs(100);
    shard.Commit();
    Must(shard->Compact());
    auto restored = Restore({Carry(shard)}, 100);
    restored[0]->Get(value);
    EXPECT_EQ(restored[0]->StoredEntries("value"), 0u);
    (*restored[0])->SetCurrentKey("k");
    Must(restored[0]->Get(value).Update("v"));
    restored = Restore({Carry(*restored[0])}, 100);
    (*restored[0])->SetCurrentKey("k");
    EXPECT_EQ(Read(restored[0]->Get(value)), "v");
    EXPECT_EQ(restored[0]->StoredEntries("value"), 1u);
  }
}

}  // namespace
}  // namespace mayfly::cases
