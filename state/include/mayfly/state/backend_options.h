// Where and how a backend keeps its state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/clock.h"
#include "mayfly/state/rocksdb_options.h"
#include "mayfly/state/transfer_progress.h"

namespace mayfly {

enum class BackendKind : std::uint8_t {
  // Typed objects in memory; a commit writes a snapshot of them.
  kHeap = 1,
  // A RocksDB database with a bounded table of typed objects in front of it.
  kRocksdb = 2,
};

// What a commit that has returned survives.
enum class Durability : std::uint8_t {
  kProcess = 1,  // A crash of the process.
  kMachine = 2,  // A crash of the machine too: each commit waits for the disk.
};

// The wall clock of this machine.
// Threads: any.
std::shared_ptr<const TtlClock> SystemClock();

// Memory and disk traffic that the databases of a process share, so that they
// do not grow with their number. Make one and give it to all backends.
// Threads: any.
class StorageResources {
 public:
  struct Options {
    // Blocks of tables and write buffers together; the buffers take half of it
    // at most.  Unit: bytes.  Range: 1 MiB or more.
    std::size_t memory_bytes = std::size_t{256} << 20;

    // What flushes, compactions and sweeps may write; 0 is no limit. Commits
    // are not held up by it, unless flushes cannot keep up with them.
    // Unit: bytes a second.  Range: 0, or 1,000 to 10^12.
    std::uint64_t background_bytes_per_second = 0;
  };

  // Lifetime: backends keep what they were given alive.
  // Errors: kInvalidArgument naming the first field out of range, the value
  // given and what would do.
  static absl::StatusOr<std::shared_ptr<StorageResources>> Create(
      const Options& options);

  virtual ~StorageResources() = default;

  // Changes the limit, at once and for all that is under way; 0 lifts it.
  // Errors: kInvalidArgument if it is out of range; the limit stays then.
  virtual absl::Status SetBackgroundBytesPerSecond(std::uint64_t bytes) = 0;
  virtual std::uint64_t background_bytes_per_second() const = 0;
};

// The rewriting of a state that is stored without a TTL and registered with
// one, or the other way round, or by an older version of its serializer. On
// RocksDB it needs the room on disk that the state takes, until the next
// commit.
struct MigrationOptions {
  // Called with the state's name now and then, and once more when all of it has
  // been rewritten: keys_done is keys_total then. Null to hear nothing.
  std::function<void(const std::string& state, const TransferProgress&)>
      on_progress;

  // Set, it has the registration fail with kCancelled; nothing is changed then,
  // and a later one begins anew. Null: nothing does. Must outlive the backend.
  const std::atomic<bool>* stop = nullptr;
};

struct BackendOptions {
  BackendKind kind = BackendKind::kRocksdb;

  // The directory of this backend alone; made if it is not there. Empty, on
  // heap only: nothing outlives the process.
  std::string directory;

  Durability durability = Durability::kProcess;

  // RocksDB: bound of the table of typed objects, the cache of committed
  // entries and the changes that wait for the next commit alike. Changes past
  // half of it make a commit due; embedded users see that by commit_due().
  // Unit: bytes, estimated.
  std::size_t table_bytes_max = std::size_t{64} << 20;

  // Processing time; null is SystemClock(), read at most once in a fraction of
  // a millisecond.
  std::shared_ptr<const TtlClock> processing_clock;

  // RocksDB: null gives this backend its own.
  std::shared_ptr<StorageResources> storage;

  // RocksDB: how it keeps the states on disk.
  RocksdbOptions rocksdb;

  MigrationOptions migration;
};

}  // namespace mayfly
