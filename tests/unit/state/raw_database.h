// Looks at a shard's database beneath the state layer, while no backend has it
// open: what is really on disk, and what somebody else might put there. Every
// call that can fail throws if it does, which fails the test.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/db.h"

namespace mayfly::state_test {

class RawDatabase {
 public:
  // Opens the database of a shard's directory, by itself read-only.
  enum class Access { kRead, kWrite };
  explicit RawDatabase(const std::string& directory,
                       Access access = Access::kRead);
  ~RawDatabase();

  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  // States and "default".
  std::vector<std::string> column_families() const;

  // One for each record ever written.
  std::uint64_t SequenceNumber() const;

  // Records of a state: values, merge operands and tombstones, in files and in
  // the log.
  std::uint64_t Records(const std::string& state);

  void Put(const std::string& state, std::string_view key,
           std::string_view value);
  std::string Get(const std::string& state, std::string_view key);

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles_;
};

// Seconds, as the live column family had it when its database was closed.
std::uint64_t PeriodicCompactionSeconds(const std::string& directory,
                                        const std::string& state);

}  // namespace mayfly::state_test
