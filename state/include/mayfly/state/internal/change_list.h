// What changed in a table since the last commit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::state_internal {

// Names of changed slots. The commit takes them in the order of their stored
// keys: a memtable takes neighbours one after another several times faster than
// keys at random.
// Threads: one.
template <typename Id>
class ChangeList {
 public:
  struct Change {
    // The first bytes of the key as a number, which decides most comparisons.
    std::uint64_t head;
    std::string_view key_bytes;
    const Id* id;
  };

  void Add(Id id) { ids_.push_back(std::move(id)); }
  void Clear() { ids_.clear(); }

  const std::vector<Id>& ids() const { return ids_; }

  // `append_key(id, out)` appends an id's stored key.
  // Lifetime: of the result, until the next call on this list.
  template <typename AppendKey>
  const std::vector<Change>& InKeyOrder(const AppendKey& append_key) {
    bytes_.clear();
    ends_.clear();
    for (const Id& id : ids_) {
      append_key(id, bytes_);
      ends_.push_back(bytes_.size());
    }
    changes_.clear();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::string_view key(bytes_.data() + begin, ends_[i] - begin);
      changes_.push_back({HeadOf(key), key, &ids_[i]});
      begin = ends_[i];
    }
    std::sort(
        changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
          return a.head != b.head ? a.head < b.head : a.key_bytes < b.key_bytes;
        });
    return changes_;
  }

 private:
  static std::uint64_t HeadOf(std::string_view key) {
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < sizeof(head); ++i) {
      head = head << 8 |
             (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
    }
    return head;
  }

  std::vector<Id> ids_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
  std::vector<Change> changes_;
};

}  // namespace mayfly::state_internal
