// Map state over a table.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/status_macros.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/state/internal/admission_filter.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/state/map_state.h"

namespace mayfly::state_internal {

template <typename K, typename UK, typename UV>
class MapTable final : public MapState<UK, UV>, public StateTable {
 public:
  MapTable(TableContext context, const CurrentKey<K>* current)
      : StateTable(std::move(context)), current_(current) {}

  absl::StatusOr<const UV*> Get(const UK& key) override {
    if (!current_->key) return NoCurrentKey();
    const TimestampMs now_ms = policy().Now();
    Slot* const slot = slots_.Find(*current_->key, current_->hash);
    Entry* const entry = slot == nullptr ? nullptr : FindEntry(*slot, key);
    if (entry == nullptr) {
      if (!has_store() || (slot != nullptr && slot->complete)) return nullptr;
      return FetchAndRead(slot, key, now_ms);
    }
    if (has_store()) slot->used = true;
    if (!entry->present) return nullptr;
    const UV* visible = Read(*slot, key, *entry, now_ms);
    EraseIfEmpty(*slot);
    return visible;
  }

  absl::StatusOr<bool> Contains(const UK& key) override {
    MAYFLY_ASSIGN_OR_RETURN(const UV* const value, Get(key));
    return value != nullptr;
  }

  absl::Status Put(const UK& key, UV value) override {
    if (!current_->key) return NoCurrentKey();
    MAYFLY_RETURN_IF_ERROR(CheckSize(value));
    Slot& slot = FindOrInsert();
    Entry& entry = InsertEntry(slot, key);
    Exchange(entry, std::move(value));
    entry.timestamp_ms = policy().Now();
    entry.present = true;
    MarkChanged(slot, key, entry);
    return absl::OkStatus();
  }

  absl::Status Remove(const UK& key) override {
    if (!current_->key) return NoCurrentKey();
    if (!has_store()) {
      if (Slot* slot = slots_.Find(*current_->key, current_->hash)) {
        slot->entries.erase(key);
        EraseIfEmpty(*slot);
      }
      return absl::OkStatus();
    }
    Slot& slot = FindOrInsert();
    RemoveEntry(slot, key, InsertEntry(slot, key));
    return absl::OkStatus();
  }

  absl::StatusOr<MapRange<UK, UV>> Entries() override {
    if (!current_->key) return NoCurrentKey();
    const TimestampMs now_ms = policy().Now();
    MAYFLY_ASSIGN_OR_RETURN(Walk walk, BeginWalk());
    return MapRange<UK, UV>(
        std::make_unique<Cursor>(this, std::move(walk), now_ms));
  }

  absl::StatusOr<bool> IsEmpty() override {
    if (!current_->key) return NoCurrentKey();
    const TimestampMs now_ms = policy().Now();
    const auto visible = [&](TimestampMs timestamp_ms) {
      return policy().return_expired || !policy().enabled() ||
             !policy().rule.IsExpired(timestamp_ms, now_ms);
    };
    MAYFLY_ASSIGN_OR_RETURN(const Walk walk, BeginWalk());
    if (walk.slot != nullptr) {
      for (const auto& [key, entry] : walk.slot->entries) {
        if (entry.present && visible(entry.timestamp_ms)) return false;
      }
    }
    for (; walk.scan != nullptr && walk.scan->Valid(); walk.scan->Next()) {
      MAYFLY_ASSIGN_OR_RETURN(const auto decoded, DecodeStored(*walk.scan));
      if (walk.InTable(decoded.first)) continue;
      if (visible(decoded.second.timestamp_ms)) return false;
    }
    if (walk.scan != nullptr) MAYFLY_RETURN_IF_ERROR(walk.scan->status());
    return true;
  }

  absl::Status Clear() override {
    if (!current_->key) return NoCurrentKey();
    if (!has_store()) {
      slots_.Erase(*current_->key, current_->hash);
      return absl::OkStatus();
    }
    Slot& slot = FindOrInsert();
    memory().used -= EntriesMemory(slot);
    slot.entries.clear();
    slot.changed_entries = 0;
    slot.complete = true;
    if (!std::exchange(slot.cleared, true)) {
      cleared_.push_back({*current_->key, current_->hash});
      memory().changed += MemoryOf(*current_->key, slot);
    }
    return absl::OkStatus();
  }

  absl::Status WriteChanges(ChangeWriter& writer) override {
    std::string bytes;
    for (const auto& [key, hash] : cleared_) {
      MakePrefix(key, bytes);
      MAYFLY_RETURN_IF_ERROR(EraseAll(bytes, writer));
    }
    for (const auto& change : changes_.InKeyOrder(AppendKey)) {
      const Entry* entry = FindChanged(*change.id).second;
      if (entry == nullptr) continue;
      if (!entry->present) {
        writer.Delete(change.key_bytes);
        continue;
      }
      bytes.clear();
      EncodeValue(entry->value, entry->timestamp_ms, bytes);
      writer.Put(change.key_bytes, bytes);
    }
    return absl::OkStatus();
  }

  void MarkCommitted() override {
    for (const EntryId& id : changes_.ids()) {
      const auto [slot, entry] = FindChanged(id);
      if (entry == nullptr) continue;
      entry->changed = false;
      --slot->changed_entries;
      if (entry->present) continue;
      memory().used -= MemoryOf(id.map_key, *entry);
      slot->entries.erase(id.map_key);
    }
    for (const auto& [key, hash] : cleared_) {
      slots_.Find(key, hash)->cleared = false;
    }
    changes_.Clear();
    cleared_.clear();
  }

  void EvictSegment(std::size_t segment) override {
    slots_.EraseIf(segment, [this](const K& key, Slot& slot) {
      if (slot.cleared || slot.changed_entries > 0 ||
          std::exchange(slot.used, false)) {
        return false;
      }
      memory().used -= MemoryOf(key, slot);
      return true;
    });
  }

  std::size_t segment_count() const override { return slots_.segment_count(); }

  void VisitSegment(std::size_t segment,
                    const EntryVisitor& visit) const override {
    std::string prefix;
    std::string key_bytes;
    std::string value_bytes;
    for (const auto& [key, slot] : slots_.segment(segment)) {
      MakePrefix(key, prefix);
      for (const auto& [map_key, entry] : slot.entries) {
        key_bytes = prefix;
        value_bytes.clear();
        Serializer<UK>::Serialize(map_key, key_bytes);
        EncodeValue(entry.value, entry.timestamp_ms, value_bytes);
        visit(key_bytes, value_bytes);
      }
    }
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    MAYFLY_ASSIGN_OR_RETURN(auto decoded, DecodeMapEntry(key_bytes, stored));
    const std::optional<MapKeyView> parts = DecodeMapKey(key_bytes);
    K key{};
    if (absl::Status status = Serializer<K>::Deserialize(parts->key, key);
        !status.ok()) {
      return Damaged(key_bytes, ToStd(status.message()));
    }
    Slot& slot = *slots_.FindOrInsert(key, slots_.HashOf(key)).first;
    slot.complete = true;
    slot.entries.insert_or_assign(std::move(decoded.first),
                                  std::move(decoded.second));
    return absl::OkStatus();
  }

 private:
  struct Entry {
    UV value{};
    TimestampMs timestamp_ms = 0;
    // False for an entry that is to be deleted from the store.
    bool present = false;
    // Differs from what the store holds; it is in changes_.
    bool changed = false;
  };

  struct Slot {
    absl::flat_hash_map<UK, Entry, absl::Hash<UK>> entries;
    // Entries that differ from what the store holds.
    std::uint32_t changed_entries = 0;
    // The store holds no entry that is not in `entries`, or none that counts.
    bool complete = false;
    // All that the store holds goes at the next commit, before changed entries
    // are written; the key is in cleared_.
    bool cleared = false;
    // Accessed since eviction last came by.
    bool used = false;
  };

  struct EntryId {
    HashedKey<K> key;
    UK map_key;
  };

  static void AppendKey(const EntryId& id, std::string& out) {
    std::string key_bytes;
    Serializer<K>::Serialize(id.key.key, key_bytes);
    AppendMapKeyPrefix(key_bytes, out);
    Serializer<UK>::Serialize(id.map_key, out);
  }

  // A map whose entries are about to be walked: those in the table first, then
  // those that only the store has.
  struct Walk {
    Slot* slot = nullptr;                   // Null: none in the table.
    std::unique_ptr<ByteStore::Scan> scan;  // Null: none only in the store.

    bool InTable(const UK& key) const {
      return slot != nullptr && slot->entries.contains(key);
    }
  };

  // Maps up to this many entries are read whole; larger ones are streamed.
  static constexpr std::size_t kReadWholeEntriesMax = 256;

  class Cursor final : public MapCursor<UK, UV> {
   public:
    Cursor(MapTable* table, Walk walk, TimestampMs now_ms)
        : table_(table), walk_(std::move(walk)), now_ms_(now_ms) {
      if (walk_.slot != nullptr) at_ = walk_.slot->entries.begin();
    }

    std::pair<const UK*, const UV*> Next() override {
      if (!status_.ok()) return {nullptr, nullptr};
      while (walk_.slot != nullptr && at_ != walk_.slot->entries.end()) {
        auto& [key, entry] = *at_++;
        if (!entry.present) continue;
        const UK* shown = &key;
        if (table_->policy().OnRead(entry.timestamp_ms, now_ms_) ==
            ReadOutcome::kExpired) {
          // Reading it may erase the entry, key and all.
          key_ = key;
          shown = &key_;
        }
        if (const UV* value =
                table_->Read(*walk_.slot, *shown, entry, now_ms_)) {
          return {shown, value};
        }
      }
      if (walk_.scan != nullptr) return NextStored();
      if (walk_.slot != nullptr) {
        table_->EraseIfEmpty(*std::exchange(walk_.slot, nullptr));
      }
      return {nullptr, nullptr};
    }

    absl::Status status() const override { return status_; }

   private:
    std::pair<const UK*, const UV*> NextStored() {
      for (; walk_.scan->Valid(); walk_.scan->Next()) {
        auto decoded = table_->DecodeStored(*walk_.scan);
        if (!decoded.ok()) {
          status_ = decoded.status();
          return {nullptr, nullptr};
        }
        std::tie(key_, entry_) = *std::move(decoded);
        // The table had its say about this entry already.
        if (walk_.InTable(key_)) continue;
        if (const UV* value = ReadStored()) {
          walk_.scan->Next();
          return {&key_, value};
        }
      }
      status_ = walk_.scan->status();
      return {nullptr, nullptr};
    }

    // Reads the entry at hand, which only becomes part of the table if the read
    // changes it.
    const UV* ReadStored() {
      if (table_->policy().OnRead(entry_.timestamp_ms, now_ms_) ==
          ReadOutcome::kLive) {
        return &entry_.value;
      }
      if (walk_.slot == nullptr) walk_.slot = &table_->FindOrInsert();
      Entry& entry = table_->InsertStored(*walk_.slot, key_, entry_);
      // The insertion may have moved the entries; the walk of them is over.
      at_ = walk_.slot->entries.end();
      return table_->Read(*walk_.slot, key_, entry, now_ms_);
    }

    MapTable* table_;
    Walk walk_;
    TimestampMs now_ms_;
    typename absl::flat_hash_map<UK, Entry, absl::Hash<UK>>::iterator at_;
    UK key_{};
    Entry entry_;
    absl::Status status_;
  };

  static std::size_t MemoryOf(const UK& key, const Entry& entry) {
    return kHashMapEntryBytes<UK, Entry> + HeapBytes(key) +
           HeapBytes(entry.value);
  }

  static std::size_t EntriesMemory(const Slot& slot) {
    std::size_t bytes = 0;
    for (const auto& [key, entry] : slot.entries) bytes += MemoryOf(key, entry);
    return bytes;
  }

  static std::size_t MemoryOf(const K& key, const Slot& slot) {
    return kHashMapEntryBytes<K, Slot> + HeapBytes(key) + EntriesMemory(slot);
  }

  static void MakePrefix(const K& key, std::string& prefix) {
    prefix.clear();
    std::string key_bytes;
    Serializer<K>::Serialize(key, key_bytes);
    AppendMapKeyPrefix(key_bytes, prefix);
  }

  // Applies the TTL rule to an entry of the table; null if it is not visible.
  const UV* Read(Slot& slot, const UK& key, Entry& entry, TimestampMs now_ms) {
    switch (policy().OnRead(entry.timestamp_ms, now_ms)) {
      case ReadOutcome::kLive:
        break;
      case ReadOutcome::kRefresh:
        entry.timestamp_ms = now_ms;
        MarkChanged(slot, key, entry);
        break;
      case ReadOutcome::kExpired:
        expired_ = RemoveEntry(slot, key, entry);
        return policy().return_expired ? &expired_ : nullptr;
    }
    return &entry.value;
  }

  Entry* FindEntry(Slot& slot, const UK& key) {
    const auto it = slot.entries.find(key);
    return it == slot.entries.end() ? nullptr : &it->second;
  }

  // Reads one entry from the store; null if there is none. It becomes part of
  // the table if it is worth it, or if the read is going to change it.
  absl::StatusOr<const UV*> FetchAndRead(Slot* slot, const UK& key,
                                         TimestampMs now_ms) {
    MakePrefix(*current_->key, key_bytes_);
    Serializer<UK>::Serialize(key, key_bytes_);
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            store().Get(key_bytes_));
    if (!found) return nullptr;
    MAYFLY_RETURN_IF_ERROR(DecodeValue(key_bytes_, found->bytes, fetched_.value,
                                       fetched_.timestamp_ms));
    if (policy().OnRead(fetched_.timestamp_ms, now_ms) == ReadOutcome::kLive &&
        !admission_.Admit(HashOf(key), memory())) {
      return &fetched_.value;
    }
    if (slot == nullptr) slot = &FindOrInsert();
    return Read(*slot, key, InsertStored(*slot, key, fetched_), now_ms);
  }

  // The hash of an entry's whole key, for admission.
  std::size_t HashOf(const UK& key) const {
    return absl::HashOf(current_->hash, key);
  }

  // Puts an entry of the store into the table.
  Entry& InsertStored(Slot& slot, const UK& key, Entry& stored) {
    Entry& entry = InsertEntry(slot, key);
    Exchange(entry, std::move(stored.value));
    entry.timestamp_ms = stored.timestamp_ms;
    entry.present = true;
    return entry;
  }

  // Counts an entry that came from the store. It stays in the table as long as
  // its map has changes.
  void CountStored(const Slot& slot, const UK& key, const Entry& entry) {
    memory().used += MemoryOf(key, entry);
    if (slot.changed_entries > 0 || slot.cleared) {
      memory().changed += MemoryOf(key, entry);
    }
  }

  // Makes the current key's map ready to be walked. A small one that is worth
  // it is read whole, so that the next walk finds it in the table.
  absl::StatusOr<Walk> BeginWalk() {
    Walk walk{slots_.Find(*current_->key, current_->hash), nullptr};
    if (!has_store() || (walk.slot != nullptr && walk.slot->complete)) {
      return walk;
    }
    MakePrefix(*current_->key, key_bytes_);
    walk.scan = store().ScanPrefix(key_bytes_);
    if (!admission_.Admit(current_->hash, memory())) return walk;
    std::size_t read = 0;
    for (; walk.scan->Valid(); walk.scan->Next()) {
      if (++read > kReadWholeEntriesMax) {
        walk.scan = store().ScanPrefix(key_bytes_);
        return walk;
      }
      MAYFLY_ASSIGN_OR_RETURN(auto decoded, DecodeStored(*walk.scan));
      if (walk.slot == nullptr) walk.slot = &FindOrInsert();
      const auto [it, inserted] = walk.slot->entries.try_emplace(
          std::move(decoded.first), std::move(decoded.second));
      if (inserted) CountStored(*walk.slot, it->first, it->second);
    }
    MAYFLY_RETURN_IF_ERROR(walk.scan->status());
    walk.scan.reset();
    if (walk.slot != nullptr) {
      walk.slot->complete = true;
      walk.slot->used = true;
    }
    return walk;
  }

  absl::StatusOr<std::pair<UK, Entry>> DecodeStored(
      const ByteStore::Scan& scan) const {
    return DecodeMapEntry(scan.key(), scan.value());
  }

  absl::StatusOr<std::pair<UK, Entry>> DecodeMapEntry(
      std::string_view key_bytes, std::string_view stored) const {
    std::pair<UK, Entry> decoded;
    const std::optional<MapKeyView> parts = DecodeMapKey(key_bytes);
    if (!parts) return Damaged(key_bytes, "the stored map key has no framing");
    if (absl::Status status =
            Serializer<UK>::Deserialize(parts->map_key, decoded.first);
        !status.ok()) {
      return Damaged(key_bytes, ToStd(status.message()));
    }
    MAYFLY_RETURN_IF_ERROR(DecodeValue(key_bytes, stored, decoded.second.value,
                                       decoded.second.timestamp_ms));
    decoded.second.present = true;
    return decoded;
  }

  absl::Status EraseAll(std::string_view prefix, ChangeWriter& writer) {
    const std::unique_ptr<ByteStore::Scan> scan = store().ScanPrefix(prefix);
    for (; scan->Valid(); scan->Next()) writer.Delete(scan->key());
    return scan->status();
  }

  Slot& FindOrInsert() {
    const auto [slot, inserted] =
        slots_.FindOrInsert(*current_->key, current_->hash);
    if (inserted) {
      slot->complete = !has_store();
      if (has_store()) memory().used += MemoryOf(*current_->key, *slot);
    }
    slot->used = true;
    return *slot;
  }

  Entry& InsertEntry(Slot& slot, const UK& key) {
    const auto [it, inserted] = slot.entries.try_emplace(key);
    if (inserted && has_store()) {
      memory().used += MemoryOf(it->first, it->second);
    }
    return it->second;
  }

  // Puts a value into an entry and returns the one that was there.
  UV Exchange(Entry& entry, UV value) {
    if (has_store()) {
      const std::size_t grown = HeapBytes(value) - HeapBytes(entry.value);
      memory().used += grown;
      if (entry.changed) memory().changed += grown;
    }
    return std::exchange(entry.value, std::move(value));
  }

  // Removes an entry of the current key's map and returns its value.
  UV RemoveEntry(Slot& slot, const UK& key, Entry& entry) {
    UV removed = Exchange(entry, UV{});
    if (has_store()) {
      entry.present = false;
      MarkChanged(slot, key, entry);
    } else {
      slot.entries.erase(key);
    }
    return removed;
  }

  // On heap an empty map is absent; over a store its slot stands for deletions
  // until the commit.
  void EraseIfEmpty(const Slot& slot) {
    if (!has_store() && slot.entries.empty()) {
      slots_.Erase(*current_->key, current_->hash);
    }
  }

  void MarkChanged(Slot& slot, const UK& key, Entry& entry) {
    if (!has_store() || entry.changed) return;
    entry.changed = true;
    ++slot.changed_entries;
    memory().changed += MemoryOf(key, entry);
    changes_.Add({{*current_->key, current_->hash}, key});
  }

  // The slot and the entry that an id in changes_ names; nulls if the map was
  // cleared since, or if the id stands there twice and is done with.
  std::pair<Slot*, Entry*> FindChanged(const EntryId& id) {
    Slot* const slot = slots_.Find(id.key.key, id.key.hash);
    if (slot == nullptr) return {nullptr, nullptr};
    Entry* const entry = FindEntry(*slot, id.map_key);
    if (entry == nullptr || !entry->changed) return {nullptr, nullptr};
    return {slot, entry};
  }

  const CurrentKey<K>* current_;
  SegmentedMap<K, Slot> slots_;
  ChangeList<EntryId> changes_;
  std::vector<HashedKey<K>> cleared_;
  std::string key_bytes_;
  AdmissionFilter admission_;
  // What was last read from the store; returned itself if it was not admitted.
  Entry fetched_;
  // The value last removed by a read, which may have been returned.
  UV expired_{};
};

}  // namespace mayfly::state_internal
