// A store of entries that expire, and a way to get their space back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/keys.h"

namespace mayfly::bench {

// Entries of 16-byte keys and 100-byte values, entry i written at an instant in
// proportion to i: keys ascend with time.
struct ReclaimScenario {
  std::string name;
  std::uint64_t entries = 0;
  // Those before this one have expired when the space is to come back.
  std::uint64_t expired_before = 0;
  // Of these, one in so many was renewed by a read before it expired, and
  // lives; 0: none.
  std::uint64_t renewed_one_in = 0;

  bool IsRenewed(std::uint64_t entry) const {
    return renewed_one_in > 0 && entry < expired_before &&
           Scatter(entry) % renewed_one_in == 0;
  }
  bool IsLive(std::uint64_t entry) const {
    return entry >= expired_before || IsRenewed(entry);
  }
};

// Threads: Reclaim() on another thread than the others, at once with Get().
class ReclaimStore {
 public:
  virtual ~ReclaimStore() = default;

  // Writes all entries, renews some, and compacts them.
  virtual void Load() = 0;

  // Lets time pass until those have expired that should.
  virtual void Expire() = 0;

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
  std::function<std::unique_ptr<ReclaimStore>(const ReclaimScenario&)> make;
};

// Mayfly with sweeps and with a compaction by the filter, RocksDB's DBWithTTL,
// and values beside a column family of timestamps that is scanned.
std::vector<ReclaimContender> ReclaimContenders();

}  // namespace mayfly::bench
