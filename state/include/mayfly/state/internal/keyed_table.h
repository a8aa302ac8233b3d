// What the tables of all kinds of state have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mayfly/state/internal/admission_filter.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/state_table.h"

namespace mayfly::state_internal {

// A walk over the entries of a segment that removes what has expired.
struct SegmentSweep {
  const ExpiryRule& rule;
  const TimestampMs purge_ms;
  SweepCounts counts = {};
  // Of the entries that stay.
  TimestampMs oldest_ms = kNeverExpires;

  // Takes note of the next entry; whether it is to go.
  bool Removes(TimestampMs timestamp_ms) {
    ++counts.checked;
    if (rule.IsExpired(timestamp_ms, purge_ms)) {
      ++counts.removed;
      return true;
    }
    oldest_ms = std::min(oldest_ms, timestamp_ms);
    return false;
  }
};

// A slot per key. Table derives from this and has, accessible to it,
//
//   // Bytes that the slot takes beside the entry of the hash map.
//   static std::size_t MemoryOf(const Slot& slot);
//   // Whether the slot holds what the store does not.
//   static bool IsPinned(const Slot& slot);
//   // Removes what is expired from the slot, on heap.
//   static void SweepSlot(Slot& slot, SegmentSweep& sweep);
//   // Whether nothing is left in the slot, on heap.
//   static bool IsVacant(const Slot& slot);
//   // How many entries are in the slot, on heap.
//   static std::size_t EntriesIn(const Slot& slot);
//   // Visits the entries of a slot in their stored form, on heap.
//   void VisitSlot(const K& key, const Slot& slot, EntryBytes& bytes,
//                  const EntryVisitor& visit) const;
//   // Over a store: forgets what is expired in the slot; true if that is all.
//   bool SweepCached(const K& key, Slot& slot, TimestampMs purge_ms);
//
// and Slot has the members `bool used` and `std::uint32_t saved`, the last save
// that has it. A step of clean-up takes a segment of
// kSegmentSlotsMax slots: few, if a slot holds many entries.
// Threads: one.
template <typename Table, typename K, typename Slot,
          std::size_t kSegmentSlotsMax>
class KeyedTable : public StateTable {
 protected:
  using Slots = SegmentedMap<K, Slot, kSegmentSlotsMax>;

 public:
  KeyedTable(TableContext context, const CurrentKey<K>* current)
      : StateTable(std::move(context)), current_(current) {}

  void EvictSegment(std::size_t segment) override {
    slots_.EraseIf(segment, [this](const K& key, Slot& slot) {
      if (Table::IsPinned(slot) || std::exchange(slot.used, false)) {
        return false;
      }
      memory().used -= MemoryOf(key, slot);
      return true;
    });
  }

  std::size_t segment_count() const override { return slots_.segment_count(); }

  std::size_t SegmentCost(std::size_t segment) const override {
    return slots_.SegmentCost(segment);
  }

  void VisitSegment(std::size_t segment,
                    const EntryVisitor& visit) const override {
    EntryBytes bytes;
    for (const auto& [key, slot] : slots_.segment(segment)) {
      table().VisitSlot(key, slot, bytes, visit);
    }
  }

  SegmentSave SaveSegment(std::size_t segment,
                          std::size_t entries_max) override {
    SegmentSave saved;
    saved.complete = slots_.ForEach(segment, [&](const K& key, Slot& slot) {
      // Those that earlier steps have saved, and what was changed since.
      if (slot.saved == this->save()) return true;
      if (saved.entries >= entries_max) return false;
      saved.entries += Table::EntriesIn(slot);
      Save(key, slot);
      return true;
    });
    return saved;
  }

  SweepCounts SweepSegment(std::size_t segment, TimestampMs purge_ms) override {
    return has_store() ? SweepCachedSegment(segment, purge_ms)
                       : SweepHeapSegment(segment, purge_ms);
  }

 protected:
  static void AppendKey(const HashedKey<K>& id, std::string& out) {
    Serializer<K>::Serialize(id.key, out);
  }

  static std::size_t MemoryOf(const K& key, const Slot& slot) {
    return kHashMapEntryBytes<K, Slot> + HeapBytes(key) + Table::MemoryOf(slot);
  }

  bool has_key() const { return current_->key.has_value(); }
  const K& key() const { return *current_->key; }
  std::size_t hash() const { return current_->hash; }
  HashedKey<K> hashed_key() const { return {key(), hash()}; }
  const CurrentKey<K>& current() const { return *current_; }

  // The current key's slot, for reading; null if there is none. Who changes it
  // after all calls BeforeChange() first.
  Slot* FindSlot() { return slots_.Find(key(), hash()); }

  // The current key's slot, for changing, and whether it is new.
  std::pair<Slot*, bool> FindOrInsertSlot() {
    const auto [slot, inserted] = slots_.FindOrInsert(key(), hash());
    if (inserted && has_store()) memory().used += MemoryOf(key(), *slot);
    if (this->saving()) [[unlikely]] {
      // One that was not there is none of the save's business.
      if (inserted) slot->saved = this->save();
      Save(key(), *slot);
    }
    return {slot, inserted};
  }

  // Has a save under way take the current key's slot as it is.
  void BeforeChange(Slot& slot) {
    if (this->saving()) [[unlikely]]
      Save(key(), slot);
  }

  void EraseSlot() {
    if (this->saving()) [[unlikely]] {
      if (Slot* const slot = FindSlot()) Save(key(), *slot);
    }
    slots_.Erase(key(), hash());
  }

  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }

  // Whether what was just read from the store is worth a place in the table.
  bool Admit(std::size_t entry_hash) {
    return admission_.Admit(entry_hash, memory());
  }

 private:
  static constexpr TimestampMs kUnknown =
      std::numeric_limits<TimestampMs>::min();

  const Table& table() const { return static_cast<const Table&>(*this); }

  // Apart from the changes, whose quick way it must not slow down.
  [[gnu::noinline]] void Save(const K& key, Slot& slot) {
    if (std::exchange(slot.saved, this->save()) == this->save()) return;
    table().VisitSlot(key, slot, save_bytes_, this->save_visitor());
  }

  SweepCounts SweepCachedSegment(std::size_t segment, TimestampMs purge_ms) {
    slots_.EraseIf(segment, [&](const K& key, Slot& slot) {
      if (!static_cast<Table&>(*this).SweepCached(key, slot, purge_ms)) {
        return false;
      }
      memory().used -= MemoryOf(key, slot);
      return true;
    });
    slots_.ShrinkIfSparse(segment);
    return {};
  }

  SweepCounts SweepHeapSegment(std::size_t segment, TimestampMs purge_ms) {
    oldest_ms_.resize(slots_.segment_count(), kUnknown);
    TimestampMs& oldest_ms = oldest_ms_[segment];
    const ExpiryRule& rule = policy().rule;
    if (!rule.IsExpired(SaturatingAdd(oldest_ms, -backdated_max_ms()),
                        purge_ms)) {
      return {};
    }
    // All of it, since all of it is gone through.
    if (this->saving()) {
      SaveSegment(segment, std::numeric_limits<std::size_t>::max());
    }
    SegmentSweep sweep{.rule = rule, .purge_ms = purge_ms};
    slots_.EraseIf(segment, [&](const K&, Slot& slot) {
      Table::SweepSlot(slot, sweep);
      return Table::IsVacant(slot);
    });
    slots_.ShrinkIfSparse(segment);
    // What is written from here on is stamped with a later time.
    oldest_ms = std::min(sweep.oldest_ms, purge_ms);
    return sweep.counts;
  }

  const CurrentKey<K>* const current_;
  Slots slots_;
  // No entry of a segment was stamped earlier, so that clean-up passes by
  // segments in which nothing can have expired; on heap. A segment that was
  // split off since has none yet.
  std::vector<TimestampMs> oldest_ms_;
  AdmissionFilter admission_;
  EntryBytes save_bytes_;
};

}  // namespace mayfly::state_internal
