// A simulated log with what most tests of it need.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/manual_clock.h"
#include "mayfly/testing/simulated_log.h"
#include "mayfly/testing/status_matchers.h"

namespace mayfly {

inline constexpr std::int64_t kNowMs = 1'700'000'000'000;
inline constexpr std::chrono::milliseconds kAtOnce{0};

// Key and value; no value is a tombstone.
struct Pair {
  std::optional<std::string> key;
  std::optional<std::string> value = std::nullopt;

  friend bool operator==(const Pair&, const Pair&) = default;
};

class LogFixture : public ::testing::Test {
 protected:
  void CreateTopic(const std::string& name, std::int32_t partitions,
                   const TopicConfig& config = {}) {
    ASSERT_THAT(log_.CreateTopic(
                    {.name = name, .partitions = partitions, .config = config}),
                IsOk());
  }

  std::unique_ptr<LogProducer> NewProducer(
      std::optional<std::string> transactional_id = std::nullopt) {
    ProducerOptions options;
    options.transactional_id = std::move(transactional_id);
    options.on_delivery = [this](const Delivery& delivery) {
      deliveries_.emplace_back(delivery.status, delivery.offset);
    };
    auto producer = process_->NewProducer(std::move(options));
    EXPECT_THAT(producer, IsOk());
    return *std::move(producer);
  }

  std::unique_ptr<PartitionReader> NewReader(
      IsolationLevel isolation = IsolationLevel::kReadCommitted) {
    auto reader = process_->NewPartitionReader({.isolation = isolation});
    EXPECT_THAT(reader, IsOk());
    return *std::move(reader);
  }

  // Takes what Poll() sends as one batch.
  void Produce(LogProducer& producer, const TopicPartition& to,
               const std::vector<Pair>& pairs) {
    for (const Pair& pair : pairs) {
      EXPECT_THAT(producer.Produce({.topic = to.topic,
                                    .partition = to.partition,
                                    .key = pair.key,
                                    .value = pair.value,
                                    .timestamp_ms = clock_->NowMs()},
                                   0),
                  IsOk());
    }
    EXPECT_THAT(producer.Poll(kAtOnce), IsOk());
  }

  // What a reader sees of a partition from `offset` on, and where it ends.
  struct Seen {
    std::vector<std::pair<std::int64_t, Pair>> records;
    std::int64_t end = -1;
  };
  Seen ReadFrom(const PartitionOffset& from,
                IsolationLevel isolation = IsolationLevel::kReadCommitted) {
    const std::unique_ptr<PartitionReader> reader = NewReader(isolation);
    const PartitionOffset at[] = {from};
    EXPECT_THAT(reader->Assign(at), IsOk());
    Seen seen;
    for (;;) {
      const absl::StatusOr<LogEvent> event = reader->Poll(kAtOnce);
      EXPECT_THAT(event, IsOk());
      if (const auto* const end = std::get_if<EndOfPartition>(&*event)) {
        seen.end = end->offset;
        return seen;
      }
      const auto* const record = std::get_if<ConsumedRecord>(&*event);
      if (record == nullptr) return seen;
      seen.records.emplace_back(
          record->offset,
          Pair{record->key ? std::optional(std::string(*record->key))
                           : std::nullopt,
               record->value ? std::optional(std::string(*record->value))
                             : std::nullopt});
    }
  }

  WatermarkOffsets Watermarks(const TopicPartition& partition) {
    const auto watermarks = (*process_->NewAdmin())->Watermarks(partition);
    EXPECT_THAT(watermarks, IsOk());
    return *watermarks;
  }

  const std::shared_ptr<ManualClock> clock_ =
      std::make_shared<ManualClock>(kNowMs);
  SimulatedLog log_{clock_};
  const std::unique_ptr<SimulatedClient> process_ = log_.NewClient();
  std::vector<std::pair<absl::Status, std::int64_t>> deliveries_;
};

}  // namespace mayfly
