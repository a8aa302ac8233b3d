// What the backend knows of a state's table, whatever its types.
//
// A table holds a state's entries as typed objects. On heap it is all there
// is; over RocksDB it lies in front of the database: reads look here first,
// changes stay here until a commit writes them all at once, and what a commit
// wrote stays as a cache until its room is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/string_view.h"
#include "mayfly/serde/serializer.h"
#include "mayfly/state/internal/byte_store.h"
#include "mayfly/state/internal/change_list.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/segmented_map.h"
#include "mayfly/state/internal/table_memory.h"
#include "mayfly/state/internal/ttl_policy.h"

namespace mayfly::state_internal {

// Largest value, list element or map entry.  Unit: bytes.
inline constexpr std::size_t kEntryBytesMax =
    std::numeric_limits<std::int32_t>::max();

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
};

// The key that the operations of a backend's states act on.
template <typename K>
struct CurrentKey {
  std::optional<K> key;
  // SegmentedMap's hash of it, computed once for all states.
  std::size_t hash = 0;
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

// Threads: one.
class StateTable {
 public:
  explicit StateTable(TableContext context) : context_(std::move(context)) {}
  StateTable(const StateTable&) = delete;
  StateTable& operator=(const StateTable&) = delete;
  virtual ~StateTable() = default;

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

  // Takes an entry in its stored form, on restore.
  // Errors: kDataLoss if the bytes do not decode.
  virtual absl::Status Load(std::string_view key, std::string_view value) = 0;

  const TableContext& context() const { return context_; }

 protected:
  absl::Status NoCurrentKey() const {
    return absl::FailedPreconditionError(
        absl::StrCat("state '", context_.state_name,
                     "': no key is current; call SetCurrentKey() first"));
  }

  // Errors about stored bytes name the state and the key; user data may be
  // secret, so the key appears as a hexadecimal prefix and values not at all.
  absl::Status Damaged(std::string_view key_bytes, std::string_view why) const {
    constexpr std::size_t kShownBytes = 32;
    return absl::DataLossError(absl::StrCat(
        "state '", context_.state_name, "', key 0x",
        absl::BytesToHexString(ToAbsl(key_bytes.substr(0, kShownBytes))),
        key_bytes.size() > kShownBytes ? "..." : "", ": ", ToAbsl(why),
        "; clear the key or restore an earlier checkpoint"));
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
    if (HeapBytes(value) <= kEntryBytesMax) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "state '", context_.state_name, "': an entry of ", HeapBytes(value),
        " bytes exceeds the limit of ", kEntryBytesMax,
        "; split it over several keys, list elements or map entries"));
  }

  EntryFormat format() const { return context_.format; }
  bool has_store() const { return context_.store != nullptr; }
  ByteStore& store() { return *context_.store; }
  const TtlPolicy& policy() const { return context_.policy; }
  TableMemory& memory() { return *context_.memory; }

 private:
  TableContext context_;
};

}  // namespace mayfly::state_internal
