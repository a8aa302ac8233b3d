// Options reach the column families that are open, and come back from there.
#include "mayfly/state/rocksdb_options.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "state/rocksdb_live_options.h"
#include "state/rocksdb_options.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Text = ValueStateDescriptor<std::string>;
using TextMap = MapStateDescriptor<std::string, std::string>;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// No field of it has its default.
RocksdbStateOptions Unusual() {
  return {.compression = Compression::kZstd,
          .bloom_bits_per_key = 12.5,
          .write_buffer_bytes = 3 * kMebibyte,
          .file_bytes = 5 * kMebibyte,
          .compaction_style = CompactionStyle::kUniversal,
          .deletion_trigger = DeletionTrigger{.window = 1024, .deletions = 100},
          .periodic_compaction = std::chrono::seconds(12345)};
}

class RocksdbOptionsTest : public ::testing::Test {
 protected:
  void OpenStates() {
    shard_.Get(Describe<Text>("value", Ttl(1000)));
    shard_.Get(Describe<TextMap>("map"));
  }

  RocksdbOptions Live() { return shard_->LiveRocksdbOptions().value(); }
  RocksdbStateOptions Live(const std::string& state) {
    return Live().states.at(state);
  }

  Shard<> shard_{kRocksdb};
};

TEST_F(RocksdbOptionsTest, DefaultsReachTheDatabase) {
  OpenStates();
  RocksdbStateOptions defaults = {
      .compression = Compression::kLz4,
      .bloom_bits_per_key = 10,
      .write_buffer_bytes = 16 * kMebibyte,
      .file_bytes = 32 * kMebibyte,
      .compaction_style = CompactionStyle::kLevel,
      .deletion_trigger = DeletionTrigger(),
      .periodic_compaction = std::chrono::hours(24)};
  EXPECT_EQ(Live("value"), defaults);
  // That of a TTL; the map has none.
  defaults.periodic_compaction = std::chrono::seconds(0);
  EXPECT_EQ(Live("map"), defaults);
  EXPECT_EQ(Live().background_jobs, 2);
  EXPECT_EQ(Live().open_files_max, std::nullopt);
  EXPECT_EQ(Live().obsolete_files_period, std::chrono::minutes(10));
}

TEST_F(RocksdbOptionsTest, AStateOverridesWhatItNamesAndNoMore) {
  shard_.options.rocksdb.all_states = Unusual();
  shard_.options.rocksdb.states["map"] = {.compression = Compression::kNone,
                                          .bloom_bits_per_key = 0.0};
  shard_.Reopen();
  OpenStates();
  EXPECT_EQ(Live("value"), Unusual());
  RocksdbStateOptions map = Unusual();
  map.compression = Compression::kNone;
  map.bloom_bits_per_key = 0;
  EXPECT_EQ(Live("map"), map);
}

TEST_F(RocksdbOptionsTest, OptionsOfAnOpeningReachStatesThatWereThere) {
  OpenStates();
  shard_->SetCurrentKey("k");
  shard_.Commit();
  shard_.options.rocksdb.states["value"] = Unusual();
  shard_.options.rocksdb.background_jobs = 5;
  shard_.options.rocksdb.open_files_max = 100;
  shard_.options.rocksdb.obsolete_files_period = std::chrono::seconds(7);
  shard_.Reopen();
  // Also if nobody registers them.
  EXPECT_EQ(Live("value"), Unusual());
  EXPECT_EQ(Live("map").compression, Compression::kLz4);
  EXPECT_EQ(Live().background_jobs, 5);
  EXPECT_EQ(Live().open_files_max, 100);
  EXPECT_EQ(Live().obsolete_files_period, std::chrono::seconds(7));
}

TEST_F(RocksdbOptionsTest, ChangeWhileRunning) {
  OpenStates();
  RocksdbOptions wanted;
  wanted.all_states.write_buffer_bytes = kMebibyte;
  wanted.states["map"] = {
      .compression = Compression::kZstd,
      .file_bytes = 2 * kMebibyte,
      .deletion_trigger = DeletionTrigger{.window = 256, .deletions = 128}};
  wanted.background_jobs = 3;
  wanted.open_files_max = 64;
  wanted.obsolete_files_period = std::chrono::seconds(60);
  EXPECT_THAT(shard_->SetRocksdbOptions(wanted), IsOk());
  EXPECT_EQ(Live("value").write_buffer_bytes, kMebibyte);
  EXPECT_EQ(Live("value").compression, Compression::kLz4);
  EXPECT_EQ(Live("map").write_buffer_bytes, kMebibyte);
  EXPECT_EQ(Live("map").compression, Compression::kZstd);
  EXPECT_EQ(Live("map").file_bytes, 2 * kMebibyte);
  EXPECT_EQ(Live("map").deletion_trigger,
            (DeletionTrigger{.window = 256, .deletions = 128}));
  EXPECT_EQ(Live().background_jobs, 3);
  EXPECT_EQ(Live().open_files_max, 64);
  EXPECT_EQ(Live().obsolete_files_period, std::chrono::seconds(60));
  // What is not named becomes the default again.
  EXPECT_THAT(shard_->SetRocksdbOptions({}), IsOk());
  EXPECT_EQ(Live("map").compression, Compression::kLz4);
  EXPECT_EQ(Live("map").deletion_trigger, DeletionTrigger());
  EXPECT_EQ(Live().open_files_max, std::nullopt);
}

TEST_F(RocksdbOptionsTest, PeriodicCompactionsFollowTheTtlUnlessToldOtherwise) {
  using std::chrono::seconds;
  const auto Period = [&](const std::string& state) {
    return Live(state).periodic_compaction;
  };
  shard_.Get(Describe<Text>("plain"));
  shard_.Get(Describe<Text>(
      "every_hour", TtlBuilder(1000)
                        .CleanupInRocksdbCompactFilter(1000, seconds(3600))
                        .Build()
                        .value()));
  EXPECT_EQ(Period("plain"), seconds(0));
  EXPECT_EQ(Period("every_hour"), seconds(3600));
  const RocksdbOptions wanted = {
      .all_states = {.periodic_compaction = seconds(500)},
      .states = {{"plain", {.periodic_compaction = seconds(60)}}}};
  EXPECT_THAT(shard_->SetRocksdbOptions(wanted), IsOk());
  EXPECT_EQ(Period("plain"), seconds(60));
  EXPECT_EQ(Period("every_hour"), seconds(500));
  // Also at the next opening, and for what is registered after it.
  shard_->SetCurrentKey("k");
  shard_.Commit();
  shard_.options.rocksdb = wanted;
  shard_.Reopen();
  EXPECT_EQ(Period("every_hour"), seconds(500));
  shard_.Get(Describe<Text>("late", Ttl(1000)));
  EXPECT_EQ(Period("late"), seconds(500));
  EXPECT_THAT(shard_->SetRocksdbOptions({}), IsOk());
  EXPECT_EQ(Period("plain"), seconds(0));
  EXPECT_EQ(Period("late"), seconds(24 * 3600));
}

TEST_F(RocksdbOptionsTest, BitsOfAFilterAreComparedAsRocksdbKeepsThem) {
  RocksdbOptions wanted;
  wanted.all_states.bloom_bits_per_key = 9.87654;
  shard_.options.rocksdb = wanted;
  shard_.Reopen();
  OpenStates();
  EXPECT_THAT(shard_->SetRocksdbOptions(wanted), IsOk());
}

TEST_F(RocksdbOptionsTest, AChangeReachesStatesThatComeLater) {
  EXPECT_THAT(shard_->SetRocksdbOptions(
                  {.states = {{"map", {.compression = Compression::kNone}}}}),
              IsOk());
  OpenStates();
  EXPECT_EQ(Live("map").compression, Compression::kNone);
}

TEST_F(RocksdbOptionsTest, WhatWasReadBackCanBeSet) {
  shard_.options.rocksdb.all_states = Unusual();
  shard_.Reopen();
  OpenStates();
  RocksdbOptions options = Live();
  EXPECT_THAT(shard_->SetRocksdbOptions(options), IsOk());
  EXPECT_EQ(Live(), options);
  options.states["value"].compression = Compression::kLz4;
  EXPECT_THAT(shard_->SetRocksdbOptions(options), IsOk());
  EXPECT_EQ(Live(), options);
}

// What docs/tuning.md says: what a state names comes first.
TEST_F(RocksdbOptionsTest, AChangeForAllIsMadeInEachStateThatWasReadBack) {
  OpenStates();
  RocksdbOptions options = Live();
  options.all_states.compression = Compression::kZstd;
  EXPECT_THAT(shard_->SetRocksdbOptions(options), IsOk());
  EXPECT_EQ(Live().states.at("value").compression, Compression::kLz4);
  for (auto& [name, state] : options.states) {
    state.compression = Compression::kZstd;
  }
  EXPECT_THAT(shard_->SetRocksdbOptions(options), IsOk());
  for (const auto& [name, state] : Live().states) {
    EXPECT_EQ(state.compression, Compression::kZstd) << name;
  }
}

TEST_F(RocksdbOptionsTest, WhatIsFixedIsRefusedAndNothingChanged) {
  OpenStates();
  const RocksdbOptions before = Live();
  const auto refuses = [](const char* field, const char* live,
                          const char* wanted) {
    return StatusIs(
        absl::StatusCode::kFailedPrecondition,
        AllOf(HasSubstr("'value'"), HasSubstr(field), HasSubstr(live),
              HasSubstr(wanted), HasSubstr("BackendOptions::rocksdb")));
  };
  RocksdbOptions wanted;
  wanted.states["map"].compression = Compression::kZstd;
  wanted.states["value"] = {.bloom_bits_per_key = 20};
  EXPECT_THAT(shard_->SetRocksdbOptions(wanted),
              refuses("bloom_bits_per_key", "is 10", "become 20"));
  wanted.states["value"] = {.compaction_style = CompactionStyle::kUniversal};
  EXPECT_THAT(shard_->SetRocksdbOptions(wanted),
              refuses("compaction_style", "is level", "become universal"));
  EXPECT_EQ(Live(), before);
}

TEST_F(RocksdbOptionsTest, AreCheckedByName) {
  const auto refuses = [](const RocksdbOptions& options, const char* message) {
    EXPECT_THAT(Validate(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr(message)));
  };
  EXPECT_THAT(Validate(RocksdbOptions()), IsOk());
  refuses({.all_states = {.bloom_bits_per_key = 0.5}},
          "all_states.bloom_bits_per_key is 0.5; give 0 for no filter, or 1 to "
          "40");
  refuses({.states = {{"s", {.bloom_bits_per_key = 41}}}},
          "states['s'].bloom_bits_per_key is 41");
  refuses({.all_states = {.write_buffer_bytes = 65'535}},
          "write_buffer_bytes is 65535 bytes");
  refuses({.all_states = {.file_bytes = (std::size_t{4} << 30) + 1}},
          "file_bytes is 4294967297 bytes");
  refuses(
      {.all_states = {.deletion_trigger = DeletionTrigger{.window = 1'000'001,
                                                          .deletions = 1}}},
      "deletion_trigger.window is 1000001");
  refuses({.all_states = {.deletion_trigger =
                              DeletionTrigger{.window = 10, .deletions = 0}}},
          "deletion_trigger.deletions is 0");
  refuses({.all_states = {.deletion_trigger =
                              DeletionTrigger{.window = 10, .deletions = 11}}},
          "deletion_trigger.deletions is 11");
  refuses({.background_jobs = 0}, "background_jobs is 0");
  refuses({.background_jobs = 65}, "background_jobs is 65");
  refuses({.open_files_max = 19}, "open_files_max is 19");
  refuses({.obsolete_files_period = std::chrono::seconds(0)},
          "obsolete_files_period is 0 s");
  shard_.options.rocksdb.background_jobs = 0;
  EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("background_jobs")));
  shard_.options.rocksdb = {};
  shard_.Reopen();
  EXPECT_THAT(shard_->SetRocksdbOptions({.background_jobs = 65}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("background_jobs is 65")));
}

TEST(RocksdbOptionsOnHeapTest, AreRefused) {
  Shard<> shard(kHeap);
  const auto refuses =
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("heap"));
  EXPECT_THAT(shard->SetRocksdbOptions({}), refuses);
  EXPECT_THAT(shard->LiveRocksdbOptions(), refuses);
}

// What must hold of expiry and of sweeps whatever the options.
class ExpiryUnderOptionsTest
    : public ::testing::TestWithParam<RocksdbStateOptions> {};

std::string OptionsName(
    const ::testing::TestParamInfo<RocksdbStateOptions>& info) {
  constexpr const char* kNames[] = {"Universal", "NoFilter", "Zstd",
                                    "DeletionTrigger"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(
    Options, ExpiryUnderOptionsTest,
    ::testing::Values(
        RocksdbStateOptions{.compaction_style = CompactionStyle::kUniversal},
        RocksdbStateOptions{.bloom_bits_per_key = 0},
        RocksdbStateOptions{.compression = Compression::kZstd},
        RocksdbStateOptions{
            .deletion_trigger = DeletionTrigger{.window = 128,
                                                .deletions = 1}}),
    OptionsName);

void SweepOnce(Shard<>& shard) {
  const SweepOptions options{.staleness_max = std::chrono::seconds(10)};
  Must(shard->disk_sweeper()->Sweep(options, shard.clock().NowMs()).status());
}

// Sweeps until so few entries of the map are left. RocksDB compacts by itself
// meanwhile, and a sweep leaves a file that is being compacted for the next
// one.
bool SweepDownTo(Shard<>& shard, std::uint64_t entries_max) {
  constexpr int kSweepsMax = 1000;
  for (int sweep = 0; sweep < kSweepsMax; ++sweep) {
    if (shard.StoredEntries("map") <= entries_max) return true;
    SweepOnce(shard);
  }
  return false;
}

TEST_P(ExpiryUnderOptionsTest, OldOnesLeaveTheDiskAndLiveOnesStay) {
  Shard<> shard(kRocksdbTinyTable);
  shard.options.rocksdb.all_states = GetParam();
  shard.options.rocksdb.all_states.write_buffer_bytes = std::size_t{64} << 10;
  shard.options.rocksdb.all_states.file_bytes = std::size_t{64} << 10;
  shard.Reopen();
  auto& map = shard.Get(Describe<TextMap>("map", Ttl(100'000)));
  // One entry of each key is written once, another one again and again: each
  // version of it lies over expired ones.
  constexpr int kKeys = 50;
  for (int second = 0; second < 400; second += 5) {
    shard.clock().SetMs(second * 1000);
    for (int key = 0; key < kKeys; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      Must(map.Put("always", std::to_string(second) + std::string(100, 'a')));
      Must(map.Put("at " + std::to_string(second), std::string(100, 'o')));
    }
    shard.Commit();
    SweepOnce(shard);
  }
  // Those of the last hundred seconds live, and what expired within the bound
  // may be there still.
  EXPECT_TRUE(SweepDownTo(shard, kKeys * (1 + 20u + 2u)));
  for (int key = 0; key < kKeys; ++key) {
    shard->SetCurrentKey(std::to_string(key));
    EXPECT_EQ(Read(map, std::string("always")), "395" + std::string(100, 'a'));
    EXPECT_EQ(Read(map).size(), 1 + 20u);
  }
  // The first sweep finds something in memory, the second writes it to a file.
  for (const int second : {500, 510, 520}) {
    shard.clock().SetMs(second * 1000);
    shard.Commit();
    SweepOnce(shard);
  }
  EXPECT_TRUE(SweepDownTo(shard, 0));
}

TEST(CompactionStyleTest, MayBeAnotherAtEachOpening) {
  Shard<> shard(kRocksdbTinyTable);
  shard.options.rocksdb.all_states.write_buffer_bytes = std::size_t{64} << 10;
  shard.options.rocksdb.all_states.file_bytes = std::size_t{64} << 10;
  constexpr int kKeys = 2000;
  for (const int round : {1, 2, 3, 4}) {
    shard.options.rocksdb.all_states.compaction_style =
        round % 2 == 0 ? CompactionStyle::kUniversal : CompactionStyle::kLevel;
    shard.Reopen();
    auto& value = shard.Get(Describe<Text>("value", Ttl(100'000)));
    // Each round writes over a part of the one before it.
    for (int key = 0; key < kKeys / round; ++key) {
      shard->SetCurrentKey(std::to_string(key));
      Must(value.Update(std::to_string(round) + std::string(100, 'v')));
    }
    shard.Commit();
    for (int key = 0; key < kKeys; ++key) {
      int last = round;
      while (key >= kKeys / last) --last;
      shard->SetCurrentKey(std::to_string(key));
      ASSERT_EQ(Read(value), std::to_string(last) + std::string(100, 'v'));
    }
  }
}

// Tells of the first compaction and why it came.
class FirstCompaction final : public rocksdb::EventListener {
 public:
  void OnCompactionCompleted(rocksdb::DB*,
                             const rocksdb::CompactionJobInfo& job) override {
    if (!told_.exchange(true)) reason_.set_value(job.compaction_reason);
  }
  rocksdb::CompactionReason Wait() { return reason_.get_future().get(); }

 private:
  std::atomic<bool> told_ = false;
  std::promise<rocksdb::CompactionReason> reason_;
};

TEST(DeletionTriggerTest, SwitchedOnItHasAFileFullOfDeletionsCompacted) {
  const TempDirectory directory;
  const state_internal::RocksdbResources resources(StorageResources::Options{});
  RocksdbOptions options;
  const auto first_compaction = std::make_shared<FirstCompaction>();
  rocksdb::Options raw(
      state_internal::DatabaseOptions(resources, options),
      state_internal::StateFamilyOptions(resources, /*is_map=*/false));
  raw.listeners.push_back(first_compaction);
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(raw, directory.Path("db"), &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  const auto write = [&](const auto& change) {
    for (int key = 0; key < 1000; ++key) {
      EXPECT_TRUE(change(std::to_string(key)).ok());
    }
    EXPECT_TRUE(db->Flush({}).ok());
  };
  const auto put = [&](const std::string& key) {
    return db->Put({}, key, "v");
  };
  const auto remove = [&](const std::string& key) {
    return db->Delete({}, key);
  };
  // Switched off, as by default, it leaves the deletions where they are.
  write(put);
  write(remove);
  options.all_states.deletion_trigger =
      DeletionTrigger{.window = 256, .deletions = 128};
  state_internal::RocksdbFamily family;
  family.handle = db->DefaultColumnFamily();
  EXPECT_THAT(state_internal::ChangeStateOptions(
                  *db, family, "s", state_internal::OptionsOf("s", options)),
              IsOk());
  write(remove);
  // Four files would be compacted for their number.
  EXPECT_EQ(first_compaction->Wait(),
            rocksdb::CompactionReason::kFilesMarkedForCompaction);
}

TEST(StorageResourcesTest, TheLimitOfTrafficChangesWhileRunning) {
  const std::shared_ptr<StorageResources> unlimited =
      StorageResources::Create({}).value();
  EXPECT_EQ(unlimited->background_bytes_per_second(), 0u);
  const std::shared_ptr<StorageResources> storage =
      StorageResources::Create({.background_bytes_per_second = 1000}).value();
  EXPECT_EQ(storage->background_bytes_per_second(), 1000u);
  EXPECT_THAT(storage->SetBackgroundBytesPerSecond(2000), IsOk());
  EXPECT_EQ(storage->background_bytes_per_second(), 2000u);
  EXPECT_THAT(storage->SetBackgroundBytesPerSecond(999),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("background_bytes_per_second is 999")));
  EXPECT_EQ(storage->background_bytes_per_second(), 2000u);
  EXPECT_THAT(storage->SetBackgroundBytesPerSecond(0), IsOk());
  EXPECT_EQ(storage->background_bytes_per_second(), 0u);
}

TEST(StorageResourcesTest, OptionsOutOfRangeAreRefusedWithTheirNames) {
  const auto refusal = [](const StorageResources::Options& options) {
    return StorageResources::Create(options).status();
  };
  EXPECT_THAT(refusal({.memory_bytes = (std::size_t{1} << 20) - 1}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("memory_bytes is 1048575")));
  for (const std::uint64_t limit :
       {std::uint64_t{1}, std::uint64_t{999}, std::uint64_t{1'000'000'000'001},
        std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_THAT(refusal({.background_bytes_per_second = limit}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::to_string(limit))));
  }
  EXPECT_THAT(refusal({.memory_bytes = std::size_t{1} << 20,
                       .background_bytes_per_second = 1'000'000'000'000}),
              IsOk());
}

TEST(StorageResourcesTest, FlushesAndSweepsOfAllBackendsKeepToOneLimit) {
  const auto storage = std::make_shared<state_internal::RocksdbResources>(
      StorageResources::Options{});
  const auto through = [&](rocksdb::Env::IOPriority priority) {
    return storage->rate_limiter()->GetTotalBytesThrough(priority);
  };
  for (int i = 0; i < 2; ++i) {
    Shard<> shard(kRocksdb);
    shard.options.storage = storage;
    shard.Reopen();
    auto& value = shard.Get(Describe<Text>("value", Ttl(1000)));
    const auto write = [&](int from) {
      for (int key = from; key < 1000; key += 2) {
        shard->SetCurrentKey(std::to_string(key));
        Must(value.Update(std::string(100, 'v')));
      }
    };
    // Half of them expire, so that a sweep has something to write.
    write(0);
    shard.clock().SetMs(999);
    write(1);
    shard.Commit();
    const std::int64_t flushed = through(rocksdb::Env::IO_HIGH);
    const std::int64_t compacted = through(rocksdb::Env::IO_LOW);
    const SweepOptions options{.expired_share = 0.4,
                               .staleness_max = std::chrono::seconds(1)};
    Must(shard->disk_sweeper()->Sweep(options, 0).status());
    Must(shard->disk_sweeper()->Sweep(options, 500).status());
    EXPECT_GT(through(rocksdb::Env::IO_HIGH), flushed);
    EXPECT_EQ(through(rocksdb::Env::IO_LOW), compacted);
    shard.clock().SetMs(1500);
    shard.Commit();
    const SweepReport report =
        shard->disk_sweeper()->Sweep(options, 1500).value();
    EXPECT_EQ(report.compactions, 1u);
    EXPECT_GE(through(rocksdb::Env::IO_LOW) - compacted,
              static_cast<std::int64_t>(report.bytes_written));
  }
}

}  // namespace
}  // namespace mayfly::state_test
