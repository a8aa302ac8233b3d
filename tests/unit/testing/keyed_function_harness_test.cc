#include "mayfly/testing/keyed_function_harness.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointee;

struct Tick {
  std::string key;
  TimestampMs time_ms = 0;
};

ValueStateDescriptor<std::int64_t> CountDescriptor(TimeCharacteristic time) {
  ValueStateDescriptor<std::int64_t> descriptor("count");
  descriptor.EnableTimeToLive(
      *StateTtlConfig::NewBuilder(std::chrono::milliseconds(100))
           .SetTimeCharacteristic(time)
           .Build());
  return descriptor;
}

// Counts the ticks of a key; a tick of the key "throw" throws.
class Counter final
    : public KeyedProcessFunction<std::string, Tick, std::int64_t> {
 public:
  explicit Counter(TimeCharacteristic time) : time_(time) {}

  absl::Status Open(RuntimeContext& context) override {
    MAYFLY_ASSIGN_OR_RETURN(count_, context.GetState(CountDescriptor(time_)));
    return absl::OkStatus();
  }

  absl::Status ProcessElement(const Tick& tick, Context&,
                              Collector<std::int64_t>& out) override {
    if (tick.key == "throw") throw std::runtime_error("no luck");
    MAYFLY_ASSIGN_OR_RETURN(const std::int64_t* stored, count_->Value());
    const std::int64_t count = stored == nullptr ? 1 : *stored + 1;
    out.Collect(count);
    return count_->Update(count);
  }

 private:
  const TimeCharacteristic time_;
  ValueState<std::int64_t>* count_ = nullptr;
};

using Harness = KeyedFunctionHarness<std::string, Tick, std::int64_t>;

class KeyedFunctionHarnessTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  std::unique_ptr<Harness> Open(TimeCharacteristic time) const {
    Harness::Options options;
    options.key_selector = [](const Tick& tick) { return tick.key; };
    options.function_factory = [time] {
      return std::make_unique<Counter>(time);
    };
    if (time == TimeCharacteristic::kEventTime) {
      options.timestamp_extractor = [](const Tick& tick) {
        return tick.time_ms;
      };
    }
    options.backend = GetParam();
    options.now_ms = 1'000'000;
    auto harness = Harness::Open(std::move(options));
    EXPECT_THAT(harness, IsOk());
    return *std::move(harness);
  }
};

TEST_P(KeyedFunctionHarnessTest, CollectsOutput) {
  const auto harness = Open(TimeCharacteristic::kProcessingTime);
  for (const char* key : {"a", "a", "b"}) {
    EXPECT_THAT(harness->ProcessElement({key}), IsOk());
  }
  EXPECT_THAT(harness->TakeOutput(), ElementsAre(1, 2, 1));
  EXPECT_THAT(harness->TakeOutput(), IsEmpty());
  EXPECT_THAT(harness->ProcessElement({"b"}), IsOk());
  EXPECT_THAT(harness->TakeOutput(), ElementsAre(2));
  EXPECT_THAT(harness->output(), ElementsAre(1, 2, 1, 2));
}

TEST_P(KeyedFunctionHarnessTest, ProcessingTimeIsTheClocks) {
  const auto harness = Open(TimeCharacteristic::kProcessingTime);
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  harness->clock().Advance(std::chrono::milliseconds(99));
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  harness->clock().Advance(std::chrono::milliseconds(100));
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  EXPECT_THAT(harness->output(), ElementsAre(1, 2, 1));
}

TEST_P(KeyedFunctionHarnessTest, BoundsEventTimeAsAJobDoes) {
  Harness::Options options;
  options.key_selector = [](const Tick& tick) { return tick.key; };
  options.function_factory = [] {
    return std::make_unique<Counter>(TimeCharacteristic::kEventTime);
  };
  options.timestamp_extractor = [](const Tick& tick) { return tick.time_ms; };
  options.event_time = {.max_out_of_orderness = std::chrono::milliseconds(50),
                        .allowed_lateness = std::chrono::milliseconds(10)};
  options.backend = GetParam();
  const auto harness = *Harness::Open(options);
  EXPECT_THAT(harness->ProcessElement({"a", 1000}), IsOk());
  EXPECT_EQ(harness->backend().watermark(), 950);
  EXPECT_THAT(harness->ProcessElement({"a", 941}), IsOk());
  EXPECT_THAT(harness->ProcessElement({"a", 940}), IsOk());
  EXPECT_THAT(harness->output(), ElementsAre(1, 2));
  EXPECT_EQ(harness->late_elements(), 1u);

  options.event_time.allowed_lateness = std::chrono::milliseconds(-1);
  EXPECT_THAT(Harness::Open(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("allowed_lateness")));
}

TEST_P(KeyedFunctionHarnessTest, EventTimeIsTheElements) {
  const auto harness = Open(TimeCharacteristic::kEventTime);
  EXPECT_THAT(harness->ProcessElement({"a", 1000}), IsOk());
  EXPECT_THAT(harness->ProcessElement({"b", 1099}), IsOk());
  EXPECT_THAT(harness->ProcessElement({"a", 1050}), IsOk());
  harness->AdvanceWatermark(1199);
  EXPECT_THAT(harness->ProcessElement({"a", 1000}), IsOk());
  EXPECT_THAT(harness->output(), ElementsAre(1, 1, 2, 1));
}

TEST_P(KeyedFunctionHarnessTest, ARestartForgetsWhatWasNotCommitted) {
  const auto harness = Open(TimeCharacteristic::kProcessingTime);
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  EXPECT_THAT(harness->Commit(), IsOk());
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  EXPECT_THAT(harness->ProcessElement({"b"}), IsOk());
  EXPECT_THAT(harness->TakeOutput(), ElementsAre(1, 2, 1));
  EXPECT_THAT(harness->Restart(), IsOk());
  EXPECT_THAT(harness->output(), ElementsAre(1));
  EXPECT_THAT(harness->ProcessElement({"b"}), IsOk());
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  EXPECT_THAT(harness->TakeOutput(), ElementsAre(1, 2));
}

TEST_P(KeyedFunctionHarnessTest, ShowsStates) {
  const auto harness = Open(TimeCharacteristic::kProcessingTime);
  const auto descriptor = CountDescriptor(TimeCharacteristic::kProcessingTime);
  EXPECT_THAT(harness->ProcessElement({"a"}), IsOk());
  EXPECT_THAT((*harness->GetState("a", descriptor))->Value(),
              IsOkAndHolds(Pointee(1)));
  EXPECT_THAT((*harness->GetState("b", descriptor))->Value(),
              IsOkAndHolds(nullptr));
}

TEST_P(KeyedFunctionHarnessTest, ReportsWhatAFunctionThrows) {
  const auto harness = Open(TimeCharacteristic::kProcessingTime);
  EXPECT_THAT(harness->ProcessElement({"throw"}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("key 0x7468726f77: ProcessElement() of the "
                                 "function threw: no luck")));
}

INSTANTIATE_TEST_SUITE_P(Backends, KeyedFunctionHarnessTest,
                         ::testing::Values(BackendKind::kHeap,
                                           BackendKind::kRocksdb),
                         [](const auto& backend) {
                           return backend.param == BackendKind::kHeap
                                      ? "Heap"
                                      : "Rocksdb";
                         });

TEST(KeyedFunctionHarnessOptionsTest, MustHaveSelectorAndFactory) {
  EXPECT_THAT(Harness::Open({}), StatusIs(absl::StatusCode::kInvalidArgument,
                                          HasSubstr("key_selector")));
}

}  // namespace
}  // namespace mayfly
