// A store of entries that expire, and a way to get their space back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mayfly::bench {

// Entries of 16-byte keys and 100-byte values, entry i written at an instant in
// proportion to i: keys ascend with time.
// Threads: Reclaim() on another thread than the others, at once with Get().
class ReclaimStore {
 public:
  virtual ~ReclaimStore() = default;

  // Writes all entries and compacts them.
  virtual void Load(std::uint64_t entries) = 0;

  // Lets time pass until this share of the entries has expired, the earliest
  // ones.
  virtual void Expire(double share) = 0;

  // Returns when no more space comes back.
  virtual void Reclaim() = 0;

  // Whether Get() may be called while Reclaim() runs.
  virtual bool can_be_read_meanwhile() const { return true; }

  // Whether the entry is there.
  virtual bool Get(std::uint64_t entry) = 0;

  virtual std::string directory() const = 0;
};

struct ReclaimContender {
  std::string name;
  std::function<std::unique_ptr<ReclaimStore>()> make;
};

// Mayfly with sweeps and with a compaction by the filter, RocksDB's DBWithTTL,
// and values beside a column family of timestamps that is scanned.
std::vector<ReclaimContender> ReclaimContenders();

}  // namespace mayfly::bench
