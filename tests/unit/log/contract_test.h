// What the tests of the contract have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/log/log_client.h"
#include "mayfly/log/log_error.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/log/log_under_test.h"

namespace mayfly {

inline constexpr std::int64_t kTimestampMs = 1'700'000'000'000;
inline constexpr std::chrono::milliseconds kPatience{30'000};

inline std::string NameOf(const ::testing::TestParamInfo<LogKind>& kind) {
  return std::string(kind.param.name);
}

// Holds what a listener is told.
class HeldPartitions : public RebalanceListener {
 public:
  void OnAssigned(std::span<Assignment> partitions) override {
    for (const Assignment& at : partitions) held_.insert(at.partition);
  }
  void OnRevoked(std::span<const TopicPartition> partitions) override {
    for (const TopicPartition& at : partitions) held_.erase(at);
    if (on_revoked) on_revoked(partitions);
  }
  void OnLost(std::span<const TopicPartition> partitions) override {
    for (const TopicPartition& at : partitions) held_.erase(at);
  }

  const std::set<TopicPartition>& held() const { return held_; }

  std::function<void(std::span<const TopicPartition>)> on_revoked;

 private:
  std::set<TopicPartition> held_;
};

class ContractTest : public ::testing::TestWithParam<LogKind> {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<LogUnderTest>> log = GetParam().make();
    if (absl::IsUnavailable(log.status())) GTEST_SKIP() << log.status();
    ASSERT_THAT(log, IsOk());
    log_ = *std::move(log);
  }

  LogClient& client() { return log_->client(); }

  std::string CreateTopic(std::int32_t partitions = 1,
                          const TopicConfig& config = {}) {
    return log_->CreateTopic(partitions, config);
  }

  std::unique_ptr<LogProducer> NewProducer(ProducerOptions options = {}) {
    options.on_delivery = [this](const Delivery& delivery) {
      deliveries_.push_back({delivery.tag, delivery.status, delivery.offset});
    };
    auto producer = client().NewProducer(std::move(options));
    EXPECT_THAT(producer, IsOk());
    return *std::move(producer);
  }

  std::unique_ptr<PartitionReader> NewReader(
      const std::vector<PartitionOffset>& from,
      IsolationLevel isolation = IsolationLevel::kReadCommitted) {
    auto reader = client().NewPartitionReader({.isolation = isolation});
    EXPECT_THAT(reader, IsOk());
    EXPECT_THAT((*reader)->Assign(from), IsOk());
    return *std::move(reader);
  }

  // A record with a key and a value, both of that text.
  static ProducerRecord Record(const TopicPartition& to,
                               std::string_view text) {
    return {.topic = to.topic,
            .partition = to.partition,
            .key = text,
            .value = text,
            .timestamp_ms = kTimestampMs};
  }

  // Produces records and waits until they are there.
  void Write(LogProducer& producer, const TopicPartition& to,
             const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      EXPECT_THAT(producer.Produce(Record(to, text), 0), IsOk());
    }
    EXPECT_THAT(producer.Flush(kPatience), IsOk());
  }
  void Write(const TopicPartition& to, const std::vector<std::string>& texts) {
    Write(*NewProducer(), to, texts);
  }

  // The next event; nothing, if nothing comes however often one asks.
  LogEvent NextEvent(LogConsumer& consumer) {
    for (int i = 0; i < log_->polls_max(); ++i) {
      absl::StatusOr<LogEvent> event = consumer.Poll(log_->timeout());
      EXPECT_THAT(event, IsOk());
      if (!event.ok()) break;
      if (!std::holds_alternative<std::monostate>(*event)) {
        return *std::move(event);
      }
    }
    return {};
  }

  // Some polls, in which nothing must come.
  void ExpectNothing(LogConsumer& consumer) {
    for (int i = 0; i < 5; ++i) {
      const absl::StatusOr<LogEvent> event = consumer.Poll(log_->timeout());
      ASSERT_THAT(event, IsOk());
      EXPECT_TRUE(std::holds_alternative<std::monostate>(*event));
    }
  }

  struct Seen {
    std::vector<std::pair<std::int64_t, std::string>> values;
    std::int64_t end = -1;
  };
  // Values up to the end of a partition, with their offsets.
  Seen ReadToEnd(LogConsumer& consumer) {
    Seen seen;
    for (;;) {
      const LogEvent event = NextEvent(consumer);
      if (const auto* const end = std::get_if<EndOfPartition>(&event)) {
        seen.end = end->offset;
        return seen;
      }
      const auto* const record = std::get_if<ConsumedRecord>(&event);
      EXPECT_NE(record, nullptr);
      if (record == nullptr) return seen;
      seen.values.emplace_back(record->offset,
                               record->value.value_or("(none)"));
    }
  }
  Seen ReadFrom(const PartitionOffset& from,
                IsolationLevel isolation = IsolationLevel::kReadCommitted) {
    return ReadToEnd(*NewReader({from}, isolation));
  }

  // Polls until `done`, which must come to be true, and drops what comes.
  void PollUntil(LogConsumer& consumer, const std::function<bool()>& done) {
    for (int i = 0; i < log_->polls_max() && !done(); ++i) {
      EXPECT_THAT(consumer.Poll(log_->timeout()), IsOk());
    }
    EXPECT_TRUE(done());
  }

  // Asks until `done`, which must come to be true.
  void ExpectSoon(const std::function<bool()>& done) {
    int i = 0;
    while (i < 10'000 && !done()) ++i;
    EXPECT_TRUE(done());
  }

  struct Delivered {
    std::uint64_t tag = 0;
    absl::Status status;
    std::int64_t offset = -1;
  };

  std::unique_ptr<LogUnderTest> log_;
  std::vector<Delivered> deliveries_;
};

// The suites. Those programs that instantiate them say what they run on.

// Reading and writing partitions.
class ReadWriteContract : public ContractTest {};

// Consumer groups.
class GroupContract : public ContractTest {
 protected:
  std::unique_ptr<GroupConsumer> Join(const std::string& group,
                                      const std::string& topic,
                                      RebalanceListener& listener) {
    auto consumer = client().NewGroupConsumer(
        {.group = group,
         .topics = {topic},
         // The mock needs more than three seconds, and waits for one less.
         .session_timeout = std::chrono::milliseconds(3200),
         .poll_interval_max = std::chrono::milliseconds(60'000)},
        listener);
    EXPECT_THAT(consumer, IsOk());
    return *std::move(consumer);
  }
};

// Transactions, and orders to brokers.
class TransactionContract : public ContractTest {
 protected:
  std::unique_ptr<LogProducer> Begin(const std::string& id) {
    auto producer = NewProducer({.transactional_id = id});
    EXPECT_THAT(producer->InitTransactions(kPatience), IsOk());
    EXPECT_THAT(producer->BeginTransaction(), IsOk());
    return producer;
  }

  // Brokers write the markers of a transaction after they have said that it is
  // over.
  void WaitForMarkers(const TopicPartition& to, std::int64_t last_stable) {
    const auto admin = *client().NewAdmin();
    ExpectSoon([&] {
      const auto watermarks = admin->Watermarks(to);
      return watermarks.ok() && watermarks->last_stable == last_stable;
    });
  }
};

}  // namespace mayfly
