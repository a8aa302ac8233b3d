// Value state over a table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/status_macros.h"
#include "mayfly/state/internal/admission_filter.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/state/value_state.h"

namespace mayfly::state_internal {

template <typename K, typename T>
class ValueTable final : public ValueState<T>, public StateTable {
 public:
  ValueTable(TableContext context, const CurrentKey<K>* current)
      : StateTable(std::move(context)), current_(current) {}

  absl::StatusOr<const T*> Value() override {
    if (!current_->key) return NoCurrentKey();
    const TimestampMs now_ms = policy().Now();
    Slot* const slot = slots_.Find(*current_->key, current_->hash);
    if (slot == nullptr || !slot->present ||
        policy().OnRead(slot->timestamp_ms, now_ms) != ReadOutcome::kLive)
        [[unlikely]] {
      return ReadOther(slot, now_ms);
    }
    if (has_store()) slot->used = true;
    return &slot->value;
  }

  absl::Status Update(T value) override {
    if (!current_->key) return NoCurrentKey();
    MAYFLY_RETURN_IF_ERROR(CheckSize(value));
    Slot& slot = FindOrInsert();
    Exchange(slot, std::move(value));
    slot.timestamp_ms = policy().Now();
    slot.present = true;
    slot.used = true;
    MarkChanged(slot);
    return absl::OkStatus();
  }

  absl::Status Clear() override {
    if (!current_->key) return NoCurrentKey();
    Remove(FindOrInsert());
    return absl::OkStatus();
  }

  absl::Status WriteChanges(ChangeWriter& writer) override {
    std::string value_bytes;
    for (const auto& change : changes_.InKeyOrder(AppendKey)) {
      const Slot& slot = *slots_.Find(change.id->key, change.id->hash);
      if (!slot.present) {
        writer.Delete(change.key_bytes);
        continue;
      }
      value_bytes.clear();
      EncodeValue(slot.value, slot.timestamp_ms, value_bytes);
      writer.Put(change.key_bytes, value_bytes);
    }
    return absl::OkStatus();
  }

  void MarkCommitted() override {
    for (const auto& [key, hash] : changes_.ids()) {
      Slot& slot = *slots_.Find(key, hash);
      slot.changed = false;
      if (!slot.present) {
        memory().used -= MemoryOf(key, slot);
        slots_.Erase(key, hash);
      }
    }
    changes_.Clear();
  }

  void EvictSegment(std::size_t segment) override {
    slots_.EraseIf(segment, [this](const K& key, Slot& slot) {
      if (slot.changed || std::exchange(slot.used, false)) return false;
      memory().used -= MemoryOf(key, slot);
      return true;
    });
  }

  std::size_t segment_count() const override { return slots_.segment_count(); }

  void VisitSegment(std::size_t segment,
                    const EntryVisitor& visit) const override {
    std::string key_bytes;
    std::string value_bytes;
    for (const auto& [key, slot] : slots_.segment(segment)) {
      key_bytes.clear();
      value_bytes.clear();
      Serializer<K>::Serialize(key, key_bytes);
      EncodeValue(slot.value, slot.timestamp_ms, value_bytes);
      visit(key_bytes, value_bytes);
    }
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    K key{};
    Slot loaded;
    if (absl::Status status = Serializer<K>::Deserialize(key_bytes, key);
        !status.ok()) {
      return Damaged(key_bytes, ToStd(status.message()));
    }
    MAYFLY_RETURN_IF_ERROR(
        DecodeValue(key_bytes, stored, loaded.value, loaded.timestamp_ms));
    loaded.present = true;
    *slots_.FindOrInsert(key, slots_.HashOf(key)).first = std::move(loaded);
    return absl::OkStatus();
  }

 private:
  struct Slot {
    T value{};
    TimestampMs timestamp_ms = 0;
    // False for a key that is to be deleted from the store.
    bool present = false;
    // Differs from what the store holds; it is in changes_.
    bool changed = false;
    // Accessed since eviction last came by.
    bool used = false;
  };

  static void AppendKey(const HashedKey<K>& id, std::string& out) {
    Serializer<K>::Serialize(id.key, out);
  }

  static std::size_t MemoryOf(const K& key, const Slot& slot) {
    return kHashMapEntryBytes<K, Slot> + HeapBytes(key) + HeapBytes(slot.value);
  }

  // Reads all but a live value in the table. Apart from Value(), whose quick
  // way it must not slow down.
  [[gnu::noinline]] absl::StatusOr<const T*> ReadOther(Slot* slot,
                                                       TimestampMs now_ms) {
    if (slot == nullptr) {
      if (!has_store()) return nullptr;
      MAYFLY_ASSIGN_OR_RETURN(const bool found, Fetch());
      if (!found) return nullptr;
      if (policy().OnRead(fetched_.timestamp_ms, now_ms) ==
              ReadOutcome::kLive &&
          !admission_.Admit(current_->hash, memory())) {
        return &fetched_.value;
      }
      slot = &FindOrInsert();
      Exchange(*slot, std::move(fetched_.value));
      slot->timestamp_ms = fetched_.timestamp_ms;
      slot->present = true;
    }
    slot->used = true;
    if (!slot->present) return nullptr;
    switch (policy().OnRead(slot->timestamp_ms, now_ms)) {
      case ReadOutcome::kLive:
        break;
      case ReadOutcome::kRefresh:
        slot->timestamp_ms = now_ms;
        MarkChanged(*slot);
        break;
      case ReadOutcome::kExpired:
        expired_ = Remove(*slot);
        return policy().return_expired ? &expired_ : nullptr;
    }
    return &slot->value;
  }

  // Reads the current key's value from the store into fetched_; false if there
  // is none.
  absl::StatusOr<bool> Fetch() {
    key_bytes_.clear();
    Serializer<K>::Serialize(*current_->key, key_bytes_);
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            store().Get(key_bytes_));
    if (!found) return false;
    MAYFLY_RETURN_IF_ERROR(DecodeValue(key_bytes_, found->bytes, fetched_.value,
                                       fetched_.timestamp_ms));
    return true;
  }

  Slot& FindOrInsert() {
    const auto [slot, inserted] =
        slots_.FindOrInsert(*current_->key, current_->hash);
    if (inserted && has_store()) {
      memory().used += MemoryOf(*current_->key, *slot);
    }
    return *slot;
  }

  // Puts a value into a slot and returns the one that was there.
  T Exchange(Slot& slot, T value) {
    if (has_store()) {
      const std::size_t grown = HeapBytes(value) - HeapBytes(slot.value);
      memory().used += grown;
      if (slot.changed) memory().changed += grown;
    }
    return std::exchange(slot.value, std::move(value));
  }

  void MarkChanged(Slot& slot) {
    if (!has_store() || slot.changed) return;
    slot.changed = true;
    memory().changed += MemoryOf(*current_->key, slot);
    changes_.Add({*current_->key, current_->hash});
  }

  // Removes the current key's value and returns it.
  T Remove(Slot& slot) {
    T removed = Exchange(slot, T{});
    if (has_store()) {
      slot.present = false;
      MarkChanged(slot);
    } else {
      slots_.Erase(*current_->key, current_->hash);
    }
    return removed;
  }

  const CurrentKey<K>* current_;
  SegmentedMap<K, Slot> slots_;
  ChangeList<HashedKey<K>> changes_;
  std::string key_bytes_;
  AdmissionFilter admission_;
  // What was last read from the store; returned itself if it was not admitted.
  Slot fetched_;
  // The value last removed by a read, which may have been returned.
  T expired_{};
};

}  // namespace mayfly::state_internal
