#include "testing/simulated_log/cursors.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mayfly/log/log_error.h"

namespace mayfly::testing_internal {
namespace {

// The bytes that a ConsumedRecord shows.
struct GivenRecord {
  std::string topic;
  StoredRecord record;
  std::shared_ptr<std::atomic<int>> given_out;
};

std::optional<std::string_view> View(const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  return *bytes;
}

}  // namespace

Cursors::~Cursors() {
  if (given_out_->load() == 0) return;
  std::fprintf(stderr, "a consumer goes before %d of its records\n",
               given_out_->load());
  std::abort();
}

void Cursors::Assign(const TopicPartition& partition,
                     std::optional<std::int64_t> offset) {
  cursors_[partition] = {.position = offset, .end_told = std::nullopt};
}

void Cursors::Unassign(const TopicPartition& partition) {
  cursors_.erase(partition);
}

void Cursors::Pause(std::span<const TopicPartition> partitions, bool paused) {
  for (const TopicPartition& partition : partitions) {
    const auto cursor = cursors_.find(partition);
    if (cursor != cursors_.end()) cursor->second.is_paused = paused;
  }
}

absl::Status Cursors::Seek(const PartitionOffset& offset) {
  const auto cursor = cursors_.find(offset.partition);
  if (cursor == cursors_.end()) {
    return MakeLogError(LogError::kUnknownTopic,
                        absl::StrCat(offset.partition.ToString(),
                                     " is not assigned to this consumer"));
  }
  cursor->second = {.position = offset.offset,
                    .is_paused = cursor->second.is_paused,
                    .end_told = std::nullopt};
  return absl::OkStatus();
}

std::vector<TopicPartition> Cursors::partitions() const {
  std::vector<TopicPartition> partitions;
  for (const auto& [partition, cursor] : cursors_) {
    partitions.push_back(partition);
  }
  return partitions;
}

LogEvent Cursors::Next(Broker& broker, const Committed& committed) {
  auto next =
      last_served_ ? cursors_.upper_bound(*last_served_) : cursors_.begin();
  for (std::size_t i = 0; i < cursors_.size(); ++i, ++next) {
    if (next == cursors_.end()) next = cursors_.begin();
    LogEvent event = NextOf(next->first, next->second, broker, committed);
    if (!std::holds_alternative<std::monostate>(event)) {
      last_served_ = next->first;
      return event;
    }
  }
  return {};
}

LogEvent Cursors::NextOf(const TopicPartition& partition, Cursor& cursor,
                         Broker& broker, const Committed& committed) {
  if (cursor.is_paused || cursor.has_failed) return {};
  const absl::StatusOr<PartitionLog*> log = broker.GetPartition(partition);
  if (!log.ok()) {
    cursor.has_failed = true;
    return PartitionError{partition, log.status()};
  }
  if (!cursor.position) cursor.position = committed(partition);
  if (!cursor.position) return {};
  if (*cursor.position == kLogStart) cursor.position = (*log)->low();
  if (*cursor.position == kLogEnd) cursor.position = (*log)->end(isolation_);
  if (*cursor.position < (*log)->low() || *cursor.position > (*log)->high()) {
    cursor.has_failed = true;
    return PartitionError{
        partition,
        MakeLogError(LogError::kOffsetOutOfRange,
                     absl::StrCat("offset ", *cursor.position, " is not in ",
                                  partition.ToString(), ", which has ",
                                  (*log)->low(), " to ", (*log)->high()))};
  }
  const StoredRecord* const record = (*log)->Next(*cursor.position, isolation_);
  if (record != nullptr) return Give(partition, *record);
  if (cursor.end_told == cursor.position) return {};
  cursor.end_told = cursor.position;
  return EndOfPartition{partition, *cursor.position};
}

ConsumedRecord Cursors::Give(const TopicPartition& partition,
                             const StoredRecord& record) {
  given_out_->fetch_add(1);
  auto* const given = new GivenRecord{partition.topic, record, given_out_};
  ConsumedRecord shown;
  shown.memory = {given, [](void* memory) {
                    auto* const gone = static_cast<GivenRecord*>(memory);
                    gone->given_out->fetch_sub(1);
                    delete gone;
                  }};
  shown.topic = given->topic;
  shown.partition = partition.partition;
  shown.offset = record.offset;
  shown.key = View(given->record.key);
  shown.value = View(given->record.value);
  shown.timestamp_ms = record.timestamp_ms;
  for (const auto& [name, value] : given->record.headers) {
    shown.headers.push_back({name, View(value)});
  }
  return shown;
}

}  // namespace mayfly::testing_internal
