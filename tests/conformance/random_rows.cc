// Section 6.14 of rows.md, Flink's end-to-end test: random updates of a
// hundred keys. What a read must show is computed from the updates before it,
// as its oracle does, when the program is made.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/conformance/rows.h"
#include "tests/conformance/ttls.h"

namespace mayfly::conformance {
namespace {

constexpr std::int64_t kTtlMs = 1000;
constexpr int kKeyspace = 100;
constexpr int kUpdates = 1000;

// The updates of one key.
class History {
 public:
  void Add(Batch batch, TimestampMs now_ms) {
    if (Expired(last_ms_, now_ms)) folded_.clear();
    folded_.push_back(batch);
    last_ms_ = now_ms;
    elements_.push_back({batch, now_ms});
  }

  Reads Shown(TimestampMs now_ms) const {
    Batches live;
    for (const Update& update : elements_) {
      if (!Expired(update.time_ms, now_ms)) live.push_back(update.batch);
    }
    return {live, live.empty() ? Batches{} : folded_};
  }

 private:
  struct Update {
    Batch batch;
    TimestampMs time_ms;
  };
  static bool Expired(TimestampMs time_ms, TimestampMs now_ms) {
    return time_ms + kTtlMs <= now_ms;
  }

  std::vector<Update> elements_;
  Batches folded_;
  TimestampMs last_ms_ = -kTtlMs;
};

class Generator {
 public:
  Program Updates() {
    Program program;
    for (int i = 0; i < kUpdates; ++i) {
      now_ms_ += static_cast<TimestampMs>(random_() % 40);
      const auto key = std::to_string(random_() % kKeyspace);
      const auto batch = static_cast<Batch>(random_() % 3);
      History& history = histories_[key];
      const Reads before = history.Shown(now_ms_);
      history.Add(batch, now_ms_);
      program =
          std::move(program) + Program{At{now_ms_}, Use{key}, before,
                                       Write{batch}, history.Shown(now_ms_)};
    }
    return program;
  }

 private:
  std::mt19937_64 random_{7};
  TimestampMs now_ms_ = 0;
  std::map<std::string, History> histories_;
};

}  // namespace

Rows RandomRows() {
  const StateTtlConfig ttl = state_test::Ttl(kTtlMs);
  const std::vector<std::string> five_kinds = {"V", "LV", "MA", "A", "R"};
  const Program updates = Generator().Updates();
  Generator generator;
  const Program first = generator.Updates();
  return {{"Row091", ttl, updates, five_kinds},
          {"Row093", ttl, first + Program{Restart{}} + generator.Updates(),
           five_kinds}};
}

}  // namespace mayfly::conformance
