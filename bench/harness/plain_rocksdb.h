// RocksDB as a contender: opened as Mayfly opens it, used without Mayfly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/harness/temporary_directory.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"

namespace mayfly::bench {

struct PlainRocksdbOptions {
  // The column family of a map state.
  bool is_map = false;
  // Commits of Mayfly go through the write-ahead log.
  bool write_ahead_log = true;
  // Where the database lies already; empty: a new one.
  std::string path = {};
  // Opened as RocksDB's DBWithTTL: it stamps what is put and compacts away what
  // is older.  Unit: seconds; 0 keeps everything.
  std::optional<std::int32_t> ttl_seconds = std::nullopt;
  // Has the last word on the options of the column family.
  std::function<void(rocksdb::ColumnFamilyOptions*)> configure = nullptr;
};

class PlainRocksdb {
 public:
  explicit PlainRocksdb(const PlainRocksdbOptions& options);

  rocksdb::DB& db() { return *db_; }
  const rocksdb::WriteOptions& write_options() const { return write_options_; }
  const rocksdb::ReadOptions& read_options() const { return read_options_; }

  // Rewrites everything, as KeyedStateBackend::Compact() does.
  void Compact();

 private:
  const TemporaryDirectory directory_;
  rocksdb::WriteOptions write_options_;
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<rocksdb::DB> db_;
};

// Puts the pieces of a list one after another and does nothing else.
std::shared_ptr<rocksdb::MergeOperator> Concatenation();

}  // namespace mayfly::bench
