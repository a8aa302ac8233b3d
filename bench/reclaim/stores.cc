#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "bench/harness/must.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/harness/shard.h"
#include "bench/reclaim/store.h"
#include "mayfly/state/disk_sweeper.h"
#include "mayfly/state/value_state.h"
#include "rocksdb/utilities/db_ttl.h"
#include "state/rocksdb_options.h"

namespace mayfly::bench {
namespace {

constexpr std::size_t kValueBytes = 100;
constexpr std::uint64_t kBatch = 10'000;

std::string KeyOf(std::uint64_t entry) {
  char key[17];
  std::snprintf(key, sizeof(key), "%016llx",
                static_cast<unsigned long long>(entry));
  return std::string(key, 16);
}

std::string ValueOf(std::uint64_t entry) {
  std::string value = KeyOf(entry * 0x9e3779b97f4a7c15);
  while (value.size() < kValueBytes) value += KeyOf(value.size() * entry);
  value.resize(kValueBytes);
  return value;
}

// Entries are written over half an hour of simulated time, under a TTL of one.
class MayflyStore : public ReclaimStore {
 public:
  void Load(std::uint64_t entries) override {
    entries_ = entries;
    ValueStateDescriptor<std::string> descriptor("value");
    descriptor.EnableTimeToLive(Must(StateTtlConfig::NewBuilder(kTtl).Build()));
    state_ = Must(backend_->GetState(descriptor));
    const auto step =
        std::chrono::duration_cast<std::chrono::microseconds>(kSpan) / entries;
    for (std::uint64_t i = 0; i < entries; ++i) {
      clock_->Step(step);
      backend_->SetCurrentKey(KeyOf(i));
      Must(state_->Update(ValueOf(i)));
      if (i % 100'000 == 0 || backend_->commit_due()) Must(backend_->Commit());
    }
    Must(backend_->Commit());
    Must(backend_->Compact());
  }

  void Expire(double share) override {
    clock_->Step(std::chrono::duration_cast<std::chrono::microseconds>(kTtl) -
                 std::chrono::duration_cast<std::chrono::microseconds>(
                     (1 - share) * std::chrono::duration<double>(kSpan)));
    Must(backend_->Commit());
  }

  bool Get(std::uint64_t entry) override {
    backend_->SetCurrentKey(KeyOf(entry));
    return Must(state_->Value()) != nullptr;
  }

  std::string directory() const override { return directory_.path(); }

 protected:
  static constexpr std::chrono::milliseconds kTtl = std::chrono::hours(1);
  static constexpr std::chrono::milliseconds kSpan = std::chrono::minutes(30);

  MayflyStore() {
    BackendOptions options;
    options.directory = directory_.path();
    options.table_bytes_max = std::size_t{8} << 20;
    options.processing_clock = clock_;
    backend_ = Must(KeyedStateBackend<std::string>::Open(options));
  }

  const TemporaryDirectory directory_;
  const std::shared_ptr<SteppedClock> clock_ = std::make_shared<SteppedClock>();
  std::unique_ptr<KeyedStateBackend<std::string>> backend_;
  ValueState<std::string>* state_ = nullptr;
  std::uint64_t entries_ = 0;
};

class SweptStore final : public MayflyStore {
 public:
  void Reclaim() override {
    const std::shared_ptr<DiskSweeper> sweeper = backend_->disk_sweeper();
    const SweepOptions options{.bytes_max = UINT64_MAX};
    while (true) {
      const SweepReport report = Must(sweeper->Sweep(options, clock_->NowMs()));
      if (report.files_dropped + report.compactions == 0) return;
    }
  }
};

// Compaction of everything through the filter.
class FilteredStore final : public MayflyStore {
 public:
  // A backend belongs to one thread, and it is that which compacts.
  bool can_be_read_meanwhile() const override { return false; }

  void Reclaim() override { Must(backend_->Compact()); }
};

// Time is real: each half of the entries is written a little apart.
class DbWithTtlStore final : public ReclaimStore {
 public:
  DbWithTtlStore() {
    const state_internal::RocksdbResources resources({});
    Must(rocksdb::DBWithTTL::Open(
        rocksdb::Options(state_internal::DatabaseOptions(resources),
                         state_internal::StateFamilyOptions(resources, false)),
        directory_.path(), &db_, /*ttl=*/0));
  }
  ~DbWithTtlStore() override { delete db_; }

  void Load(std::uint64_t entries) override {
    for (std::uint64_t i = 0; i < entries;) {
      rocksdb::WriteBatch batch;
      for (const std::uint64_t end = i + kBatch; i < end && i < entries; ++i) {
        Must(batch.Put(KeyOf(i), ValueOf(i)));
      }
      Must(db_->Write(rocksdb::WriteOptions(), &batch));
      if (i == entries / 2 / kBatch * kBatch) {
        std::this_thread::sleep_for(kPause);
        half_ = std::chrono::steady_clock::now();
        std::this_thread::sleep_for(kPause);
      }
    }
    Compact();
  }

  void Expire(double share) override {
    // Seconds, and an entry is expired once it is older.
    std::this_thread::sleep_for(kPause);
    const auto since_half = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - half_);
    db_->SetTtl(share < 1 ? static_cast<int>(since_half.count()) : 1);
  }

  void Reclaim() override { Compact(); }

  bool Get(std::uint64_t entry) override {
    return db_->Get(rocksdb::ReadOptions(), KeyOf(entry), &value_).ok();
  }

  std::string directory() const override { return directory_.path(); }

 private:
  static constexpr std::chrono::seconds kPause{3};

  void Compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForce;
    Must(db_->CompactRange(options, nullptr, nullptr));
  }

  const TemporaryDirectory directory_;
  rocksdb::DBWithTTL* db_ = nullptr;
  std::chrono::steady_clock::time_point half_;
  std::string value_;
};

// By hand: a second column family says when each key was written. It is
// scanned, what has expired is deleted in batches from both, and both are
// compacted.
class SideStore final : public ReclaimStore {
 public:
  SideStore() {
    const state_internal::RocksdbResources resources({});
    const auto family = state_internal::StateFamilyOptions(resources, false);
    Must(rocksdb::DB::Open(
        rocksdb::Options(state_internal::DatabaseOptions(resources), family),
        directory_.path(), &db_));
    Must(db_->CreateColumnFamily(family, "times", &times_));
  }
  ~SideStore() override {
    db_->DestroyColumnFamilyHandle(times_);
    delete db_;
  }

  void Load(std::uint64_t entries) override {
    entries_ = entries;
    for (std::uint64_t i = 0; i < entries;) {
      rocksdb::WriteBatch batch;
      for (const std::uint64_t end = i + kBatch; i < end && i < entries; ++i) {
        Must(batch.Put(KeyOf(i), ValueOf(i)));
        Must(batch.Put(times_, KeyOf(i), KeyOf(i)));
      }
      Must(db_->Write(rocksdb::WriteOptions(), &batch));
    }
    Compact();
  }

  void Expire(double share) override {
    expired_before_ = KeyOf(
        static_cast<std::uint64_t>(share * static_cast<double>(entries_)));
  }

  void Reclaim() override {
    const std::unique_ptr<rocksdb::Iterator> scan(
        db_->NewIterator(rocksdb::ReadOptions(), times_));
    rocksdb::WriteBatch batch;
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      if (scan->value().compare(expired_before_) >= 0) continue;
      Must(batch.Delete(scan->key()));
      Must(batch.Delete(times_, scan->key()));
      if (batch.Count() < 2000) continue;
      Must(db_->Write(rocksdb::WriteOptions(), &batch));
      batch.Clear();
    }
    Must(db_->Write(rocksdb::WriteOptions(), &batch));
    Compact();
  }

  bool Get(std::uint64_t entry) override {
    return db_->Get(rocksdb::ReadOptions(), KeyOf(entry), &value_).ok();
  }

  std::string directory() const override { return directory_.path(); }

 private:
  void Compact() {
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForce;
    Must(db_->CompactRange(options, nullptr, nullptr));
    Must(db_->CompactRange(options, times_, nullptr, nullptr));
  }

  const TemporaryDirectory directory_;
  rocksdb::DB* db_ = nullptr;
  rocksdb::ColumnFamilyHandle* times_ = nullptr;
  std::uint64_t entries_ = 0;
  std::string expired_before_;
  std::string value_;
};

template <typename Store>
ReclaimContender Contender(std::string name) {
  return {std::move(name), [] { return std::make_unique<Store>(); }};
}

}  // namespace

std::vector<ReclaimContender> ReclaimContenders() {
  return {Contender<SweptStore>("mayfly sweep"),
          Contender<FilteredStore>("mayfly filter"),
          Contender<DbWithTtlStore>("DBWithTTL"),
          Contender<SideStore>("side store")};
}

}  // namespace mayfly::bench
