// The tools of the model test: programs are the same when they are made again,
// and shrinking leaves what matters.
#include "tests/model/program.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/model/answer.h"
#include "tests/model/generator.h"
#include "tests/model/shrinker.h"

namespace mayfly::model_test {
namespace {

TEST(GeneratorTest, TheSameSeedMakesTheSameProgram) {
  EXPECT_EQ(ToString(MakeProgram(7, 200, {})),
            ToString(MakeProgram(7, 200, {})));
  EXPECT_NE(ToString(MakeProgram(7, 200, {})),
            ToString(MakeProgram(8, 200, {})));
}

TEST(GeneratorTest, MoreStepsGoOnWithTheSameProgram) {
  const Program shorter = MakeProgram(7, 100, {});
  const Program longer = MakeProgram(7, 200, {});
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(ToString(longer.operations[i]), ToString(shorter.operations[i]));
  }
}

TEST(GeneratorTest, MakesEveryAction) {
  std::set<Action> actions;
  for (const bool event_time : {false, true}) {
    const Program program = MakeProgram(
        1, 20'000,
        {.layout = {BackendChoice::kRocksdb}, .event_time = event_time});
    for (const Operation& operation : program.operations) {
      actions.insert(operation.action);
    }
  }
  EXPECT_EQ(actions.size(), kActions);
}

// Two operations that have to be there, one of them with a key above 2.
bool HasBoth(const Program& program) {
  const auto has = [&](Action action, int key_min) {
    return std::any_of(program.operations.begin(), program.operations.end(),
                       [&](const Operation& operation) {
                         return operation.action == action &&
                                operation.key >= key_min;
                       });
  };
  return has(Action::kRestart, 0) && has(Action::kAdd, 3);
}

TEST(ShrinkerTest, LeavesWhatTheFailureNeeds) {
  const Program program = MakeProgram(1, 2000, {});
  ASSERT_TRUE(HasBoth(program));
  const Program shrunk = Shrink(program, HasBoth, 1000);
  EXPECT_TRUE(HasBoth(shrunk));
  EXPECT_EQ(shrunk.operations.size(), 2u) << ToString(shrunk);
}

TEST(ShrinkerTest, GivesUpAfterSoManyTries) {
  int tries = 0;
  const auto count_and_fail = [&](const Program& program) {
    ++tries;
    return HasBoth(program);
  };
  const Program shrunk = Shrink(MakeProgram(1, 2000, {}), count_and_fail, 10);
  EXPECT_EQ(tries, 10);
  EXPECT_TRUE(HasBoth(shrunk));
}

// --- Answers ---

TEST(MismatchTest, WhatIsRequiredMustBeThereInOrder) {
  const Allowed allowed{
      .items = {{{0, "a"}}, {{0, "b"}, /*required=*/false}, {{0, "c"}}}};
  EXPECT_EQ(Mismatch(allowed, {.items = {{0, "a"}, {0, "c"}}}), "");
  EXPECT_EQ(Mismatch(allowed, {.items = {{0, "a"}, {0, "b"}, {0, "c"}}}), "");
  EXPECT_NE(Mismatch(allowed, {.items = {{0, "a"}, {0, "b"}}}), "");
  EXPECT_NE(Mismatch(allowed, {.items = {{0, "c"}, {0, "a"}}}), "");
  EXPECT_NE(Mismatch(allowed, {.items = {{0, "a"}, {0, "c"}, {0, "c"}}}), "");
  EXPECT_NE(Mismatch(allowed, {.items = {{1, "a"}, {0, "c"}}}), "");
}

TEST(MismatchTest, TheCodeAndTheNumberMustBeRight) {
  EXPECT_NE(Mismatch({}, {.code = Code::kInvalidArgument}), "");
  EXPECT_NE(Mismatch({.code = Code::kInvalidArgument}, {}), "");
  const Allowed one{.items = {{{0, "a"}, false}, {{0, "b"}, false}},
                    .items_min = 1,
                    .items_max = 1};
  EXPECT_EQ(Mismatch(one, {.items = {{0, "b"}}}), "");
  EXPECT_NE(Mismatch(one, {}), "");
  EXPECT_NE(Mismatch(one, {.items = {{0, "a"}, {0, "b"}}}), "");
}

}  // namespace
}  // namespace mayfly::model_test
