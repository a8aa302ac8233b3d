// Map state over a table.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/state_key.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/keyed_table.h"
#include "mayfly/state/internal/loan.h"
#include "mayfly/state/internal/map_walker.h"
#include "mayfly/state/map_state.h"

namespace mayfly::state_internal {

template <typename UV>
struct MapEntry {
  UV value{};
  TimestampMs timestamp_ms = 0;
  // False for an entry that is to be deleted from the store.
  bool present = false;
  // Differs from what the store holds; it is in changes_.
  bool changed = false;
};

template <typename UK, typename UV>
struct MapSlot {
  absl::flat_hash_map<UK, MapEntry<UV>, absl::Hash<UK>> entries;
  // Entries that differ from what the store holds.
  std::uint32_t changed_entries = 0;
  // As KeyedTable has it.
  std::uint32_t saved = 0;
  // What this slot has added to the account of changes.
  std::size_t changed_bytes = 0;
  // The store holds no entry that is not in `entries`, or none that counts.
  bool complete = false;
  // All that the store holds goes at the next commit, before changed entries
  // are written; the key is in cleared_.
  bool cleared = false;
  // Accessed since eviction last came by.
  bool used = false;
};

template <typename K, typename UK, typename UV>
class MapTable final
    : public MapState<UK, UV>,
      public KeyedTable<MapTable<K, UK, UV>, K, MapSlot<UK, UV>,
                        kSegmentOfContainers> {
  using Base = KeyedTable<MapTable, K, MapSlot<UK, UV>, kSegmentOfContainers>;
  using Slot = MapSlot<UK, UV>;
  using Entry = MapEntry<UV>;
  // Keys that are arguments may refer to what an earlier call returned, which
  // a call that inserts or removes moves or overwrites: from where an entry has
  // been found on, its own key serves.
  using EntryIt =
      typename absl::flat_hash_map<UK, Entry, absl::Hash<UK>>::iterator;
  friend Base;

 public:
  using Base::Base;

  absl::StatusOr<const UV*> Get(const UK& key) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    const TimestampMs now_ms = policy().Now();
    Slot* const slot = this->FindSlot();
    if (slot == nullptr) return FetchAndRead(slot, key, now_ms);
    const EntryIt entry = slot->entries.find(key);
    if (entry == slot->entries.end()) return FetchAndRead(slot, key, now_ms);
    if (has_store()) slot->used = true;
    if (!entry->second.present) return nullptr;
    const UV* const visible = Read(*slot, entry, now_ms);
    EraseIfEmpty(*slot);
    return visible == nullptr ? nullptr : loan_.Lend(*visible);
  }

  absl::StatusOr<bool> Contains(const UK& key) override {
    MAYFLY_ASSIGN_OR_RETURN(const UV* const value, Get(key));
    return value != nullptr;
  }

  absl::Status Put(const UK& key, UV value) override {
    if (!this->has_key()) return this->NoCurrentKey();
    return Write(key, std::move(value), policy().Now());
  }

  absl::Status Put(const UK& key, UV value,
                   std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, policy().Now()));
    return Write(key, std::move(value), timestamp_ms);
  }

  absl::Status Remove(const UK& key) override {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    if (!has_store()) {
      if (Slot* slot = this->FindSlot()) {
        this->BeforeChange(*slot);
        slot->entries.erase(key);
        EraseIfEmpty(*slot);
      }
      return absl::OkStatus();
    }
    Slot& slot = FindOrInsert();
    RemoveEntry(slot, InsertEntry(slot, key));
    return absl::OkStatus();
  }

  absl::StatusOr<MapRange<UK, UV>> Entries() override {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    const TimestampMs now_ms = policy().Now();
    MAYFLY_ASSIGN_OR_RETURN(Walk walk, BeginWalk());
    return MapRange<UK, UV>(
        std::make_unique<Cursor>(this, std::move(walk), now_ms));
  }

  absl::StatusOr<bool> IsEmpty() override {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
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
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    if (!has_store()) {
      this->EraseSlot();
      return absl::OkStatus();
    }
    Slot& slot = FindOrInsert();
    memory().used -= MemoryOf(slot);
    memory().changed -= std::exchange(slot.changed_bytes, 0);
    slot.entries.clear();
    slot.changed_entries = 0;
    slot.complete = true;
    if (!std::exchange(slot.cleared, true)) {
      cleared_.push_back(this->hashed_key());
    }
    AddChanged(slot, Base::MemoryOf(this->key(), slot));
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
      this->EncodeValue(entry->value, entry->timestamp_ms, bytes);
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
      slot->changed_bytes = 0;
      if (entry->present) continue;
      memory().used -= MemoryOf(id.map_key, *entry);
      slot->entries.erase(id.map_key);
    }
    for (const auto& [key, hash] : cleared_) {
      Slot& slot = *slots().Find(key, hash);
      slot.cleared = false;
      slot.changed_bytes = 0;
    }
    changes_.Clear();
    cleared_.clear();
    scan_.reset();
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    MAYFLY_ASSIGN_OR_RETURN(auto decoded, DecodeMapEntry(key_bytes, stored));
    const std::optional<MapKeyView> parts = DecodeMapKey(key_bytes);
    MAYFLY_ASSIGN_OR_RETURN(const K key,
                            this->template DecodeKey<K>(key_bytes, parts->key));
    Slot& slot = *slots().FindOrInsert(key, slots().HashOf(key)).first;
    slot.complete = true;
    slot.entries.insert_or_assign(std::move(decoded.first),
                                  std::move(decoded.second));
    return absl::OkStatus();
  }

  void Recall() override { static_cast<void>(loan_.Recall()); }

 private:
  friend class MapWalker<MapTable, UK, UV>;
  using Cursor = MapWalker<MapTable, UK, UV>;
  using Base::has_store;
  using Base::memory;
  using Base::policy;
  using Base::slots;

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
    Slot* slot = nullptr;             // Null: none in the table.
    ByteStore::Scan* scan = nullptr;  // Null: none only in the store.

    bool InTable(const UK& key) const {
      return slot != nullptr && slot->entries.contains(key);
    }
  };

  // Maps up to this many entries are read whole; larger ones are streamed.
  static constexpr std::size_t kReadWholeEntriesMax = 256;

  static std::size_t MemoryOf(const UK& key, const Entry& entry) {
    return kHashMapEntryBytes<UK, Entry> + HeapBytes(key) +
           HeapBytes(entry.value);
  }

  static std::size_t MemoryOf(const Slot& slot) {
    std::size_t bytes = 0;
    for (const auto& [key, entry] : slot.entries) bytes += MemoryOf(key, entry);
    return bytes;
  }
  static bool IsPinned(const Slot& slot) {
    return slot.cleared || slot.changed_entries > 0;
  }
  static bool IsVacant(const Slot& slot) { return slot.entries.empty(); }
  static std::size_t EntriesIn(const Slot& slot) { return slot.entries.size(); }

  void VisitSlot(const K& key, const Slot& slot, EntryBytes& bytes,
                 const EntryVisitor& visit) const {
    MakePrefix(key, bytes.prefix);
    for (const auto& [map_key, entry] : slot.entries) {
      bytes.key = bytes.prefix;
      bytes.value.clear();
      Serializer<UK>::Serialize(map_key, bytes.key);
      this->EncodeValue(entry.value, entry.timestamp_ms, bytes.value);
      visit(bytes.key, bytes.value);
    }
  }

  static void SweepSlot(Slot& slot, SegmentSweep& sweep) {
    const std::size_t removed =
        absl::erase_if(slot.entries, [&](const auto& entry) {
          if (!sweep.Removes(entry.second.timestamp_ms)) return false;
          sweep.counts.bytes += MemoryOf(entry.first, entry.second);
          return true;
        });
    if (removed > 0 && slot.entries.size() < slot.entries.capacity() / 8) {
      slot.entries.rehash(0);
    }
  }

  bool SweepCached(const K&, Slot& slot, TimestampMs purge_ms) {
    if (IsPinned(slot)) return false;
    const std::size_t erased =
        absl::erase_if(slot.entries, [&](const auto& entry) {
          const bool expired =
              policy().rule.IsExpired(entry.second.timestamp_ms, purge_ms);
          if (expired) memory().used -= MemoryOf(entry.first, entry.second);
          return expired;
        });
    // What the store still holds of them is for readers who may see it.
    if (erased > 0 && policy().return_expired) slot.complete = false;
    return slot.entries.empty();
  }

  auto BeginCall() {
    this->CountAccess();
    ++calls_;
    scan_.reset();
    return loan_.Recall();
  }

  // Tells a walk whether the state was used since it began.
  std::uint64_t CallsSoFar() const { return calls_ + this->current().changes; }

  absl::Status Write(const UK& key, UV value, TimestampMs timestamp_ms) {
    const auto recalled = BeginCall();
    MAYFLY_RETURN_IF_ERROR(this->CheckSize(value));
    Slot& slot = FindOrInsert();
    const EntryIt at = InsertEntry(slot, key);
    Entry& entry = at->second;
    Exchange(slot, entry, std::move(value));
    entry.timestamp_ms = timestamp_ms;
    entry.present = true;
    MarkChanged(slot, at);
    return absl::OkStatus();
  }

  static void MakePrefix(const K& key, std::string& prefix) {
    prefix.clear();
    std::string key_bytes;
    Serializer<K>::Serialize(key, key_bytes);
    AppendMapKeyPrefix(key_bytes, prefix);
  }

  // Applies the TTL rule to an entry of the table; null if it is not visible.
  const UV* Read(Slot& slot, EntryIt at, TimestampMs now_ms) {
    Entry& entry = at->second;
    switch (policy().OnRead(entry.timestamp_ms, now_ms)) {
      case ReadOutcome::kLive:
        break;
      case ReadOutcome::kRefresh:
        this->BeforeChange(slot);
        entry.timestamp_ms = now_ms;
        MarkChanged(slot, at);
        break;
      case ReadOutcome::kHidden:
        if (policy().return_expired) break;
        return nullptr;
      case ReadOutcome::kExpired:
        this->CountRemoved(1, MemoryOf(at->first, entry));
        expired_ = RemoveEntry(slot, at);
        return policy().return_expired ? &expired_ : nullptr;
    }
    return &entry.value;
  }

  // Reads one entry from the store; null if there is none. It becomes part of
  // the table if it is worth it, or if the read is going to change it.
  absl::StatusOr<const UV*> FetchAndRead(Slot* slot, UK key,
                                         TimestampMs now_ms) {
    if (!has_store() || (slot != nullptr && slot->complete)) return nullptr;
    MakePrefix(this->key(), key_bytes_);
    Serializer<UK>::Serialize(key, key_bytes_);
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            this->store().Get(key_bytes_));
    if (!found) return nullptr;
    MAYFLY_RETURN_IF_ERROR(this->DecodeValue(
        key_bytes_, found->bytes, fetched_.value, fetched_.timestamp_ms));
    if (policy().OnRead(fetched_.timestamp_ms, now_ms) == ReadOutcome::kLive &&
        !this->Admit(HashOf(key))) {
      return loan_.Lend(fetched_.value);
    }
    if (slot == nullptr) slot = &FindOrInsert();
    const UV* const visible =
        Read(*slot, InsertStored(*slot, key, fetched_), now_ms);
    return visible == nullptr ? nullptr : loan_.Lend(*visible);
  }

  // The hash of an entry's whole key, for admission.
  std::size_t HashOf(const UK& key) const {
    return absl::HashOf(this->hash(), key);
  }

  // Puts an entry of the store into the table.
  EntryIt InsertStored(Slot& slot, const UK& key, Entry& stored) {
    const EntryIt at = InsertEntry(slot, key);
    Entry& entry = at->second;
    Exchange(slot, entry, std::move(stored.value));
    entry.timestamp_ms = stored.timestamp_ms;
    entry.present = true;
    return at;
  }

  // Counts an entry that came from the store. It stays in the table as long as
  // its map has changes.
  void CountStored(Slot& slot, const UK& key, const Entry& entry) {
    memory().used += MemoryOf(key, entry);
    if (IsPinned(slot)) AddChanged(slot, MemoryOf(key, entry));
  }

  // Makes the current key's map ready to be walked. A small one that is worth
  // it is read whole, so that the next walk finds it in the table.
  absl::StatusOr<Walk> BeginWalk() {
    Walk walk{.slot = this->FindSlot()};
    if (!has_store() || (walk.slot != nullptr && walk.slot->complete)) {
      return walk;
    }
    MakePrefix(this->key(), key_bytes_);
    scan_ = this->store().ScanPrefix(key_bytes_);
    walk.scan = scan_.get();
    if (!this->Admit(this->hash())) return walk;
    std::size_t read = 0;
    for (; walk.scan->Valid(); walk.scan->Next()) {
      if (++read > kReadWholeEntriesMax) {
        scan_ = this->store().ScanPrefix(key_bytes_);
        walk.scan = scan_.get();
        return walk;
      }
      MAYFLY_ASSIGN_OR_RETURN(auto decoded, DecodeStored(*walk.scan));
      if (walk.slot == nullptr) walk.slot = &FindOrInsert();
      const auto [it, inserted] = walk.slot->entries.try_emplace(
          std::move(decoded.first), std::move(decoded.second));
      if (inserted) CountStored(*walk.slot, it->first, it->second);
    }
    MAYFLY_RETURN_IF_ERROR(walk.scan->status());
    scan_.reset();
    walk.scan = nullptr;
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
    if (!parts) {
      return this->Damaged(key_bytes, "the stored map key has no framing");
    }
    MAYFLY_ASSIGN_OR_RETURN(
        decoded.first, this->template DecodeKey<UK>(key_bytes, parts->map_key));
    MAYFLY_RETURN_IF_ERROR(this->DecodeValue(
        key_bytes, stored, decoded.second.value, decoded.second.timestamp_ms));
    decoded.second.present = true;
    return decoded;
  }

  absl::Status EraseAll(std::string_view prefix, ChangeWriter& writer) {
    const std::unique_ptr<ByteStore::Scan> scan =
        this->store().ScanPrefix(prefix);
    for (; scan->Valid(); scan->Next()) writer.Delete(scan->key());
    return scan->status();
  }

  Slot& FindOrInsert() {
    const auto [slot, inserted] = this->FindOrInsertSlot();
    if (inserted) slot->complete = !has_store();
    slot->used = true;
    return *slot;
  }

  EntryIt InsertEntry(Slot& slot, const UK& key) {
    EntryIt at = slot.entries.find(key);
    if (at != slot.entries.end()) return at;
    // Copied before entries move to make room.
    at = slot.entries.try_emplace(UK(key)).first;
    if (has_store()) memory().used += MemoryOf(at->first, at->second);
    return at;
  }

  void AddChanged(Slot& slot, std::size_t bytes) {
    memory().changed += bytes;
    slot.changed_bytes += bytes;
  }

  // Puts a value into an entry and returns the one that was there.
  UV Exchange(Slot& slot, Entry& entry, UV value) {
    if (has_store()) {
      const std::size_t grown = HeapBytes(value) - HeapBytes(entry.value);
      memory().used += grown;
      if (entry.changed) AddChanged(slot, grown);
    }
    return std::exchange(entry.value, std::move(value));
  }

  // Removes an entry of the current key's map and returns its value.
  UV RemoveEntry(Slot& slot, EntryIt at) {
    this->BeforeChange(slot);
    UV removed = Exchange(slot, at->second, UV{});
    if (has_store()) {
      at->second.present = false;
      MarkChanged(slot, at);
    } else {
      slot.entries.erase(at);
    }
    return removed;
  }

  // On heap an empty map is absent; over a store its slot stands for deletions
  // until the commit.
  void EraseIfEmpty(const Slot& slot) {
    if (!has_store() && slot.entries.empty()) {
      this->EraseSlot();
    }
  }

  void MarkChanged(Slot& slot, EntryIt at) {
    if (!has_store() || at->second.changed) return;
    at->second.changed = true;
    ++slot.changed_entries;
    AddChanged(slot, MemoryOf(at->first, at->second));
    changes_.Add({this->hashed_key(), at->first});
  }

  // The slot and the entry that an id in changes_ names; nulls if the map was
  // cleared since, or if the id stands there twice and is done with.
  std::pair<Slot*, Entry*> FindChanged(const EntryId& id) {
    Slot* const slot = slots().Find(id.key.key, id.key.hash);
    if (slot == nullptr) return {nullptr, nullptr};
    const EntryIt at = slot->entries.find(id.map_key);
    if (at == slot->entries.end() || !at->second.changed) {
      return {nullptr, nullptr};
    }
    return {slot, &at->second};
  }

  ChangeList<EntryId> changes_;
  std::vector<HashedKey<K>> cleared_;
  std::string key_bytes_;
  // What was last read from the store; returned itself if it was not admitted.
  Entry fetched_;
  // The value last removed by a read, which may have been returned.
  UV expired_{};
  // How often the state was used, which ends the walk under way.
  std::uint64_t calls_ = 0;
  // Of the walk under way, which may be abandoned at any time: what it pins in
  // the database is free again at the next call.
  std::unique_ptr<ByteStore::Scan> scan_;
  Loan<UV> loan_;
};

}  // namespace mayfly::state_internal
