// A plain model of a shard: one value, one list and one map state per key, all
// under the same TTL, in ordinary maps. Written from the rules alone, it shares
// no code with the library, its arithmetic of expiry included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mayfly::state_test {

struct ModelOptions {
  std::optional<std::int64_t> ttl_ms;
  bool refresh_on_read = false;
  std::int64_t granularity_ms = 0;
  // Expired entries may be returned, once, if clean-up has not reached them.
  bool show_expired = false;
  // A new TTL is recorded when it is asked for, and not by the next commit.
  bool records_ttl_at_once = false;
  // An expired list element that a read did not return may still be returned by
  // a later one: RocksDB leaves it out whenever it merges pieces of the list,
  // which need not be what it did when it wrote them down.
  bool merges_lists = false;
};

// Unit of times: milliseconds.
class ShardModel {
 public:
  using Values = std::map<std::string, std::string>;

  explicit ShardModel(const ModelOptions& options);

  std::int64_t now_ms() const { return now_.now_ms; }
  // Time never goes backwards.
  void AdvanceTo(std::int64_t now_ms);

  // --- Writes ---
  void SetValue(const std::string& key, const std::string& value);
  void ClearValue(const std::string& key);
  void AddToList(const std::string& key, const std::string& element);
  void ClearList(const std::string& key);
  void PutEntry(const std::string& key, const std::string& map_key,
                const std::string& value);
  void RemoveEntry(const std::string& key, const std::string& map_key);
  void ClearMap(const std::string& key);

  // --- Reads ---
  // Each takes the answer that the real shard gave. It says what is wrong with
  // it, nothing if it is right, and does to the model what the read did.
  std::string ReadValue(const std::string& key,
                        const std::optional<std::string>& got);
  std::string ReadList(const std::string& key,
                       const std::vector<std::string>& got);
  std::string ReadEntry(const std::string& key, const std::string& map_key,
                        const std::optional<std::string>& got);
  std::string ReadContains(const std::string& key, const std::string& map_key,
                           bool got);
  std::string ReadEntries(const std::string& key, const Values& got);
  std::string ReadIsEmpty(const std::string& key, bool got);

  // --- Commits and restarts ---
  void Commit(const std::string& position);
  const std::string& committed_position() const { return committed_.position; }
  // Back to the last commit, under this TTL from now on.
  void Restart(std::optional<std::int64_t> ttl_ms);

  struct Counts {
    std::size_t values = 0;
    std::size_t elements = 0;
    std::size_t entries = 0;
  };
  Counts LiveCounts() const;

 private:
  struct Entry {
    std::string value;
    std::int64_t time_ms = 0;
  };
  using Map = std::map<std::string, Entry>;

  struct Contents {
    std::map<std::string, Entry> values;
    std::map<std::string, std::vector<Entry>> lists;
    std::map<std::string, Map> maps;
    std::int64_t now_ms = 0;
    std::string position;
    std::optional<std::int64_t> ttl_ms;
    // Entries of this time or before had expired under an earlier TTL.
    std::int64_t expired_through_ms = std::numeric_limits<std::int64_t>::min();
  };

  bool Expired(const Entry& entry) const;
  bool RefreshDue(const Entry& entry) const;
  // Reads the entry `key` of a map of entries: what ReadValue() and ReadEntry()
  // have in common.
  std::string ReadOne(Map& entries, const std::string& key,
                      const std::optional<std::string>& got);

  const ModelOptions options_;
  Contents now_;
  Contents committed_;
};

}  // namespace mayfly::state_test
