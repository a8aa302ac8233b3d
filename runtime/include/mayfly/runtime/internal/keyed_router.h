// Turns lines into elements and gathers them by the shard their key lives in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/runtime/internal/job_engine.h"
#include "mayfly/serde/internal/guarded_call.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/serializer_contract.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/backend_options.h"

namespace mayfly::runtime_internal {

template <typename K, typename In>
struct KeyedElement {
  K key;
  In value;
  std::optional<TimestampMs> timestamp_ms;
  std::uint64_t line = 0;
};

template <typename K, typename In>
struct KeyedBatch final : Batch {
  std::vector<KeyedElement<K, In>> elements;
};

template <typename K, typename In>
class KeyedRouter final : public LineRouter {
 public:
  using LineDeserializer = std::function<absl::StatusOr<In>(std::string_view)>;
  using KeySelector = std::function<K(const In&)>;
  using TimestampExtractor = std::function<TimestampMs(const In&)>;

  // Without an extractor elements have no event time. One that is further
  // ahead of the clock than `max_ahead` is malformed; a null clock is the
  // system's.
  KeyedRouter(int shards, LineDeserializer deserializer,
              KeySelector key_selector, TimestampExtractor timestamp_extractor,
              std::optional<std::chrono::milliseconds> max_ahead,
              std::shared_ptr<const TtlClock> clock)
      : deserializer_(std::move(deserializer)),
        key_selector_(std::move(key_selector)),
        timestamp_extractor_(std::move(timestamp_extractor)),
        max_ahead_(max_ahead),
        clock_(clock != nullptr ? std::move(clock) : SystemClock()) {
    for (int shard = 0; shard < shards; ++shard) {
      batches_.push_back(std::make_unique<KeyedBatch<K, In>>());
    }
  }

  absl::StatusOr<std::optional<std::string>> Route(
      const SourceLine& line,
      const std::vector<std::uint64_t>& done_lines) override {
    std::optional<absl::StatusOr<In>> value;
    MAYFLY_RETURN_IF_ERROR(GuardedCall("the line deserializer", [&] {
      value.emplace(deserializer_(line.text));
      return absl::OkStatus();
    }));
    if (!value->ok()) return std::string(ToStd(value->status().message()));

    KeyedElement<K, In> element{.key = {},
                                .value = **std::move(value),
                                .timestamp_ms = std::nullopt,
                                .line = line.number};
    MAYFLY_RETURN_IF_ERROR(GuardedCall("the key selector", [&] {
      element.key = key_selector_(element.value);
      return absl::OkStatus();
    }));
    const std::size_t shard = ShardOf(element.key);
    if (line.number <= done_lines[shard]) return std::nullopt;
    if (timestamp_extractor_ != nullptr) {
      MAYFLY_RETURN_IF_ERROR(GuardedCall("the timestamp extractor", [&] {
        element.timestamp_ms = timestamp_extractor_(element.value);
        return absl::OkStatus();
      }));
      std::optional<std::string> refused = RefuseTime(*element.timestamp_ms);
      if (refused) return refused;
    }
    KeyedBatch<K, In>& batch = *batches_[shard];
    batch.elements.push_back(std::move(element));
    ++batch.records;
    return std::nullopt;
  }

  std::unique_ptr<Batch> TakeBatch(int shard) override {
    return std::exchange(batches_[static_cast<std::size_t>(shard)],
                         std::make_unique<KeyedBatch<K, In>>());
  }

 private:
  // Why an element with this timestamp is malformed; nullopt if it is not.
  std::optional<std::string> RefuseTime(TimestampMs timestamp_ms) const {
    std::string why;
    if (timestamp_ms < 0 || timestamp_ms == kNeverExpires) {
      why = "out of range";
    } else if (max_ahead_ &&
               timestamp_ms >
                   SaturatingAdd(clock_->NowMs(), max_ahead_->count())) {
      why = "more than " + std::to_string(max_ahead_->count()) +
            " ms ahead of the clock";
    } else {
      return std::nullopt;
    }
    return "its timestamp of " + std::to_string(timestamp_ms) + " ms is " + why;
  }

  std::size_t ShardOf(const K& key) {
    if (batches_.size() == 1) return 0;
    key_bytes_.clear();
    Serializer<K>::Serialize(key, key_bytes_);
    return static_cast<std::size_t>(
        PartitionForKey(key_bytes_, static_cast<int>(batches_.size())));
  }

  const LineDeserializer deserializer_;
  const KeySelector key_selector_;
  const TimestampExtractor timestamp_extractor_;
  const std::optional<std::chrono::milliseconds> max_ahead_;
  const std::shared_ptr<const TtlClock> clock_;
  std::vector<std::unique_ptr<KeyedBatch<K, In>>> batches_;
  std::string key_bytes_;
};

}  // namespace mayfly::runtime_internal
