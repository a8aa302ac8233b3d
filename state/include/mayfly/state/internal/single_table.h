// A table with one entry a key: values and accumulators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/keyed_table.h"
#include "mayfly/state/internal/loan.h"

namespace mayfly::state_internal {

template <typename T>
struct SingleSlot {
  T value{};
  TimestampMs timestamp_ms = 0;
  // As KeyedTable has it.
  std::uint32_t saved = 0;
  // False for a key that is to be deleted from the store.
  bool present = false;
  // Differs from what the store holds; it is in changes_.
  bool changed = false;
  // Accessed since eviction last came by.
  bool used = false;
};

template <typename K, typename T>
class SingleTable : public KeyedTable<SingleTable<K, T>, K, SingleSlot<T>,
                                      kSegmentOfEntries> {
  using Base = KeyedTable<SingleTable, K, SingleSlot<T>, kSegmentOfEntries>;
  using Slot = SingleSlot<T>;
  friend Base;

 public:
  using Base::Base;

  absl::Status WriteChanges(ChangeWriter& writer) override {
    std::string value_bytes;
    for (const auto& change : changes_.InKeyOrder(this->AppendKey)) {
      const Slot& slot = *slots().Find(change.id->key, change.id->hash);
      if (!slot.present) {
        writer.Delete(change.key_bytes);
        continue;
      }
      value_bytes.clear();
      this->EncodeValue(slot.value, slot.timestamp_ms, value_bytes);
      writer.Put(change.key_bytes, value_bytes);
    }
    return absl::OkStatus();
  }

  void MarkCommitted() override {
    for (const auto& [key, hash] : changes_.ids()) {
      Slot& slot = *slots().Find(key, hash);
      slot.changed = false;
      if (!slot.present) {
        memory().used -= Base::MemoryOf(key, slot);
        slots().Erase(key, hash);
      }
    }
    changes_.Clear();
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    Slot loaded;
    MAYFLY_ASSIGN_OR_RETURN(const K key,
                            this->template DecodeKey<K>(key_bytes, key_bytes));
    MAYFLY_RETURN_IF_ERROR(this->DecodeValue(key_bytes, stored, loaded.value,
                                             loaded.timestamp_ms));
    loaded.present = true;
    *slots().FindOrInsert(key, slots().HashOf(key)).first = std::move(loaded);
    return absl::OkStatus();
  }

  void Recall() override { static_cast<void>(loan_.Recall()); }

 protected:
  // The visible value; null if there is none.
  absl::StatusOr<const T*> Read() {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    const TimestampMs now_ms = this->policy().Now();
    Slot* const slot = this->FindSlot();
    if (slot == nullptr || !slot->present ||
        this->policy().OnRead(slot->timestamp_ms, now_ms) != ReadOutcome::kLive)
        [[unlikely]] {
      return ReadOther(slot, now_ms);
    }
    if (this->has_store()) slot->used = true;
    return loan_.Lend(slot->value);
  }

  absl::Status Write(T value, TimestampMs timestamp_ms) {
    const auto recalled = BeginCall();
    MAYFLY_RETURN_IF_ERROR(this->CheckSize(value));
    Slot& slot = *this->FindOrInsertSlot().first;
    Exchange(slot, std::move(value));
    Stamp(slot, timestamp_ms);
    return absl::OkStatus();
  }

  // Has `fold(value, live)` change the live value in place or, if none is live,
  // make one of a default-constructed T; and stamps the result.
  template <typename Fold>
  absl::Status Accumulate(TimestampMs now_ms, TimestampMs timestamp_ms,
                          Fold fold) {
    const auto recalled = BeginCall();
    Slot* slot = this->FindSlot();
    if (slot == nullptr && this->has_store()) {
      MAYFLY_ASSIGN_OR_RETURN(const bool found, Fetch());
      if (found) slot = &InsertFetched();
    }
    if (slot != nullptr) this->BeforeChange(*slot);
    // What a clock that has jumped hides is kept, and folded into.
    if (slot != nullptr && slot->present &&
        this->policy().OnRead(slot->timestamp_ms, now_ms) !=
            ReadOutcome::kExpired) {
      const std::size_t bytes = this->has_store() ? HeapBytes(slot->value) : 0;
      const absl::Status folded = fold(slot->value, /*live=*/true);
      if (this->has_store()) Grow(*slot, HeapBytes(slot->value) - bytes);
      // A function that failed half-way leaves a change, too.
      MarkChanged(*slot);
      MAYFLY_RETURN_IF_ERROR(folded);
      MAYFLY_RETURN_IF_ERROR(this->CheckSize(slot->value));
    } else {
      if (slot != nullptr && slot->present) CountRemoved(*slot);
      T fresh{};
      MAYFLY_RETURN_IF_ERROR(fold(fresh, /*live=*/false));
      MAYFLY_RETURN_IF_ERROR(this->CheckSize(fresh));
      if (slot == nullptr) slot = this->FindOrInsertSlot().first;
      Exchange(*slot, std::move(fresh));
    }
    Stamp(*slot, timestamp_ms);
    return absl::OkStatus();
  }

  absl::Status Erase() {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    if (this->has_store()) {
      Remove(*this->FindOrInsertSlot().first);
    } else {
      this->EraseSlot();
    }
    return absl::OkStatus();
  }

 private:
  using Base::memory;
  using Base::slots;

  static std::size_t MemoryOf(const Slot& slot) {
    return HeapBytes(slot.value);
  }
  static bool IsPinned(const Slot& slot) { return slot.changed; }
  static bool IsVacant(const Slot& slot) { return !slot.present; }
  static std::size_t EntriesIn(const Slot&) { return 1; }

  void VisitSlot(const K& key, const Slot& slot, EntryBytes& bytes,
                 const EntryVisitor& visit) const {
    bytes.key.clear();
    bytes.value.clear();
    Serializer<K>::Serialize(key, bytes.key);
    this->EncodeValue(slot.value, slot.timestamp_ms, bytes.value);
    visit(bytes.key, bytes.value);
  }

  static void SweepSlot(Slot& slot, SegmentSweep& sweep) {
    if (!sweep.Removes(slot.timestamp_ms)) return;
    slot.present = false;
    sweep.counts.bytes += kHashMapEntryBytes<K, Slot> + MemoryOf(slot);
  }

  bool SweepCached(const K&, Slot& slot, TimestampMs purge_ms) {
    if (!this->policy().rule.IsExpired(slot.timestamp_ms, purge_ms)) {
      return false;
    }
    if (!slot.changed) return true;
    // What the store holds has to go, too.
    if (std::exchange(slot.present, false)) Exchange(slot, T{});
    return false;
  }

  auto BeginCall() {
    this->CountAccess();
    return loan_.Recall();
  }

  // Reads all but a live value in the table. Apart from Read(), whose quick way
  // it must not slow down.
  [[gnu::noinline]] absl::StatusOr<const T*> ReadOther(Slot* slot,
                                                       TimestampMs now_ms) {
    if (slot == nullptr) {
      if (!this->has_store()) return nullptr;
      MAYFLY_ASSIGN_OR_RETURN(const bool found, Fetch());
      if (!found) return nullptr;
      if (this->policy().OnRead(fetched_.timestamp_ms, now_ms) ==
              ReadOutcome::kLive &&
          !this->Admit(this->hash())) {
        return loan_.Lend(fetched_.value);
      }
      slot = &InsertFetched();
    }
    slot->used = true;
    if (!slot->present) return nullptr;
    switch (this->policy().OnRead(slot->timestamp_ms, now_ms)) {
      case ReadOutcome::kLive:
        break;
      case ReadOutcome::kRefresh:
        this->BeforeChange(*slot);
        slot->timestamp_ms = now_ms;
        MarkChanged(*slot);
        break;
      case ReadOutcome::kHidden:
        if (this->policy().return_expired) break;
        return nullptr;
      case ReadOutcome::kExpired:
        CountRemoved(*slot);
        expired_ = Remove(*slot);
        if (!this->policy().return_expired) return nullptr;
        return loan_.Lend(expired_);
    }
    return loan_.Lend(slot->value);
  }

  // Reads the current key's value from the store into fetched_; false if there
  // is none.
  absl::StatusOr<bool> Fetch() {
    key_bytes_.clear();
    Serializer<K>::Serialize(this->key(), key_bytes_);
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            this->store().Get(key_bytes_));
    if (!found) return false;
    MAYFLY_RETURN_IF_ERROR(this->DecodeValue(
        key_bytes_, found->bytes, fetched_.value, fetched_.timestamp_ms));
    return true;
  }

  Slot& InsertFetched() {
    Slot& slot = *this->FindOrInsertSlot().first;
    Exchange(slot, std::move(fetched_.value));
    slot.timestamp_ms = fetched_.timestamp_ms;
    slot.present = true;
    return slot;
  }

  // Accounts for a value that takes so many bytes more; less, if it wraps.
  void Grow(const Slot& slot, std::size_t bytes) {
    memory().used += bytes;
    if (slot.changed) memory().changed += bytes;
  }

  // Puts a value into a slot and returns the one that was there.
  T Exchange(Slot& slot, T value) {
    if (this->has_store()) Grow(slot, HeapBytes(value) - HeapBytes(slot.value));
    return std::exchange(slot.value, std::move(value));
  }

  void Stamp(Slot& slot, TimestampMs timestamp_ms) {
    slot.timestamp_ms = timestamp_ms;
    slot.present = true;
    slot.used = true;
    MarkChanged(slot);
  }

  void MarkChanged(Slot& slot) {
    if (!this->has_store() || slot.changed) return;
    slot.changed = true;
    memory().changed += Base::MemoryOf(this->key(), slot);
    changes_.Add(this->hashed_key());
  }

  // An access has met the current key's value and found it expired.
  void CountRemoved(const Slot& slot) {
    Base::CountRemoved(1, Base::MemoryOf(this->key(), slot));
  }

  // Removes the current key's value and returns it.
  T Remove(Slot& slot) {
    this->BeforeChange(slot);
    T removed = Exchange(slot, T{});
    if (this->has_store()) {
      slot.present = false;
      MarkChanged(slot);
    } else {
      this->EraseSlot();
    }
    return removed;
  }

  ChangeList<HashedKey<K>> changes_;
  std::string key_bytes_;
  // What was last read from the store; returned itself if it was not admitted.
  Slot fetched_;
  // The value last removed by a read, which may have been returned.
  T expired_{};
  Loan<T> loan_;
};

}  // namespace mayfly::state_internal
