// What the backend knows of a state's table, whatever its types.
//
// A table holds a state's entries as typed objects. On heap it is all there
// is; over RocksDB it lies in front of the database: reads look here first,
// changes stay here until a commit writes them all at once, and what a commit
// wrote stays as a cache until its room is needed.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/state/internal/byte_store.h"
#include "mayfly/state/internal/change_list.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/removal_counters.h"
#include "mayfly/state/internal/segmented_map.h"
#include "mayfly/state/internal/table_memory.h"
#include "mayfly/state/internal/ttl_policy.h"

namespace mayfly::state_internal {

// Largest value, list element or map entry.  Unit: bytes.
inline constexpr std::size_t kEntryBytesMax =
    std::numeric_limits<std::int32_t>::max();

// Slots in a segment of a table: of those with one entry each, and of those
// with a list or a map each.
inline constexpr std::size_t kSegmentOfEntries = 7168;
inline constexpr std::size_t kSegmentOfContainers = 448;

// What every table is made with.
struct TableContext {
  std::string state_name;
  // Stamped if the state has a TTL.
  EntryFormat format = EntryFormat::kUnstamped;
  TtlPolicy policy;
  // Null on heap.
  ByteStore* store = nullptr;
  // Shared by the tables of a backend; counted only over a store.
  TableMemory* memory = nullptr;
  // Entries that incremental clean-up checks for each access; 0 if it is off.
  std::int64_t checks_per_access = 0;
  std::shared_ptr<RemovalCounters> removed =
      std::make_shared<RemovalCounters>();
};

// What clean-up has done.
struct SweepCounts {
  std::uint64_t checked = 0;
  std::uint64_t removed = 0;
  // Of what was removed, estimated.
  std::uint64_t bytes = 0;

  SweepCounts& operator+=(const SweepCounts& other) {
    checked += other.checked;
    removed += other.removed;
    bytes += other.bytes;
    return *this;
  }
};

// What a step of a save has done.
struct SegmentSave {
  std::size_t entries = 0;
  // Nothing is left of the segment.
  bool complete = false;
};

// The key that the operations of a backend's states act on.
template <typename K>
struct CurrentKey {
  std::optional<K> key;
  // SegmentedMap's hash of it, computed once for all states.
  std::size_t hash = 0;
  // How often it has changed, or what was returned for it became invalid.
  std::uint64_t changes = 0;
};

// A key with SegmentedMap's hash of it.
template <typename K>
struct HashedKey {
  K key;
  std::size_t hash;
};

// Receives stored entries: their key and value bytes.
using EntryVisitor =
    std::function<void(std::string_view key, std::string_view value)>;

// Room for the stored form of one entry, used again and again.
struct EntryBytes {
  std::string prefix;
  std::string key;
  std::string value;
};

// Threads: one.
class StateTable {
 public:
  explicit StateTable(TableContext context);
  StateTable(const StateTable&) = delete;
  StateTable& operator=(const StateTable&) = delete;
  virtual ~StateTable();

  // Hands over everything that changed since the last commit. The table stays
  // as it is until MarkCommitted().
  // Errors: kDataLoss or kUnavailable if the store has to be read and fails.
  virtual absl::Status WriteChanges(ChangeWriter& writer) = 0;

  // What WriteChanges() handed over is now stored.
  virtual void MarkCommitted() = 0;

  // Drops entries of one segment that are stored and were not used since the
  // last time round.
  virtual void EvictSegment(std::size_t segment) = 0;

  virtual std::size_t segment_count() const = 0;

  // Visits the entries of one segment in their stored form, expired ones
  // included. On heap only, where a table holds everything.
  virtual void VisitSegment(std::size_t segment,
                            const EntryVisitor& visit) const = 0;

  // Begins to save the table as it is now, on heap: each entry goes to `visit`
  // once, in its stored form, with the segment that it is in or before the
  // entries of its key are first changed, whichever comes first. Complete once
  // SaveSegment() has got to the end of each segment up to the last.
  void BeginSave(EntryVisitor visit) {
    ++save_;
    save_visitor_ = std::move(visit);
    saving_ = true;
  }
  // Goes on with one segment, by `entries_max` entries and what is left of the
  // list or map in which they end: a key is saved at one go.
  virtual SegmentSave SaveSegment(std::size_t segment,
                                  std::size_t entries_max) = 0;
  // From here on changes cost nothing.
  void EndSave() {
    saving_ = false;
    save_visitor_ = nullptr;
  }

  // Takes an entry in its stored form, on restore.
  // Errors: kDataLoss if the bytes do not decode.
  virtual absl::Status Load(std::string_view key, std::string_view value) = 0;

  // What visiting all entries of a segment costs, in entries; more than there
  // are if the segment is sparse.
  virtual std::size_t SegmentCost(std::size_t segment) const = 0;

  // Removes the entries of one segment that have expired at `purge_ms`. Over a
  // store it forgets them, and has a commit remove what it was to store;
  // nothing is counted then.
  virtual SweepCounts SweepSegment(std::size_t segment,
                                   TimestampMs purge_ms) = 0;

  // Ends what the state has lent; see loan.h.
  virtual void Recall() = 0;

  // Entries that incremental clean-up owes for the accesses so far; below 0 if
  // a step has checked more than that.
  std::int64_t checks_due() const { return checks_due_; }
  void AddChecksDue(std::int64_t checks) { checks_due_ += checks; }

  const TableContext& context() const { return context_; }

 protected:
  bool saving() const { return saving_; }
  // Tells apart what has been saved and what not: the number of the save under
  // way, of all the table's.
  std::uint32_t save() const { return save_; }
  const EntryVisitor& save_visitor() const { return save_visitor_; }

  void CountAccess() { checks_due_ += context_.checks_per_access; }

  // Expired entries that an access has met and removed.
  void CountRemoved(std::uint64_t entries, std::uint64_t bytes) {
    context_.removed->reads.Add(entries, bytes);
  }

  absl::Status NoCurrentKey() const;

  // Errors about stored bytes name the state and the key; user data may be
  // secret, so the key appears as a hexadecimal prefix and values not at all.
  absl::Status Damaged(std::string_view key_bytes, std::string_view why) const;

  // The timestamp with which an entry written now lives for `ttl`.
  // Errors: as ValueState::Update() with a TTL.
  absl::StatusOr<TimestampMs> StampFor(std::chrono::milliseconds ttl,
                                       TimestampMs now_ms);

  // How much earlier than the time of its writing an entry may be stamped.
  std::int64_t backdated_max_ms() const { return backdated_max_ms_; }

  // `stored_key` is what errors name; `key_bytes` lie in it.
  template <typename K>
  absl::StatusOr<K> DecodeKey(std::string_view stored_key,
                              std::string_view key_bytes) const {
    K key{};
    const absl::Status status = Serializer<K>::Deserialize(key_bytes, key);
    if (!status.ok()) return Damaged(stored_key, ToStd(status.message()));
    return key;
  }

  // Decodes a stored `timestamp | user bytes` or, without TTL, `user bytes`.
  template <typename T>
  absl::Status DecodeValue(std::string_view key_bytes, std::string_view stored,
                           T& value, TimestampMs& timestamp_ms) const {
    const std::optional<EntryView> entry = DecodeEntry(stored, format());
    if (!entry) {
      return Damaged(key_bytes, "the stored entry has no valid timestamp");
    }
    timestamp_ms = entry->timestamp_ms;
    if (absl::Status status = Serializer<T>::Deserialize(entry->bytes, value);
        !status.ok()) {
      return Damaged(key_bytes, ToStd(status.message()));
    }
    return absl::OkStatus();
  }

  template <typename T>
  void EncodeValue(const T& value, TimestampMs timestamp_ms,
                   std::string& out) const {
    if (format() == EntryFormat::kStamped) AppendTimestamp(timestamp_ms, out);
    Serializer<T>::Serialize(value, out);
  }

  // Refuses what would not fit into one stored entry, before it is taken.
  // Memory bounds the bytes from above closely enough for the types that can
  // grow so large.
  template <typename T>
  absl::Status CheckSize(const T& value) const {
    const std::size_t bytes = HeapBytes(value);
    return bytes <= kEntryBytesMax ? absl::OkStatus() : TooLarge(bytes);
  }

  EntryFormat format() const { return context_.format; }
  bool has_store() const { return context_.store != nullptr; }
  ByteStore& store() { return *context_.store; }
  const TtlPolicy& policy() const { return context_.policy; }
  TableMemory& memory() { return *context_.memory; }

 private:
  absl::Status TooLarge(std::size_t bytes) const;

  TableContext context_;
  std::int64_t checks_due_ = 0;
  bool saving_ = false;
  std::uint32_t save_ = 0;
  EntryVisitor save_visitor_;
  std::int64_t backdated_max_ms_ = 0;
};

}  // namespace mayfly::state_internal
