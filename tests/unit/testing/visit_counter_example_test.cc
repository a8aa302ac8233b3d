// The example of testing/README.md: a function of a job author, and its test.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/runtime/keyed_process_function.h"
#include "mayfly/testing/keyed_function_harness.h"
#include "mayfly/testing/status_matchers.h"

namespace {

using mayfly::IsOk;
using ::testing::ElementsAre;

// How many visits a user has made without staying away for half an hour.
class VisitCounter
    : public mayfly::KeyedProcessFunction<std::string, std::string,
                                          std::int64_t> {
 public:
  absl::Status Open(RuntimeContext& context) override {
    const auto ttl =
        mayfly::StateTtlConfig::NewBuilder(std::chrono::minutes(30)).Build();
    if (!ttl.ok()) return ttl.status();
    mayfly::ValueStateDescriptor<std::int64_t> visits("visits");
    visits.EnableTimeToLive(*ttl);
    const auto state = context.GetState(visits);
    if (!state.ok()) return state.status();
    visits_ = *state;
    return absl::OkStatus();
  }

  absl::Status ProcessElement(const std::string&, Context&,
                              Collector<std::int64_t>& out) override {
    const auto stored = visits_->Value();
    if (!stored.ok()) return stored.status();
    const std::int64_t visits = *stored == nullptr ? 1 : **stored + 1;
    out.Collect(visits);
    return visits_->Update(visits);
  }

 private:
  mayfly::ValueState<std::int64_t>* visits_ = nullptr;
};

TEST(VisitCounterTest, AUserWhoStaysAwayStartsAnew) {
  using Harness =
      mayfly::KeyedFunctionHarness<std::string, std::string, std::int64_t>;
  const auto harness = Harness::Open(
      {.key_selector = [](const std::string& user) { return user; },
       .function_factory = [] { return std::make_unique<VisitCounter>(); }});
  ASSERT_THAT(harness, IsOk());

  EXPECT_THAT((*harness)->ProcessElement("ann"), IsOk());
  (*harness)->clock().Advance(std::chrono::minutes(29));
  EXPECT_THAT((*harness)->ProcessElement("ann"), IsOk());
  EXPECT_THAT((*harness)->ProcessElement("bob"), IsOk());
  EXPECT_THAT((*harness)->TakeOutput(), ElementsAre(1, 2, 1));

  // What a crash forgets is what was not committed.
  EXPECT_THAT((*harness)->Commit(), IsOk());
  EXPECT_THAT((*harness)->ProcessElement("ann"), IsOk());
  EXPECT_THAT((*harness)->Restart(), IsOk());
  EXPECT_THAT((*harness)->ProcessElement("ann"), IsOk());
  EXPECT_THAT((*harness)->TakeOutput(), ElementsAre(3));

  (*harness)->clock().Advance(std::chrono::minutes(30));
  EXPECT_THAT((*harness)->ProcessElement("ann"), IsOk());
  EXPECT_THAT((*harness)->TakeOutput(), ElementsAre(1));
}

}  // namespace
