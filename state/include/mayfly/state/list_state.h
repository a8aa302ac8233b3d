// A list per key whose elements expire one by one.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/serde/timestamp.h"

namespace mayfly {

// An element as a state holds it.
template <typename T>
struct StampedElement {
  T value;
  TimestampMs timestamp_ms;
};

// The elements of a list that were visible when it was read, in the order in
// which they were added.
//
//   for (const std::string& element : list) ...
//
// Lifetime: valid until the next call on the state that it came from or the
// next change of the current key.
template <typename T>
class ListRange {
 public:
  // The name that ranges have.
  class iterator {  // NOLINT(readability-identifier-naming)
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    iterator() = default;
    explicit iterator(const StampedElement<T>* at) : at_(at) {}
    reference operator*() const { return at_->value; }
    pointer operator->() const { return &at_->value; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    iterator operator++(int) { return iterator(at_++); }
    friend bool operator==(iterator, iterator) = default;

   private:
    const StampedElement<T>* at_ = nullptr;
  };

  ListRange() = default;
  explicit ListRange(std::span<const StampedElement<T>> elements)
      : elements_(elements) {}

  iterator begin() const { return iterator(elements_.data()); }
  iterator end() const { return iterator(elements_.data() + elements_.size()); }
  std::size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  const T& operator[](std::size_t i) const { return elements_[i].value; }

 private:
  std::span<const StampedElement<T>> elements_;
};

// Every call acts on the current key of the backend that made this state, and
// reads the clock once.
// Threads: one, the thread that owns the backend.
// Lifetime: owned by its backend.
// Source: Flink ListState.
template <typename T>
class ListState {
 public:
  virtual ~ListState() = default;

  // The visible elements; empty if there are none. Removes the expired ones it
  // meets; under kOnReadAndWrite renews all live ones.
  // Errors: kFailedPrecondition if no key is current; kDataLoss if the stored
  // bytes do not decode; kUnavailable if RocksDB fails to read (safe to retry).
  virtual absl::StatusOr<ListRange<T>> Get() = 0;

  // Appends one element, without reading the list.
  // Errors: kFailedPrecondition if no key is current.
  virtual absl::Status Add(T element) = 0;

  // As above, but the element lives for `ttl` from now, as explained at
  // ValueState::Update(); so below.
  // Errors: as Add(), and as ValueState::Update() with a TTL.
  virtual absl::Status Add(T element, std::chrono::milliseconds ttl) = 0;

  // Appends elements, all with the same timestamp; none is OK and does
  // nothing.
  // Errors: as Add().
  virtual absl::Status AddAll(std::vector<T> elements) = 0;
  virtual absl::Status AddAll(std::vector<T> elements,
                              std::chrono::milliseconds ttl) = 0;

  // Replaces the list; an empty one clears it.
  // Errors: as Add().
  virtual absl::Status Update(std::vector<T> elements) = 0;
  virtual absl::Status Update(std::vector<T> elements,
                              std::chrono::milliseconds ttl) = 0;

  // Removes the list; clearing what is absent is OK.
  // Errors: as Add().
  virtual absl::Status Clear() = 0;
};

}  // namespace mayfly
