// What the tables of all kinds of state have in common.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "mayfly/state/internal/admission_filter.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/state_table.h"

namespace mayfly::state_internal {

// A slot per key. Table derives from this and has, accessible to it,
//
//   // Bytes that the slot takes beside the entry of the hash map.
//   static std::size_t MemoryOf(const Slot& slot);
//   // Whether the slot holds what the store does not.
//   static bool IsPinned(const Slot& slot);
//   // Removes what is expired from the slot, on heap.
//   void SweepSlot(Slot& slot, TimestampMs purge_ms, SweepCounts& counts);
//   // Whether nothing is left in the slot, on heap.
//   static bool IsVacant(const Slot& slot);
//   // Over a store: forgets what is expired in the slot; true if that is all.
//   bool SweepCached(const K& key, Slot& slot, TimestampMs purge_ms);
//
// and Slot has a member `bool used`. A step of clean-up takes a segment of
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

  SweepCounts SweepSegment(std::size_t segment, TimestampMs purge_ms) override {
    SweepCounts counts;
    auto& table = static_cast<Table&>(*this);
    slots_.EraseIf(segment, [&](const K& key, Slot& slot) {
      if (has_store()) {
        if (!table.SweepCached(key, slot, purge_ms)) return false;
        memory().used -= MemoryOf(key, slot);
        return true;
      }
      table.SweepSlot(slot, purge_ms, counts);
      return Table::IsVacant(slot);
    });
    slots_.ShrinkIfSparse(segment);
    return counts;
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

  // The current key's slot; null if there is none.
  Slot* FindSlot() { return slots_.Find(key(), hash()); }

  // The current key's slot, and whether it is new.
  std::pair<Slot*, bool> FindOrInsertSlot() {
    const auto [slot, inserted] = slots_.FindOrInsert(key(), hash());
    if (inserted && has_store()) memory().used += MemoryOf(key(), *slot);
    return {slot, inserted};
  }

  void EraseSlot() { slots_.Erase(key(), hash()); }

  Slots& slots() { return slots_; }
  const Slots& slots() const { return slots_; }

  // Whether what was just read from the store is worth a place in the table.
  bool Admit(std::size_t entry_hash) {
    return admission_.Admit(entry_hash, memory());
  }

 private:
  const CurrentKey<K>* const current_;
  Slots slots_;
  AdmissionFilter admission_;
};

}  // namespace mayfly::state_internal
