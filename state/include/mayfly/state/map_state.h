// A map per key whose entries expire one by one.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly {

// Walks the entries of a map; MapRange makes a range of it.
template <typename UK, typename UV>
class MapCursor {
 public:
  virtual ~MapCursor() = default;

  // The next visible entry, {null, null} at the end or on an error.
  // Lifetime: the pointers are valid until the next call.
  virtual std::pair<const UK*, const UV*> Next() = 0;

  // Removes the entry that Next() returned last.
  // Errors: kFailedPrecondition if there is none, or it is removed already;
  // nothing is changed then.
  virtual absl::Status Remove() = 0;

  // Why the walk ended early; OK if it did not.
  // Errors: kDataLoss if stored bytes do not decode; kUnavailable if RocksDB
  // fails to read; kFailedPrecondition if the state was used, or the current
  // key changed, while the walk was under way.
  virtual absl::Status status() const = 0;
};

// The entries of a map that are visible at the time of the call that returned
// it, in no particular order. One pass.
//
//   for (const auto& [key, value] : *range) ...
//   if (!range->status().ok()) ...   // the walk may have ended early
//
// Lifetime: valid until the next call on the state that it came from or the
// next change of the current key; after that a walk ends, and status() says
// why. The way to remove entries while walking is RemoveCurrent().
template <typename UK, typename UV>
class MapRange {
 public:
  // What iteration yields.
  struct Entry {
    const UK& key;
    const UV& value;
  };

  // The name that ranges have.
  class iterator {  // NOLINT(readability-identifier-naming)
   public:
    explicit iterator(MapCursor<UK, UV>* cursor) : cursor_(cursor) {
      if (cursor_ != nullptr) ++*this;
    }
    Entry operator*() const { return Entry{*at_.first, *at_.second}; }
    iterator& operator++() {
      at_ = cursor_->Next();
      return *this;
    }
    bool operator!=(const iterator&) const { return at_.first != nullptr; }

   private:
    MapCursor<UK, UV>* cursor_;
    std::pair<const UK*, const UV*> at_{nullptr, nullptr};
  };

  explicit MapRange(std::unique_ptr<MapCursor<UK, UV>> cursor)
      : cursor_(std::move(cursor)) {}

  // A range that was moved from has no entries, as its status() says.
  iterator begin() { return iterator(cursor_.get()); }
  iterator end() { return iterator(nullptr); }

  // Removes the entry at which the walk stands; the references to it end with
  // it, and the walk goes on with the next.
  //
  //   for (const auto& [key, value] : *range) {
  //     if (Done(value)) MAYFLY_RETURN_IF_ERROR(range->RemoveCurrent());
  //   }
  //
  // Errors: kFailedPrecondition before begin(), at the end, and the second time
  // for one entry; nothing is changed then.
  absl::Status RemoveCurrent() {
    return cursor_ == nullptr ? MovedFrom() : cursor_->Remove();
  }

  // Why the walk ended early; OK if it did not.
  // Errors: as MapCursor::status().
  absl::Status status() const {
    return cursor_ == nullptr ? MovedFrom() : cursor_->status();
  }

 private:
  static absl::Status MovedFrom() {
    return absl::FailedPreconditionError("the range has been moved from");
  }

  std::unique_ptr<MapCursor<UK, UV>> cursor_;
};

// Every call acts on the current key of the backend that made this state, and
// reads the clock once. A value type of std::optional makes null values
// possible: such an entry is present and contained.
// Threads: one, the thread that owns the backend.
// Lifetime: owned by its backend.
// Source: Flink MapState.
template <typename UK, typename UV>
class MapState {
 public:
  virtual ~MapState() = default;

  // The value of an entry; null if it is absent, or expired and not visible.
  // Renews the timestamp under kOnReadAndWrite; removes the entry if it is
  // expired.
  // Lifetime: valid until the next call on this state or the next change of
  // the current key.
  // Errors: kFailedPrecondition if no key is current; kDataLoss if the stored
  // bytes do not decode; kUnavailable if RocksDB fails to read (safe to retry).
  virtual absl::StatusOr<const UV*> Get(const UK& key) = 0;

  // Whether Get() would find the entry; in all else as Get().
  // Errors: as Get().
  virtual absl::StatusOr<bool> Contains(const UK& key) = 0;

  // Sets an entry and stamps it with now.
  // Errors: kFailedPrecondition if no key is current.
  virtual absl::Status Put(const UK& key, UV value) = 0;

  // As above, but the entry lives for `ttl` from now, as explained at
  // ValueState::Update().
  // Errors: as Put(), and as ValueState::Update() with a TTL.
  virtual absl::Status Put(const UK& key, UV value,
                           std::chrono::milliseconds ttl) = 0;

  // Removes an entry; removing what is absent is OK.
  // Errors: as Put().
  virtual absl::Status Remove(const UK& key) = 0;

  // The visible entries. Each one walked is treated as by Get(): renewed or
  // removed by the same rule.
  // Errors: as Get(), and MapRange::status() after the walk.
  virtual absl::StatusOr<MapRange<UK, UV>> Entries() = 0;

  // Whether no entry is visible. Renews nothing.
  // Errors: as Get().
  virtual absl::StatusOr<bool> IsEmpty() = 0;

  // Removes all entries; clearing what is absent is OK.
  // Errors: as Get(): the stored entries are looked up to be removed.
  virtual absl::Status Clear() = 0;
};

}  // namespace mayfly
