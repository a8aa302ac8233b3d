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

// Entries are written over half an hour of simulated time, under a TTL of one;
// those that are renewed are read at its end.
class MayflyStore : public ReclaimStore {
 public:
  void Load() override {
    Open(UpdateType::kOnCreateAndWrite);
    const auto step =
        std::chrono::duration_cast<std::chrono::microseconds>(kSpan) /
        scenario_.entries;
    for (std::uint64_t i = 0; i < scenario_.entries; ++i) {
      clock_->Step(step);
      backend_->SetCurrentKey(KeyOf(i));
      Must(state_->Update(ValueOf(i)));
      if (i % 100'000 == 0 || backend_->commit_due()) Must(backend_->Commit());
    }
    Must(backend_->Commit());
    if (scenario_.renewed_one_in > 0) Renew();
    Must(backend_->Compact());
  }

  void Expire() override {
    const double live = 1 - static_cast<double>(scenario_.expired_before) /
                                static_cast<double>(scenario_.entries);
    clock_->Step(std::chrono::duration_cast<std::chrono::microseconds>(
        kTtl - live * std::chrono::duration<double>(kSpan)));
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

  explicit MayflyStore(const ReclaimScenario& scenario) : scenario_(scenario) {}

  const std::shared_ptr<SteppedClock> clock_ = std::make_shared<SteppedClock>();
  std::unique_ptr<KeyedStateBackend<std::string>> backend_;

 private:
  void Open(UpdateType update_type) {
    backend_.reset();
    BackendOptions options;
    options.directory = directory_.path();
    options.table_bytes_max = std::size_t{8} << 20;
    options.processing_clock = clock_;
    backend_ = Must(KeyedStateBackend<std::string>::Open(options));
    ValueStateDescriptor<std::string> descriptor("value");
    descriptor.EnableTimeToLive(Must(
        StateTtlConfig::NewBuilder(kTtl).SetUpdateType(update_type).Build()));
    state_ = Must(backend_->GetState(descriptor));
  }

  void Renew() {
    Open(UpdateType::kOnReadAndWrite);
    for (std::uint64_t i = 0; i < scenario_.expired_before; ++i) {
      if (!scenario_.IsRenewed(i)) continue;
      if (!Get(i)) Fail("what is to be renewed is not there");
      if (backend_->commit_due()) Must(backend_->Commit());
    }
    Must(backend_->Commit());
    // Reads that are timed later shall renew nothing.
    Open(UpdateType::kOnCreateAndWrite);
  }

  const ReclaimScenario scenario_;
  const TemporaryDirectory directory_;
  ValueState<std::string>* state_ = nullptr;
};

class SweptStore final : public MayflyStore {
 public:
  explicit SweptStore(const ReclaimScenario& scenario)
      : MayflyStore(scenario) {}

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
  explicit FilteredStore(const ReclaimScenario& scenario)
      : MayflyStore(scenario) {}

  // A backend belongs to one thread, and it is that which compacts.
  bool can_be_read_meanwhile() const override { return false; }

  void Reclaim() override { Must(backend_->Compact()); }
};

// Time is real: the halves are written a little apart. Reads do not renew, so
// that what is renewed is put again.
class DbWithTtlStore final : public ReclaimStore {
 public:
  explicit DbWithTtlStore(const ReclaimScenario& scenario)
      : scenario_(scenario),
        rocksdb_({.path = directory_.path(), .ttl_seconds = 0}) {}

  void Load() override {
    Put(0, scenario_.expired_before,
        [](std::uint64_t /*entry*/) { return true; });
    std::this_thread::sleep_for(pause());
    written_ = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(pause());
    Put(scenario_.expired_before, scenario_.entries,
        [](std::uint64_t /*entry*/) { return true; });
    Put(0, scenario_.expired_before,
        [this](std::uint64_t entry) { return scenario_.IsRenewed(entry); });
    rocksdb_.Compact();
  }

  void Expire() override {
    // In whole seconds; an entry is expired once it is older.
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - written_);
    static_cast<rocksdb::DBWithTTL&>(rocksdb_.db())
        .SetTtl(static_cast<std::int32_t>(age.count()));
  }

  void Reclaim() override { rocksdb_.Compact(); }

  bool Get(std::uint64_t entry) override {
    return rocksdb_.db()
        .Get(rocksdb_.read_options(), KeyOf(entry), &value_)
        .ok();
  }

  std::string directory() const override { return directory_.path(); }

 private:
  // Its clock goes on while it compacts: longer than that takes.
  std::chrono::seconds pause() const {
    return std::chrono::seconds(3 + scenario_.entries / 250'000);
  }

  template <typename Choose>
  void Put(std::uint64_t begin, std::uint64_t end, const Choose& chosen) {
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = begin; i < end; ++i) {
      if (!chosen(i)) continue;
      Must(batch.Put(KeyOf(i), ValueOf(i)));
      if (batch.Count() < kBatch) continue;
      Must(rocksdb_.db().Write(rocksdb_.write_options(), &batch));
      batch.Clear();
    }
    Must(rocksdb_.db().Write(rocksdb_.write_options(), &batch));
  }

  const ReclaimScenario scenario_;
  const TemporaryDirectory directory_;
  PlainRocksdb rocksdb_;
  // When the last of those that expire had been written.
  std::chrono::steady_clock::time_point written_;
  std::string value_;
};

// By hand: a second column family says when each key was last accessed, by the
// number of the entry that was written then. It is scanned, what has expired is
// deleted in batches from both, and both are compacted.
class SideStore final : public ReclaimStore {
 public:
  explicit SideStore(const ReclaimScenario& scenario)
      : scenario_(scenario), rocksdb_({.path = directory_.path()}) {
    Must(db().CreateColumnFamily(db().GetOptions(), "times", &times_));
  }
  ~SideStore() override { Must(db().DestroyColumnFamilyHandle(times_)); }

  void Load() override {
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = 0; i < scenario_.entries; ++i) {
      Must(batch.Put(KeyOf(i), ValueOf(i)));
      Must(batch.Put(times_, KeyOf(i), KeyOf(i)));
      WriteIfFull(kBatch, batch);
    }
    for (std::uint64_t i = 0; i < scenario_.expired_before; ++i) {
      if (!scenario_.IsRenewed(i)) continue;
      Must(batch.Put(times_, KeyOf(i), KeyOf(scenario_.entries)));
      WriteIfFull(kBatch, batch);
    }
    WriteIfFull(0, batch);
    Compact();
  }

  void Expire() override {}

  void Reclaim() override {
    const std::string expired_before = KeyOf(scenario_.expired_before);
    const std::unique_ptr<rocksdb::Iterator> scan(
        db().NewIterator(rocksdb_.read_options(), times_));
    rocksdb::WriteBatch batch;
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) {
      if (scan->value().compare(expired_before) >= 0) continue;
      Must(batch.Delete(scan->key()));
      Must(batch.Delete(times_, scan->key()));
      WriteIfFull(2000, batch);
    }
    WriteIfFull(0, batch);
    Compact();
  }

  bool Get(std::uint64_t entry) override {
    return db().Get(rocksdb_.read_options(), KeyOf(entry), &value_).ok();
  }

  std::string directory() const override { return directory_.path(); }

 private:
  rocksdb::DB& db() { return rocksdb_.db(); }

  void WriteIfFull(std::uint64_t count, rocksdb::WriteBatch& batch) {
    if (batch.Count() < count) return;
    Must(db().Write(rocksdb_.write_options(), &batch));
    batch.Clear();
  }

  void Compact() {
    rocksdb_.Compact();
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction =
        rocksdb::BottommostLevelCompaction::kForce;
    Must(db().CompactRange(options, times_, nullptr, nullptr));
  }

  const ReclaimScenario scenario_;
  const TemporaryDirectory directory_;
  PlainRocksdb rocksdb_;
  rocksdb::ColumnFamilyHandle* times_ = nullptr;
  std::string value_;
};

template <typename Store>
ReclaimContender Contender(std::string name) {
  return {std::move(name), [](const ReclaimScenario& scenario) {
            return std::make_unique<Store>(scenario);
          }};
}

}  // namespace

std::vector<ReclaimContender> ReclaimContenders() {
  return {Contender<SweptStore>("mayfly sweep"),
          Contender<FilteredStore>("mayfly filter"),
          Contender<DbWithTtlStore>("DBWithTTL"),
          Contender<SideStore>("side store")};
}

}  // namespace mayfly::bench
