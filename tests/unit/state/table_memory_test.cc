// The memory that a table believes it uses bounds what it really uses, so it
// must not drift: after any history, a table that holds nothing uses nothing.
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/list_table.h"
#include "mayfly/state/internal/map_table.h"
#include "mayfly/state/internal/state_sweep.h"
#include "mayfly/state/internal/value_table.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/state/fake_store.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using Value =
    TableOverFake<state_internal::ValueTable<std::string, std::string>>;
using List = TableOverFake<state_internal::ListTable<std::string, std::string>>;
using Map = TableOverFake<
    state_internal::MapTable<std::string, std::string, std::string>>;

constexpr std::size_t kSane = std::size_t{1} << 30;

class TableMemoryTest : public ::testing::TestWithParam<bool> {
 protected:
  std::size_t Below(std::size_t bound) { return random_() % bound; }

  // Some fit into the string itself, some lie on the heap, some have room to
  // spare.
  std::string Text() {
    std::string text(Below(2) == 0 ? Below(10) : 20 + Below(200), 'x');
    if (Below(3) == 0) text.reserve(300);
    return text;
  }

  // Runs `operation` many times on random keys with commits and evictions in
  // between, then empties the table.
  template <typename Table, typename Operation>
  void Run(Table& table, Operation operation) {
    for (int step = 0; step < 4000; ++step) {
      std::string key = "a key of some length " + std::to_string(Below(20));
      if (Below(2) == 0) key.reserve(100);
      table.SetKey(std::move(key));
      if (Below(4) == 0) table.At(step);
      operation();
      if (Below(20) == 0) table.Commit();
      if (Below(30) == 0) table.EvictAll();
      ASSERT_LT(table.memory.used, kSane) << "step " << step;
    }
    table.Commit();
    table.EvictAll();
    EXPECT_EQ(table.memory.used, 0u);
  }

 private:
  std::mt19937_64 random_{7};
};

INSTANTIATE_TEST_SUITE_P(RefreshOnRead, TableMemoryTest, ::testing::Bool(),
                         [](const auto& at) {
                           return at.param ? "ReadAndWrite" : "CreateAndWrite";
                         });

TEST_P(TableMemoryTest, OfValuesDoesNotDrift) {
  Value table(50, GetParam());
  Run(table, [&] {
    switch (Below(4)) {
      case 0:
      case 1:
        Must(table->Update(Text()));
        break;
      case 2:
        Must(table->Value().status());
        break;
      default:
        Must(table->Clear());
    }
  });
}

TEST_P(TableMemoryTest, OfListsDoesNotDrift) {
  List table(50, GetParam());
  Run(table, [&] {
    switch (Below(8)) {
      case 0:
        Must(table->Update({Text(), Text(), Text()}));
        break;
      case 1:
        Must(table->Clear());
        break;
      case 2:
      case 3:
        Must(table->Get().status());
        break;
      case 4:
        Must(table->AddAll({Text(), Text()}));
        break;
      default:
        Must(table->Add(Text()));
    }
  });
}

TEST_P(TableMemoryTest, OfMapsDoesNotDrift) {
  Map table(50, GetParam());
  const auto key = [&] {
    std::string text = "map key of some length " + std::to_string(Below(9));
    if (Below(2) == 0) text.reserve(100);
    return text;
  };
  Run(table, [&] {
    switch (Below(10)) {
      case 0:
        Must(table->Clear());
        break;
      case 1:
        Must(table->Remove(key()));
        break;
      case 2:
      case 3:
        Must(table->Get(key()).status());
        break;
      case 4:
        Must(table->IsEmpty().status());
        break;
      case 5:
        Read<std::string, std::string>(*table);
        break;
      default:
        Must(table->Put(key(), Text()));
    }
  });
}

// What waits for the next commit is what makes one due.
TEST(ChangedMemoryTest, GrowsWithAnEntryThatGrows) {
  const std::string large(1'000'000, 'x');
  Value value(50);
  value.SetKey("k");
  Must(value->Update("small"));
  Must(value->Update(large));
  EXPECT_GE(value.memory.changed, large.size());

  Map map(50);
  map.SetKey("k");
  Must(map->Put("m", "small"));
  Must(map->Put("m", large));
  EXPECT_GE(map.memory.changed, large.size());

  List list(50);
  list.SetKey("k");
  Must(list->Add("small"));
  Must(list->Add(large));
  EXPECT_GE(list.memory.changed, large.size());
  list.Commit();
  Must(list->Update({"small"}));
  Must(list->Update({large}));
  EXPECT_GE(list.memory.changed, large.size());
}

TEST(ChangedMemoryTest, CountsAnEntryThatIsRenewed) {
  const std::string large(1'000'000, 'x');
  Value value(50, /*refresh_on_read=*/true);
  value.SetKey("k");
  Must(value->Update(large));
  value.Commit();
  EXPECT_EQ(value.memory.changed, 0u);
  value.At(10);
  Must(value->Value().status());
  EXPECT_GE(value.memory.changed, large.size());
}

// A hot list or map that is replaced over and over holds no more than it holds.
TEST(ChangedMemoryTest, ShrinksWithWhatIsReplaced) {
  List list(50);
  list.SetKey("k");
  Must(list->Update({std::string(1000, 'x')}));
  const std::size_t list_once = list.memory.changed;
  for (int i = 0; i < 100; ++i) {
    Must(list->Update({std::string(1000, 'x')}));
  }
  EXPECT_EQ(list.memory.changed, list_once);

  Map map(50);
  map.SetKey("k");
  Must(map->Clear());
  Must(map->Put("m", std::string(1000, 'x')));
  const std::size_t map_once = map.memory.changed;
  for (int i = 0; i < 100; ++i) {
    Must(map->Clear());
    Must(map->Put("m", std::string(1000, 'x')));
  }
  EXPECT_EQ(map.memory.changed, map_once);
}

TEST(ChangedMemoryTest, ShrinksWithElementsThatExpire) {
  List list(50);
  list.SetKey("k");
  Must(list->Update({std::string(1'000'000, 'x')}));
  list.At(50);
  Must(list->Get().status());
  EXPECT_LT(list.memory.changed, 1'000'000u);
}

// Removals that clean-up has found wait for a commit as well.
TEST(ChangedMemoryTest, CountsWhatCleanUpRemoves) {
  Value value(50);
  value.SetKey(std::string(100, 'k'));
  Must(value->Update("v"));
  value.Commit();
  EXPECT_EQ(value.memory.changed, 0u);
  const auto sweep = state_internal::MakeStoreSweep(
      &*value, state_internal::StateKind::kValue);
  EXPECT_EQ(sweep->Step(50)->removed, 1u);
  EXPECT_GE(value.memory.changed, 100u);
}

// What lies before a damaged block is removed, once; the error is told.
TEST(StoreSweepTest, ADamagedBlockHoldsUpOnlyWhatIsBehindIt) {
  Value value(50);
  for (const char* key : {"a", "b", "x", "y"}) {
    value.SetKey(key);
    Must(value->Update("v"));
  }
  value.Commit();
  value.EvictAll();
  value.store.unreadable = "x";
  const auto sweep = state_internal::MakeStoreSweep(
      &*value, state_internal::StateKind::kValue);
  for (int step = 0; step < 3; ++step) {
    EXPECT_THAT(sweep->Step(50), StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_EQ(value.Commit(*sweep), (Writes{.deletes = 2}));
  value.store.unreadable.clear();
  EXPECT_EQ(sweep->Step(50)->removed, 2u);
  EXPECT_EQ(value.Commit(*sweep), (Writes{.deletes = 2}));
  EXPECT_EQ(value.store.records.size(), 0u);
}

}  // namespace
}  // namespace mayfly::state_test
