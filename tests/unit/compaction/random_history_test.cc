// A database beside a plain model, through random writes, flushes, compactions
// of random levels, snapshots and time. Timestamps are drawn at random, so that
// newer versions often expire before older ones do: what compaction removes
// must uncover nothing, and must have been expired.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mayfly/compaction/expiry_sweep.h"
#include "mayfly/serde/entry_codec.h"
#include "rocksdb/env.h"
#include "tests/unit/compaction/test_database.h"

namespace mayfly::compaction_test {
namespace {

constexpr int kKeys = 6;
constexpr int kSteps = 250;

class RandomHistoryTest : public ::testing::TestWithParam<EntryLayout> {
 protected:
  RandomHistoryTest()
      : is_list_(GetParam() == EntryLayout::kList),
        database_(Settings(GetParam()), [this](rocksdb::Options& options) {
          options.env = memory_.get();
        }) {}

  int Below(int bound) {
    return static_cast<int>(random_() % static_cast<unsigned>(bound));
  }
  TimestampMs RandomTimestamp() {
    return database_.clock().now_ms - Below(2 * kTtlMs);
  }
  std::string RandomEntry() {
    const std::string payload(static_cast<std::size_t>(Below(10)), 'p');
    return is_list_ ? Element(RandomTimestamp(), payload)
                    : Entry(RandomTimestamp(), payload);
  }

  void Step() {
    const std::string key(1, static_cast<char>('a' + Below(kKeys)));
    switch (Below(9)) {
      case 0:
        database_.Put(key, model_[key] = RandomEntry());
        break;
      case 1:
      case 2:
        if (is_list_) {
          const std::string element = RandomEntry();
          database_.Append(key, element);
          model_[key] += element;
        } else {
          database_.Put(key, model_[key] = RandomEntry());
        }
        break;
      case 3:
        database_.Delete(key);
        model_.erase(key);
        break;
      case 4:
        database_.clock().now_ms += Below(30);
        break;
      case 5:
        snapshot_.reset();
        if (Below(2) == 0) snapshot_.emplace(&database_.db());
        break;
      case 6:
        database_.Flush();
        break;
      case 7:
        CompactSomeLevels();
        break;
      case 8:
        Sweep();
        break;
    }
  }

  void CompactSomeLevels() {
    const int first = Below(kLastLevel + 1);
    const int last = first + Below(kLastLevel + 1 - first);
    std::vector<int> levels;
    int files = 0;
    for (int level = first; level <= last; ++level) {
      levels.push_back(level);
      files += database_.FilesAtLevel(level);
    }
    // Level 0 cannot be compacted into itself in part.
    if (files > 0 && last > 0) database_.CompactLevels(levels, last);
  }

  // Drops and compacts what any share of has expired, or a certain one.
  void Sweep() {
    ExpirySweep sweep(&database_.db(), database_.handle(),
                      database_.shared_ttl());
    const SweepOptions options{
        .expired_share = Below(2) == 0 ? 0.001 : 0.5,
        .staleness_max = std::chrono::milliseconds(1000)};
    const SweepReport report =
        sweep.Run(options, database_.clock().now_ms).value();
    files_dropped_ += report.files_dropped;
    compactions_ += report.compactions;
  }

  // What a reader may see of stored bytes.
  std::string Live(const std::string& stored) {
    const ExpiryRule rule = database_.ttl().rule();
    const TimestampMs now = database_.clock().now_ms;
    if (!is_list_) {
      const std::optional<EntryView> entry = DecodeEntry(stored);
      const bool live =
          entry.has_value() && !rule.IsExpired(entry->timestamp_ms, now);
      return live ? stored : "";
    }
    std::string live;
    ListReader reader(stored);
    while (const std::optional<EntryView> element = reader.Next()) {
      if (!rule.IsExpired(element->timestamp_ms, now)) {
        AppendListElement(element->timestamp_ms, element->bytes, live);
      }
    }
    EXPECT_FALSE(reader.malformed());
    return live;
  }

  void ExpectSameAsModel() {
    for (int i = 0; i < kKeys; ++i) {
      const std::string key(1, static_cast<char>('a' + i));
      const auto found = model_.find(key);
      ASSERT_EQ(Live(database_.Get(key).value_or("")),
                found == model_.end() ? "" : Live(found->second))
          << key;
    }
  }

  const bool is_list_;
  // Thousands of flushes: no disk.
  const std::unique_ptr<rocksdb::Env> memory_{
      rocksdb::NewMemEnv(rocksdb::Env::Default())};
  TestDatabase database_;
  std::optional<rocksdb::ManagedSnapshot> snapshot_;
  std::map<std::string, std::string> model_;
  std::mt19937_64 random_;
  std::uint64_t files_dropped_ = 0;
  std::uint64_t compactions_ = 0;
};

TEST_P(RandomHistoryTest, AgreesWithAPlainModel) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    random_.seed(seed);
    database_.clock().now_ms += 10 * kTtlMs;
    for (int step = 0; step < kSteps; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step);
      Step();
      ASSERT_NO_FATAL_FAILURE(ExpectSameAsModel());
    }
  }
  EXPECT_GT(database_.ttl().counters().records_removed, 50);
  EXPECT_GT(files_dropped_, 20u);
  EXPECT_GT(compactions_, 100u);

  snapshot_.reset();
  database_.clock().now_ms += 10 * kTtlMs;
  database_.CompactAll();
  EXPECT_EQ(database_.Raw(), RawCounts{});
}

INSTANTIATE_TEST_SUITE_P(Layouts, RandomHistoryTest,
                         ::testing::Values(EntryLayout::kValue,
                                           EntryLayout::kList),
                         [](const auto& layout) {
                           return layout.param == EntryLayout::kList ? "List"
                                                                     : "Value";
                         });

}  // namespace
}  // namespace mayfly::compaction_test
