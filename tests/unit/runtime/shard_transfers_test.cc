#include "runtime/shard_transfers.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly::runtime_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Pair;

class ShardTransfersTest : public ::testing::Test {
 protected:
  static constexpr int kShards = 9;

  ShardTransfersTest() {
    plan_.options.name = "visits";
    plan_.log = [](std::string_view) {};
    plan_.on_progress = [this](const JobProgress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), caller_);
      told_.emplace_back(progress.restore->done, progress.restore->total);
    };
  }

  absl::Status Run(const ShardTransfers::Work& work) {
    meter_.emplace(plan_, clock_, stop_);
    meter_->Begin("/ckpt", RestoreStep::kCopying, 0);
    transfers_.emplace(kShards, *meter_);
    return transfers_->Run(work);
  }

  const std::thread::id caller_ = std::this_thread::get_id();
  JobPlan plan_;
  ManualClock clock_{1000};
  std::atomic<bool> stop_ = false;
  std::optional<RestoreMeter> meter_;
  std::optional<ShardTransfers> transfers_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told_;
};

TEST_F(ShardTransfersTest, EachShardIsWorkedOnOnceAndNoneOnThisThread) {
  std::vector<std::atomic<int>> calls(kShards);
  ASSERT_THAT(Run([&](int shard) {
                EXPECT_NE(std::this_thread::get_id(), caller_);
                ++calls[static_cast<std::size_t>(shard)];
                return absl::OkStatus();
              }),
              IsOk());
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
}

TEST_F(ShardTransfersTest, ProgressIsOfAllShardsTogether) {
  ASSERT_THAT(Run([&](int shard) {
                transfers_->Report(shard, 1, 10);
                transfers_->Report(shard, 10, 10);
                return absl::OkStatus();
              }),
              IsOk());
  ASSERT_FALSE(told_.empty());
  EXPECT_THAT(told_.back(), Pair(10 * kShards, 10 * kShards));
  std::uint64_t before = 0;
  for (const auto& [done, total] : told_) {
    EXPECT_GE(done, before);
    // Those that have not begun are expected to be like those that have.
    if (done > 0) {
      EXPECT_EQ(total, 10u * kShards);
    }
    before = done;
  }
}

TEST_F(ShardTransfersTest, TheFirstErrorEndsAll) {
  // Whatever is begun before the error comes to its end because of it.
  const absl::Status status = Run([&](int shard) -> absl::Status {
    if (shard == 0) return absl::ResourceExhaustedError("full");
    while (!transfers_->stop()) std::this_thread::yield();
    return absl::CancelledError("asked to stop");
  });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               AllOf(HasSubstr("shard 0"), HasSubstr("full"))));
}

TEST_F(ShardTransfersTest, AJobThatIsAskedToStopIsCancelled) {
  plan_.on_progress = [this](const JobProgress&) { stop_ = true; };
  EXPECT_THAT(Run([&](int shard) -> absl::Status {
                transfers_->Report(shard, 1, 10);
                while (!transfers_->stop()) std::this_thread::yield();
                return absl::CancelledError("asked to stop");
              }),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("/ckpt")));
}

TEST_F(ShardTransfersTest, WorkThatThrowsIsAnError) {
  EXPECT_THAT(
      Run([](int) -> absl::Status { throw std::runtime_error("struck"); }),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("struck")));
}

TEST_F(ShardTransfersTest, AListenerThatThrowsLeavesNoThreadBehind) {
  plan_.on_progress = [](const JobProgress&) {
    throw std::runtime_error("struck");
  };
  EXPECT_THROW(static_cast<void>(Run([&](int shard) -> absl::Status {
                 transfers_->Report(shard, 1, 10);
                 while (!transfers_->stop()) std::this_thread::yield();
                 return absl::CancelledError("asked to stop");
               })),
               std::runtime_error);
}

}  // namespace
}  // namespace mayfly::runtime_internal
