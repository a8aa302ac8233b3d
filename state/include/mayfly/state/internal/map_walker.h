// Walks the entries of one map, in the table and beneath it.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/loan.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/state/map_state.h"

namespace mayfly::state_internal {

// Table is a MapTable, which this is a friend of.
// Threads: one.
template <typename Table, typename UK, typename UV>
class MapWalker final : public MapCursor<UK, UV> {
  using Entry = typename Table::Entry;
  using Slot = typename Table::Slot;

 public:
  MapWalker(Table* table, typename Table::Walk walk, TimestampMs now_ms)
      : table_(table),
        walk_(std::move(walk)),
        now_ms_(now_ms),
        calls_(table->CallsSoFar()) {
    if (walk_.slot != nullptr) at_ = walk_.slot->entries.begin();
  }

  std::pair<const UK*, const UV*> Next() override {
    current_ = nullptr;
    if (!CheckUndisturbed().ok()) return {nullptr, nullptr};
    const UV* const value = NextVisible();
    const auto recalled_key = key_loan_.Recall();
    const auto recalled_value = value_loan_.Recall();
    if (value == nullptr) {
      current_ = nullptr;
      return {nullptr, nullptr};
    }
    return {key_loan_.Lend(*current_), value_loan_.Lend(*value)};
  }

  absl::Status Remove() override {
    MAYFLY_RETURN_IF_ERROR(CheckUndisturbed());
    if (current_ == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          "state '", table_->context().state_name,
          "': the walk stands at no entry that could be removed; remove each "
          "entry once, between two steps of the walk"));
    }
    const UK key = *std::exchange(current_, nullptr);
    if (walk_.slot == nullptr) {
      // What was read last was the last entry, and expired; or the store's.
      if (!table_->has_store()) return absl::OkStatus();
      walk_.slot = &table_->FindOrInsert();
      at_ = End();
    }
    auto entry = walk_.slot->entries.find(key);
    if (entry == End()) {
      if (!table_->has_store()) return absl::OkStatus();
      // Only the store has it, so the walk of the table is over, and its
      // entries may move.
      entry = table_->InsertEntry(*walk_.slot, key);
      at_ = End();
    }
    table_->RemoveEntry(*walk_.slot, entry);
    EndIfEmpty();
    return absl::OkStatus();
  }

  absl::Status status() const override { return status_; }

 private:
  auto End() { return walk_.slot->entries.end(); }

  bool Undisturbed() const { return calls_ == table_->CallsSoFar(); }

  absl::Status CheckUndisturbed() {
    if (status_.ok() && !Undisturbed()) {
      status_ = absl::FailedPreconditionError(absl::StrCat(
          "state '", table_->context().state_name,
          "' was used, or the current key changed, while its entries were "
          "walked; collect what to change, or use RemoveCurrent()"));
    }
    return status_;
  }

  // Moves to the next visible entry: its key is in current_.
  const UV* NextVisible() {
    while (walk_.slot != nullptr && at_ != End()) {
      const auto entry = at_++;
      if (!entry->second.present) continue;
      current_ = &entry->first;
      if (table_->policy().OnRead(entry->second.timestamp_ms, now_ms_) ==
          ReadOutcome::kExpired) {
        // Reading it erases the entry, key and all.
        key_ = entry->first;
        current_ = &key_;
      }
      const UV* const value = table_->Read(*walk_.slot, entry, now_ms_);
      EndIfEmpty();
      if (value != nullptr) return value;
    }
    return walk_.scan == nullptr ? nullptr : NextStored();
  }

  const UV* NextStored() {
    for (; walk_.scan->Valid(); walk_.scan->Next()) {
      auto decoded = table_->DecodeStored(*walk_.scan);
      if (!decoded.ok()) {
        status_ = decoded.status();
        return nullptr;
      }
      std::tie(key_, entry_) = *std::move(decoded);
      // The table had its say about this entry already.
      if (walk_.InTable(key_)) continue;
      if (const UV* value = ReadStored()) {
        walk_.scan->Next();
        current_ = &key_;
        return value;
      }
    }
    status_ = walk_.scan->status();
    table_->scan_.reset();
    walk_.scan = nullptr;
    return nullptr;
  }

  // Reads the entry at hand, which only becomes part of the table if the read
  // changes it.
  const UV* ReadStored() {
    if (table_->policy().OnRead(entry_.timestamp_ms, now_ms_) ==
        ReadOutcome::kLive) {
      return &entry_.value;
    }
    if (walk_.slot == nullptr) walk_.slot = &table_->FindOrInsert();
    const auto entry = table_->InsertStored(*walk_.slot, key_, entry_);
    // The insertion may have moved the entries; the walk of them is over.
    at_ = End();
    return table_->Read(*walk_.slot, entry, now_ms_);
  }

  // On heap a map of which nothing is left goes at once.
  void EndIfEmpty() {
    if (table_->has_store() || !walk_.slot->entries.empty()) return;
    table_->EraseIfEmpty(*std::exchange(walk_.slot, nullptr));
  }

  Table* const table_;
  typename Table::Walk walk_;
  const TimestampMs now_ms_;
  // Table::CallsSoFar() when the walk began.
  const std::uint64_t calls_;
  typename decltype(Slot::entries)::iterator at_;
  // The entry that was read last from the store, or that reading erased.
  UK key_{};
  Entry entry_;
  // The key of the entry that the walk stands at; null if it stands at none.
  const UK* current_ = nullptr;
  absl::Status status_;
  Loan<UK> key_loan_;
  Loan<UV> value_loan_;
};

}  // namespace mayfly::state_internal
