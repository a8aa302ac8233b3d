// The bytes beneath a state's table: one ordered keyspace of a database.
//
// Tables are templates and live in headers; this interface keeps the database
// out of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mayfly::state_internal {

// Threads: one.
class ByteStore {
 public:
  struct Found {
    // Valid until the next call on this store.
    std::string_view bytes;
    // Merge operands that the read had to put together.
    std::uint64_t merge_operands = 0;
  };

  // Walks keys in order.
  // Errors: Valid() turns false; status() says why.
  // Lifetime: must not outlive its store.
  class Scan {
   public:
    virtual ~Scan() = default;
    virtual bool Valid() const = 0;
    virtual void Next() = 0;
    // Valid until the next call to Next().
    virtual std::string_view key() const = 0;
    virtual std::string_view value() const = 0;
    virtual absl::Status status() const = 0;
  };

  virtual ~ByteStore() = default;

  // Errors: kDataLoss for a damaged file; kUnavailable if reading failed.
  virtual absl::StatusOr<std::optional<Found>> Get(std::string_view key) = 0;

  // The keys that start with `prefix`, as they were when the scan began.
  virtual std::unique_ptr<Scan> ScanPrefix(std::string_view prefix) = 0;

  // All keys from `key` on, read once and not to be kept in a cache.
  virtual std::unique_ptr<Scan> ScanFrom(std::string_view key) = 0;
};

// Takes the changes of one state for the next atomic write.
class ChangeWriter {
 public:
  virtual ~ChangeWriter() = default;
  virtual void Put(std::string_view key, std::string_view value) = 0;
  // Appends list elements to what is stored.
  virtual void Merge(std::string_view key, std::string_view elements) = 0;
  virtual void Delete(std::string_view key) = 0;
};

}  // namespace mayfly::state_internal
