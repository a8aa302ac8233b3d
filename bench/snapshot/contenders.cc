#include "bench/snapshot/contenders.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bench/harness/keys.h"
#include "bench/harness/must.h"
#include "bench/harness/payload.h"
#include "bench/harness/plain_rocksdb.h"
#include "bench/snapshot/stores.h"
#include "mayfly/serde/internal/byte_order.h"
#include "mayfly/state/savepoint.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/write_batch.h"

namespace mayfly::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kCommitEvery = 100'000;

// In the directory of stores.
constexpr char kHeap[] = "/heap";
constexpr char kRocksdb[] = "/rocksdb";
constexpr char kPlain[] = "/plain";
constexpr char kSavepoint[] = "/savepoint";
constexpr char kScan[] = "/scan";

std::string ValueOf(std::uint64_t entry) {
  return Value<std::string>(entry, kSnapshotValueBytes);
}

void FillMayfly(BackendKind kind, const std::string& directory,
                std::uint64_t entries) {
  MayflyStore store(kind, directory);
  for (std::uint64_t i = 0; i < entries; ++i) {
    store.backend->SetCurrentKey(Key<std::string>(i));
    Must(store.state->Update(ValueOf(i)));
    // On heap each commit writes all there is.
    if (kind == BackendKind::kRocksdb && (i + 1) % kCommitEvery == 0) {
      Must(store.backend->Commit());
    }
  }
  Must(store.backend->Commit());
}

void FillPlain(const std::string& directory, std::uint64_t entries) {
  PlainRocksdb plain({.path = directory});
  std::string stamped;
  serde_internal::AppendBigEndian(
      static_cast<std::uint64_t>(StandingClock()->NowMs()), stamped);
  rocksdb::WriteBatch batch;
  for (std::uint64_t i = 0; i < entries; ++i) {
    stamped.resize(sizeof(std::uint64_t));
    stamped += ValueOf(i);
    Must(batch.Put(Key<std::string>(i), stamped));
    if ((i + 1) % kCommitEvery != 0 && i + 1 != entries) continue;
    Must(plain.db().Write(plain.write_options(), &batch));
    batch.Clear();
  }
}

void ScanToFile(const std::string& database, const std::string& file) {
  PlainRocksdb plain({.path = database});
  ScanFileWriter scan(file);
  const std::unique_ptr<rocksdb::Iterator> at(
      plain.db().NewIterator(plain.read_options()));
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    scan.Add(at->key().ToStringView(), at->value().ToStringView());
  }
  Must(at->status());
}

// Each file read and written, as on the way to another disk.
Figures CopyFiles(const std::string& from, const std::string& to) {
  const Meter meter;
  fs::copy(from, to, fs::copy_options::recursive);
  return meter.Stop();
}

// --- Checkpoints ---

// The median of many, since one takes milliseconds. The last one stays.
Figures MedianCheckpoint(const std::string& made,
                         const std::function<void()>& checkpoint) {
  constexpr int kTimes = 15;
  std::vector<Figures> all;
  for (int i = 0; i < kTimes; ++i) {
    fs::remove_all(made);
    const Meter meter;
    checkpoint();
    all.push_back(meter.Stop());
  }
  std::ranges::sort(all, {}, &Figures::seconds);
  return all[kTimes / 2];
}

Figures MayflyCheckpointOnRocksdb(const std::string& stores,
                                  const std::string& made) {
  MayflyStore store(BackendKind::kRocksdb, stores + kRocksdb);
  return MedianCheckpoint(
      made, [&] { Must(store.backend->Checkpoint(made).status()); });
}

Figures PlainCheckpoint(const std::string& stores, const std::string& made) {
  PlainRocksdb plain({.path = stores + kPlain});
  return MedianCheckpoint(made, [&] {
    rocksdb::Checkpoint* checkpoint = nullptr;
    Must(rocksdb::Checkpoint::Create(&plain.db(), &checkpoint));
    const std::unique_ptr<rocksdb::Checkpoint> owned(checkpoint);
    // As Mayfly has it: the log is copied, and nothing flushed.
    Must(checkpoint->CreateCheckpoint(
        made, std::numeric_limits<std::uint64_t>::max()));
  });
}

// Records go on while the commit is written, and wait for the copy of it.
Figures MayflyCheckpointOnHeap(std::uint64_t entries, const std::string& stores,
                               const std::string& made) {
  // Its own directory: a commit changes it.
  MayflyStore store(BackendKind::kHeap, stores + kHeap);
  constexpr int kBatch = 1000;
  double pause_ms = 0;
  const auto timed = [&pause_ms](const auto& act) {
    const auto began = Clock::now();
    act();
    pause_ms =
        std::max(pause_ms,
                 std::chrono::duration<double, std::milli>(Clock::now() - began)
                     .count());
  };
  const Meter meter;
  timed([&] { Must(store.backend->BeginCommit()); });
  for (std::uint64_t i = 0; store.backend->committing(); ++i) {
    timed([&] {
      const std::uint64_t entry = Scatter(i) % entries;
      store.backend->SetCurrentKey(Key<std::string>(entry));
      Must(store.state->Update(ValueOf(entry)));
      if (i % kBatch == 0 &&
          store.backend->StepCommit() == CommitProgress::kReady) {
        Must(store.backend->FinishCommit());
      }
    });
  }
  timed([&] { Must(store.backend->Checkpoint(made).status()); });
  Figures figures = meter.Stop();
  figures.pause_ms = pause_ms;
  return figures;
}

// --- Savepoints ---

Figures MayflySavepoint(const std::string& shard, const std::string& file) {
  const Meter meter;
  Must(WriteSavepoint(shard, file).status());
  return meter.Stop();
}

Figures PlainScan(const std::string& stores, const std::string& file) {
  const Meter meter;
  ScanToFile(stores + kPlain, file);
  return meter.Stop();
}

// --- Restores ---

Figures MayflyRestore(BackendKind kind, const std::string& stores,
                      const std::string& made) {
  BackendOptions target;
  target.kind = kind;
  target.directory = made;
  const Meter meter;
  Must(RestoreShard({.sources = {stores + kSavepoint},
                     .processing_clock = StandingClock()},
                    target)
           .status());
  // On heap it is in a file until it is opened.
  std::optional<MayflyStore> opened;
  if (kind == BackendKind::kHeap) opened.emplace(kind, made);
  Figures figures = meter.Stop();
  opened.reset();
  ChecksumOfShard(made, figures);
  return figures;
}

// Cut into files as Mayfly's are, and ingested.
Figures SortedIngestion(const std::string& stores, const std::string& made) {
  const Meter meter;
  {
    PlainRocksdb plain({.path = made});
    const rocksdb::Options options = plain.db().GetOptions();
    ScanFileReader scan(stores + kScan);
    std::optional<rocksdb::SstFileWriter> writer;
    std::vector<std::string> files;
    std::string_view key;
    std::string_view value;
    while (scan.Next(key, value)) {
      if (!writer) {
        files.push_back(made + "/loading-" + std::to_string(files.size()));
        writer.emplace(rocksdb::EnvOptions(options), options);
        Must(writer->Open(files.back()));
      }
      Must(writer->Put(rocksdb::Slice(key.data(), key.size()),
                       rocksdb::Slice(value.data(), value.size())));
      if (writer->FileSize() < options.target_file_size_base) continue;
      Must(writer->Finish());
      writer.reset();
    }
    if (writer) Must(writer->Finish());
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    Must(plain.db().IngestExternalFile(files, ingest));
  }
  Figures figures = meter.Stop();
  ChecksumOfDatabase(made, figures);
  return figures;
}

Figures SinglePuts(const std::string& stores, const std::string& made) {
  const Meter meter;
  {
    PlainRocksdb plain({.path = made});
    ScanFileReader scan(stores + kScan);
    std::string_view key;
    std::string_view value;
    while (scan.Next(key, value)) {
      Must(plain.db().Put(plain.write_options(),
                          rocksdb::Slice(key.data(), key.size()),
                          rocksdb::Slice(value.data(), value.size())));
    }
  }
  Figures figures = meter.Stop();
  ChecksumOfDatabase(made, figures);
  return figures;
}

Figures FillHashMap(const std::string& stores) {
  const Meter meter;
  absl::flat_hash_map<std::string, std::string> map;
  ScanFileReader scan(stores + kScan);
  std::string_view key;
  std::string_view value;
  while (scan.Next(key, value)) map.emplace(key, value);
  Figures figures = meter.Stop();
  EntryChecksum checksum;
  for (const auto& [stored_key, stored] : map) checksum.Add(stored_key, stored);
  checksum.PutInto(figures);
  return figures;
}

}  // namespace

std::uint64_t SnapshotEntryBytes() {
  return Key<std::string>(0).size() + sizeof(std::int64_t) +
         kSnapshotValueBytes;
}

void FillStores(const std::string& stores, std::uint64_t entries) {
  const auto in_child = [](const std::function<void()>& fill) {
    return RunInChild([&] {
      fill();
      return Figures();
    });
  };
  in_child([&] { FillMayfly(BackendKind::kHeap, stores + kHeap, entries); });
  in_child(
      [&] { FillMayfly(BackendKind::kRocksdb, stores + kRocksdb, entries); });
  in_child([&] { FillPlain(stores + kPlain, entries); });
  in_child([&] {
    Must(WriteSavepoint(stores + kRocksdb, stores + kSavepoint).status());
    ScanToFile(stores + kPlain, stores + kScan);
  });
}

std::vector<SnapshotContender> SnapshotContenders(std::uint64_t entries) {
  using Path = const std::string&;
  const auto copy = [](const char* what) {
    return [what](Path stores, Path made) {
      return CopyFiles(stores + what, made);
    };
  };
  return {
      {"checkpoint/rocksdb", "mayfly", 0, MayflyCheckpointOnRocksdb},
      {"checkpoint/rocksdb", "RocksDB's checkpoint", 1 / 1.5, PlainCheckpoint},
      {"checkpoint/rocksdb", "copy of the files", 0, copy(kRocksdb)},
      {"checkpoint/heap", "mayfly", 0,
       [entries](Path stores, Path made) {
         return MayflyCheckpointOnHeap(entries, stores, made);
       }},
      {"checkpoint/heap", "copy of the file", 0, copy(kHeap)},
      {"savepoint/rocksdb", "mayfly", 0,
       [](Path stores, Path made) {
         return MayflySavepoint(stores + kRocksdb, made);
       }},
      {"savepoint/rocksdb", "scan to a file", 0.7, PlainScan},
      {"savepoint/rocksdb", "copy of the files", 0, copy(kRocksdb)},
      {"savepoint/heap", "mayfly", 0,
       [](Path stores, Path made) {
         return MayflySavepoint(stores + kHeap, made);
       }},
      {"savepoint/heap", "copy of the file", 0, copy(kHeap)},
      {"restore/rocksdb", "mayfly", 0,
       [](Path stores, Path made) {
         return MayflyRestore(BackendKind::kRocksdb, stores, made);
       }},
      {"restore/rocksdb", "sorted ingestion", 0.7, SortedIngestion},
      {"restore/rocksdb", "single puts", 0, SinglePuts},
      {"restore/rocksdb", "copy of the files", 0, copy(kRocksdb)},
      {"restore/heap", "mayfly", 0,
       [](Path stores, Path made) {
         return MayflyRestore(BackendKind::kHeap, stores, made);
       }},
      {"restore/heap", "flat_hash_map", 0,
       [](Path stores, Path) { return FillHashMap(stores); }},
      {"restore/heap", "copy of the file", 0, copy(kHeap)},
  };
}

}  // namespace mayfly::bench
