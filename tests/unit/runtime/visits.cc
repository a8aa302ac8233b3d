#include "tests/unit/runtime/visits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/internal/check.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/partitioner.h"
#include "mayfly/serde/status_macros.h"

namespace mayfly {
namespace {

class VisitCounter final : public VisitFunction {
 public:
  explicit VisitCounter(std::function<absl::Status(const Visit&)> before_each)
      : before_each_(std::move(before_each)) {}

  absl::Status Open(RuntimeContext& context) override {
    MAYFLY_ASSIGN_OR_RETURN(
        const StateTtlConfig ttl,
        StateTtlConfig::NewBuilder(std::chrono::milliseconds(kVisitTtlMs))
            .SetTimeCharacteristic(TimeCharacteristic::kEventTime)
            .Build());
    ValueStateDescriptor<std::int64_t> count("count");
    count.EnableTimeToLive(ttl);
    MAYFLY_ASSIGN_OR_RETURN(count_, context.GetState(count));
    ListStateDescriptor<std::int64_t> recent("recent");
    recent.EnableTimeToLive(ttl);
    MAYFLY_ASSIGN_OR_RETURN(recent_, context.GetState(recent));
    return absl::OkStatus();
  }

  absl::Status ProcessElement(const Visit& visit, Context& context,
                              Collector<VisitCount>& out) override {
    if (before_each_ != nullptr) MAYFLY_RETURN_IF_ERROR(before_each_(visit));
    MAYFLY_ASSIGN_OR_RETURN(const std::int64_t* stored, count_->Value());
    const std::int64_t count = stored == nullptr ? 1 : *stored + 1;
    MAYFLY_RETURN_IF_ERROR(count_->Update(count));
    MAYFLY_RETURN_IF_ERROR(recent_->Add(visit.time_ms));
    MAYFLY_ASSIGN_OR_RETURN(const ListRange<std::int64_t> recent,
                            recent_->Get());
    out.Collect({context.current_key(), visit.time_ms, count,
                 static_cast<std::int64_t>(recent.size())});
    return absl::OkStatus();
  }

 private:
  const std::function<absl::Status(const Visit&)> before_each_;
  ValueState<std::int64_t>* count_ = nullptr;
  ListState<std::int64_t>* recent_ = nullptr;
};

// What a shard knows of a user, each visit with the watermark it came at.
struct User {
  std::int64_t count = 0;
  TimestampMs last_ms = 0;
  std::vector<TimestampMs> visits_ms;
};

}  // namespace

absl::StatusOr<Visit> ParseVisit(std::string_view line) {
  const std::size_t at = line.find('@');
  Visit visit;
  if (at == line.npos ||
      !absl::SimpleAtoi(ToAbsl(line.substr(at + 1)), &visit.time_ms)) {
    return absl::InvalidArgumentError("not of the form user@time");
  }
  visit.user = std::string(line.substr(0, at));
  return visit;
}

void FormatVisitCount(const VisitCount& visit, std::string& line) {
  absl::StrAppend(&line, visit.user, " ", visit.time_ms, " ", visit.count, " ",
                  visit.recent);
}

std::unique_ptr<VisitFunction> MakeVisitCounter(
    std::function<absl::Status(const Visit&)> before_each) {
  return std::make_unique<VisitCounter>(std::move(before_each));
}

void AddVisitCounter(VisitJob& job, std::unique_ptr<Sink> sink,
                     std::function<absl::Status(const Visit&)> before_each) {
  job.KeyBy([](const Visit& visit) { return visit.user; })
      .WithTimestamps([](const Visit& visit) { return visit.time_ms; })
      .Process([before_each] { return MakeVisitCounter(before_each); })
      .To(std::move(sink), FormatVisitCount);
}

std::vector<std::string> VisitLines(int lines) {
  std::minstd_rand random(7);
  std::vector<std::string> result;
  TimestampMs time_ms = 1000;
  for (int i = 0; i < lines; ++i) {
    time_ms += static_cast<TimestampMs>(random() % 13) - 2;
    result.push_back(absl::StrCat("user", random() % 20, "@", time_ms));
  }
  return result;
}

std::vector<std::vector<std::string>> ExpectedVisits(
    const std::vector<std::string>& lines, int shards) {
  std::vector<std::vector<std::string>> expected(
      static_cast<std::size_t>(shards));
  std::vector<TimestampMs> watermarks(static_cast<std::size_t>(shards));
  std::map<std::string, User> users;
  for (const std::string& line : lines) {
    const absl::StatusOr<Visit> visit = ParseVisit(line);
    MAYFLY_CHECK(visit.ok());
    const auto shard =
        static_cast<std::size_t>(PartitionForKey(visit->user, shards));
    const TimestampMs now_ms = watermarks[shard] =
        std::max(watermarks[shard], visit->time_ms);
    User& user = users[visit->user];
    const bool expired = user.last_ms + kVisitTtlMs <= now_ms;
    user.count = expired ? 1 : user.count + 1;
    user.last_ms = now_ms;
    user.visits_ms.push_back(now_ms);
    std::erase_if(user.visits_ms, [now_ms](TimestampMs visit_ms) {
      return visit_ms + kVisitTtlMs <= now_ms;
    });
    expected[shard].emplace_back();
    FormatVisitCount({visit->user, visit->time_ms, user.count,
                      static_cast<std::int64_t>(user.visits_ms.size())},
                     expected[shard].back());
  }
  return expected;
}

}  // namespace mayfly
