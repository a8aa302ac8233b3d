// A table over a store in memory, so that a test sees every write of a commit
// and every byte of memory that the table believes it uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mayfly/state/internal/byte_store.h"
#include "mayfly/state/internal/shard_clock.h"
#include "mayfly/state/internal/state_sweep.h"
#include "mayfly/state/internal/state_table.h"

namespace mayfly::state_test {

class FakeStore final : public state_internal::ByteStore {
 public:
  absl::StatusOr<std::optional<Found>> Get(std::string_view key) override {
    ++reads;
    const auto it = records.find(key);
    if (it == records.end()) return std::nullopt;
    return Found{it->second.bytes, it->second.merge_operands};
  }

  std::unique_ptr<Scan> ScanPrefix(std::string_view prefix) override {
    return std::make_unique<FakeScan>(records, std::string(prefix));
  }

  std::unique_ptr<Scan> ScanFrom(std::string_view key) override {
    return std::make_unique<FakeScan>(records, "", key, unreadable);
  }

  struct Record {
    std::string bytes;
    std::uint64_t merge_operands = 0;
  };
  std::map<std::string, Record, std::less<>> records;
  int reads = 0;
  // Where scans end with an error; none if it is empty.
  std::string unreadable;

 private:
  class FakeScan final : public Scan {
   public:
    FakeScan(std::map<std::string, Record, std::less<>> records,
             std::string prefix, std::string_view from = {},
             std::string unreadable = {})
        : records_(std::move(records)),
          prefix_(std::move(prefix)),
          unreadable_(std::move(unreadable)),
          at_(records_.lower_bound(std::max<std::string_view>(prefix_, from))) {
    }
    bool Valid() const override {
      return at_ != records_.end() && at_->first.starts_with(prefix_) &&
             status().ok();
    }
    void Next() override { ++at_; }
    std::string_view key() const override { return at_->first; }
    std::string_view value() const override { return at_->second.bytes; }
    absl::Status status() const override {
      const bool fails = !unreadable_.empty() && at_ != records_.end() &&
                         at_->first >= unreadable_;
      return fails ? absl::DataLossError("a damaged block") : absl::OkStatus();
    }

   private:
    const std::map<std::string, Record, std::less<>> records_;
    const std::string prefix_;
    const std::string unreadable_;
    std::map<std::string, Record, std::less<>>::const_iterator at_;
  };
};

// What one commit wrote.
struct Writes {
  int puts = 0;
  int merges = 0;
  int deletes = 0;
  friend bool operator==(const Writes&, const Writes&) = default;
};

inline void PrintTo(const Writes& writes, std::ostream* out) {
  *out << writes.puts << " puts, " << writes.merges << " merges, "
       << writes.deletes << " deletes";
}

// Table is a ValueTable, ListTable or MapTable whose keys are strings.
template <typename Table>
class TableOverFake {
 public:
  explicit TableOverFake(std::int64_t ttl_ms, bool refresh_on_read = false)
      : table_(Context(ttl_ms, refresh_on_read), &current_) {
    memory.limit = std::size_t{1} << 30;
  }

  Table& operator*() { return table_; }
  Table* operator->() { return &table_; }

  void SetKey(std::string key) {
    current_.hash = state_internal::SegmentedMap<std::string, int>::HashOf(key);
    current_.key = std::move(key);
  }

  void At(TimestampMs now_ms) { clock_.AdvanceTo(now_ms); }

  Writes Commit() {
    Writer writer(&store);
    if (!table_.WriteChanges(writer).ok()) std::abort();
    table_.MarkCommitted();
    memory.changed = 0;
    return writer.writes;
  }

  // With what clean-up has found, as a backend commits it.
  Writes Commit(state_internal::StateSweep& sweep) {
    Writer writer(&store);
    sweep.WriteChanges(writer);
    if (!table_.WriteChanges(writer).ok()) std::abort();
    table_.MarkCommitted();
    sweep.MarkCommitted();
    memory.changed = 0;
    return writer.writes;
  }

  // Everything that may be evicted: the first round spares what was in use.
  void EvictAll() {
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < table_.segment_count(); ++i) {
        table_.EvictSegment(i);
      }
    }
  }

  FakeStore store;
  state_internal::TableMemory memory;

 private:
  class Writer final : public state_internal::ChangeWriter {
   public:
    explicit Writer(FakeStore* store) : store_(store) {}
    void Put(std::string_view key, std::string_view value) override {
      ++writes.puts;
      store_->records[std::string(key)] = {std::string(value), 0};
    }
    void Merge(std::string_view key, std::string_view elements) override {
      ++writes.merges;
      FakeStore::Record& record = store_->records[std::string(key)];
      record.bytes += elements;
      ++record.merge_operands;
    }
    void Delete(std::string_view key) override {
      ++writes.deletes;
      store_->records.erase(std::string(key));
    }
    Writes writes;

   private:
    FakeStore* const store_;
  };

  state_internal::TableContext Context(std::int64_t ttl_ms,
                                       bool refresh_on_read) {
    state_internal::TableContext context;
    context.state_name = "state";
    context.format = EntryFormat::kStamped;
    context.policy.rule.ttl_ms = ttl_ms;
    context.policy.clock = &clock_;
    context.policy.refresh_on_read = refresh_on_read;
    context.store = &store;
    context.memory = &memory;
    return context;
  }

  state_internal::ShardClock clock_{nullptr,
                                    state_internal::ClockReading::kExact};
  state_internal::CurrentKey<std::string> current_;
  Table table_;
};

}  // namespace mayfly::state_test
