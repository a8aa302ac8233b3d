// A hash map cut into segments of bounded size, each a flat hash map.
//
// Growth splits one segment instead of rehashing all, so no insertion ever
// pauses for longer than one segment takes; clean-up, eviction and snapshots
// walk segment by segment for the same reason.
//
// Source: extendible hashing (Fagin et al., 1979): a directory indexed by the
// leading bits of the hash, in which several slots may share a segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace mayfly::state_internal {

// Threads: one.
// Lifetime: pointers to values are valid until the next insertion into or
// erasure of that entry's segment; erasing another entry does not move them.
template <typename K, typename V, std::size_t kEntriesMax = 7168>
class SegmentedMap {
 public:
  using Hash = absl::Hash<K>;
  using Segment = absl::flat_hash_map<K, V, Hash>;

  // Entries at which a segment splits: a flat hash map of 8191 slots grows past
  // 7168, and one of 511 past 448, so segments keep that size.
  static constexpr std::size_t kSegmentEntriesMax = kEntriesMax;

  SegmentedMap() { Clear(); }

  static std::size_t HashOf(const K& key) { return Hash{}(key); }

  // The value of `key`, null if absent.  Range: hash == HashOf(key).
  V* Find(const K& key, std::size_t hash) {
    Segment& segment = SegmentOf(hash);
    const auto it = segment.find(key, hash);
    return it == segment.end() ? nullptr : &it->second;
  }

  // The value of `key`, default-constructed if it was absent, and whether it
  // was.
  std::pair<V*, bool> FindOrInsert(const K& key, std::size_t hash) {
    if (V* found = Find(key, hash)) return {found, false};
    return {Insert(key, hash), true};
  }

  void Erase(const K& key, std::size_t hash) {
    Segment& segment = SegmentOf(hash);
    const auto it = segment.find(key, hash);
    if (it == segment.end()) return;
    segment.erase(it);
    --size_;
  }

  // Erases the entries of segment `i` for which `predicate(key, value)` holds;
  // returns how many.
  template <typename Predicate>
  std::size_t EraseIf(std::size_t i, Predicate predicate) {
    Segment& segment = *segments_[i];
    const std::size_t erased = absl::erase_if(segment, [&](auto& entry) {
      return predicate(entry.first, entry.second);
    });
    size_ -= erased;
    return erased;
  }

  // Calls `visit(key, value)` for the entries of segment `i` until it returns
  // false; true if it never does.
  template <typename Visit>
  bool ForEach(std::size_t i, Visit visit) {
    for (auto& [key, value] : *segments_[i]) {
      if (!visit(key, value)) return false;
    }
    return true;
  }

  // What a walk over segment `i` costs, in entries. Empty places are passed
  // sixteen at a time.
  std::size_t SegmentCost(std::size_t i) const {
    const Segment& segment = *segments_[i];
    return segment.size() + segment.capacity() / 16;
  }

  // Gives back memory of a segment from which most entries have gone. Moves its
  // values.
  void ShrinkIfSparse(std::size_t i) {
    Segment& segment = *segments_[i];
    if (segment.capacity() > 128 && segment.size() < segment.capacity() / 8) {
      segment.rehash(0);
    }
  }

  void Clear() {
    depth_ = 0;
    size_ = 0;
    segments_.clear();
    segments_.push_back(std::make_unique<Segment>());
    depths_.assign(1, 0);
    directory_.assign(1, {segments_.back().get(), 0});
  }

  std::size_t size() const { return size_; }

  // Segments are numbered from 0 in the order in which they came to be.
  std::size_t segment_count() const { return segments_.size(); }
  const Segment& segment(std::size_t i) const { return *segments_[i]; }

 private:
  struct Slot {
    Segment* segment;
    std::size_t index;  // In segments_.
  };

  static constexpr int kHashBits = 64;
  // Past this depth equal leading bits mean a poor hash; the segment grows.
  static constexpr int kDepthMax = 24;

  // In two shifts, since one by all 64 bits would be undefined.
  static std::size_t LeadingBits(std::size_t hash, int bits) {
    return hash >> 1 >> (kHashBits - 1 - bits);
  }

  Segment& SegmentOf(std::size_t hash) {
    return *directory_[LeadingBits(hash, depth_)].segment;
  }

  // Apart from FindOrInsert(), whose quick way it must not slow down.
  [[gnu::noinline]] V* Insert(const K& key, std::size_t hash) {
    while (SegmentOf(hash).size() >= kSegmentEntriesMax) {
      if (!Split(hash)) break;
    }
    ++size_;
    return &SegmentOf(hash).try_emplace(key).first->second;
  }

  // Splits the segment of `hash` in two by the next bit; false if it is as deep
  // as it may be.
  bool Split(std::size_t hash) {
    const std::size_t old_index = directory_[LeadingBits(hash, depth_)].index;
    const int depth = depths_[old_index];
    if (depth >= kDepthMax) return false;
    if (depth == depth_) DoubleDirectory();

    const std::size_t new_index = segments_.size();
    segments_.push_back(std::make_unique<Segment>());
    depths_[old_index] = depth + 1;
    depths_.push_back(depth + 1);

    // The directory slots of the old segment are neighbours; the upper half of
    // them goes to the new one.
    const std::size_t span = std::size_t{1} << (depth_ - depth);
    const std::size_t first = LeadingBits(hash, depth) * span;
    for (std::size_t i = first + span / 2; i < first + span; ++i) {
      directory_[i] = {segments_[new_index].get(), new_index};
    }

    Segment& old_segment = *segments_[old_index];
    Segment& new_segment = *segments_[new_index];
    new_segment.reserve(old_segment.size() / 2);
    for (auto it = old_segment.begin(); it != old_segment.end();) {
      const auto at = it++;
      if ((LeadingBits(HashOf(at->first), depth + 1) & 1) == 0) continue;
      new_segment.insert(old_segment.extract(at));
    }
    return true;
  }

  void DoubleDirectory() {
    std::vector<Slot> doubled;
    doubled.reserve(directory_.size() * 2);
    for (const Slot slot : directory_) {
      doubled.push_back(slot);
      doubled.push_back(slot);
    }
    directory_ = std::move(doubled);
    ++depth_;
  }

  int depth_ = 0;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Segment>> segments_;
  std::vector<int> depths_;
  std::vector<Slot> directory_;
};

}  // namespace mayfly::state_internal
