// List state over a table.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/state/internal/keyed_table.h"
#include "mayfly/state/internal/loan.h"
#include "mayfly/state/list_state.h"

namespace mayfly::state_internal {

template <typename T>
struct ListSlot {
  std::vector<StampedElement<T>> elements;
  // Elements at the front that the store holds; the rest were added since.
  std::size_t stored_elements = 0;
  // Expired elements that the store still holds behind our back.
  std::size_t hidden_elements = 0;
  // Merge operands beneath, as far as is known.
  std::uint64_t merge_operands = 0;
  // As KeyedTable has it.
  std::uint32_t saved = 0;
  // `elements` is the whole list, not just what was added.
  bool complete = false;
  // What the store holds is wrong, not merely short of the new elements.
  bool rewrite = false;
  // It is in changes_.
  bool changed = false;
  // Accessed since eviction last came by.
  bool used = false;
};

template <typename K, typename T>
class ListTable final
    : public ListState<T>,
      public KeyedTable<ListTable<K, T>, K, ListSlot<T>, kSegmentOfContainers> {
  using Base = KeyedTable<ListTable, K, ListSlot<T>, kSegmentOfContainers>;
  using Slot = ListSlot<T>;
  using Element = StampedElement<T>;
  using Elements = std::vector<Element>;
  friend Base;

 public:
  using Base::Base;

  absl::StatusOr<ListRange<T>> Get() override {
    if (!this->has_key()) return this->NoCurrentKey();
    const auto recalled = BeginCall();
    const TimestampMs now_ms = policy().Now();
    Slot* slot = this->FindSlot();
    if (slot == nullptr || !slot->complete) {
      if (!has_store()) return ListRange<T>();
      MAYFLY_ASSIGN_OR_RETURN(const bool found, Fetch());
      if (!found && slot == nullptr) return ListRange<T>();
      if (slot == nullptr && !ReadChanges(fetched_, now_ms) &&
          !this->Admit(this->hash())) {
        return Lend(fetched_.elements);
      }
      slot = &Complete();
    }
    slot->used = true;
    return policy().enabled() ? ReadUnderTtl(*slot, now_ms)
                              : Lend(slot->elements);
  }

  absl::Status Add(T element) override {
    if (!this->has_key()) return this->NoCurrentKey();
    return AddOne(std::move(element), policy().Now());
  }

  absl::Status Add(T element, std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, policy().Now()));
    return AddOne(std::move(element), timestamp_ms);
  }

  absl::Status AddAll(std::vector<T> elements) override {
    if (!this->has_key()) return this->NoCurrentKey();
    return AddMany(std::move(elements), policy().Now());
  }

  absl::Status AddAll(std::vector<T> elements,
                      std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, policy().Now()));
    return AddMany(std::move(elements), timestamp_ms);
  }

  absl::Status Update(std::vector<T> elements) override {
    if (!this->has_key()) return this->NoCurrentKey();
    return Replace(std::move(elements), policy().Now());
  }

  absl::Status Update(std::vector<T> elements,
                      std::chrono::milliseconds ttl) override {
    if (!this->has_key()) return this->NoCurrentKey();
    MAYFLY_ASSIGN_OR_RETURN(const TimestampMs timestamp_ms,
                            this->StampFor(ttl, policy().Now()));
    return Replace(std::move(elements), timestamp_ms);
  }

  absl::Status Clear() override { return Update({}); }

  absl::Status WriteChanges(ChangeWriter& writer) override {
    std::string list_bytes;
    for (const auto& change : changes_.InKeyOrder(this->AppendKey)) {
      const Slot& slot = *slots().Find(change.id->key, change.id->hash);
      list_bytes.clear();
      switch (HowToWrite(slot)) {
        case Write::kNothing:
          break;
        case Write::kDelete:
          writer.Delete(change.key_bytes);
          break;
        case Write::kPut:
          EncodeElements(slot.elements, 0, list_bytes);
          writer.Put(change.key_bytes, list_bytes);
          break;
        case Write::kMerge:
          EncodeElements(slot.elements, slot.stored_elements, list_bytes);
          writer.Merge(change.key_bytes, list_bytes);
          break;
      }
    }
    return absl::OkStatus();
  }

  void MarkCommitted() override {
    for (const auto& [key, hash] : changes_.ids()) {
      Slot& slot = *slots().Find(key, hash);
      if (slot.elements.empty() || !slot.complete) {
        // Nothing is left, or only elements that alone say nothing of the
        // list: the next read fetches all of it.
        memory().used -= Base::MemoryOf(key, slot);
        slots().Erase(key, hash);
        continue;
      }
      if (HowToWrite(slot) == Write::kPut) {
        slot.merge_operands = 0;
        slot.hidden_elements = 0;
        slot.rewrite = false;
      } else if (slot.stored_elements < slot.elements.size()) {
        ++slot.merge_operands;
      }
      slot.stored_elements = slot.elements.size();
      slot.changed = false;
    }
    changes_.Clear();
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    MAYFLY_ASSIGN_OR_RETURN(const K key,
                            this->template DecodeKey<K>(key_bytes, key_bytes));
    Slot loaded;
    MAYFLY_RETURN_IF_ERROR(Decode(key_bytes, stored, loaded.elements));
    loaded.complete = true;
    *slots().FindOrInsert(key, slots().HashOf(key)).first = std::move(loaded);
    return absl::OkStatus();
  }

  void Recall() override { static_cast<void>(loan_.Recall()); }

 private:
  using Base::has_store;
  using Base::memory;
  using Base::policy;
  using Base::slots;

  enum class Write { kNothing, kDelete, kPut, kMerge };

  // A list with this many operands is rewritten when it is written anyway, so
  // that reads need not put them together.
  static constexpr std::uint64_t kMergeOperandsMax = 16;
  // A read that met this many has the list rewritten for the next one.
  static constexpr std::uint64_t kMergeOperandsCollapsed = 8;

  static Write HowToWrite(const Slot& slot) {
    if (!slot.complete) return Write::kMerge;
    if (slot.elements.empty()) return Write::kDelete;
    // Hidden elements cost reads little; rewriting at each one that expires
    // would write a long list over and over.
    if (slot.rewrite || slot.hidden_elements * 2 >= slot.elements.size() ||
        slot.merge_operands >= kMergeOperandsMax) {
      return Write::kPut;
    }
    return slot.stored_elements < slot.elements.size() ? Write::kMerge
                                                       : Write::kNothing;
  }

  static std::size_t MemoryOf(const Slot& slot) {
    return ElementsMemory(slot.elements);
  }
  static std::size_t MemoryOf(const Element& element) {
    return sizeof(Element) + HeapBytes(element.value);
  }
  static bool IsPinned(const Slot& slot) { return slot.changed; }
  static bool IsVacant(const Slot& slot) { return slot.elements.empty(); }
  static std::size_t EntriesIn(const Slot& slot) {
    return slot.elements.size();
  }

  void VisitSlot(const K& key, const Slot& slot, EntryBytes& bytes,
                 const EntryVisitor& visit) const {
    bytes.key.clear();
    bytes.value.clear();
    Serializer<K>::Serialize(key, bytes.key);
    EncodeElements(slot.elements, 0, bytes.value);
    visit(bytes.key, bytes.value);
  }

  static void SweepSlot(Slot& slot, SegmentSweep& sweep) {
    std::erase_if(slot.elements, [&](const Element& element) {
      if (!sweep.Removes(element.timestamp_ms)) return false;
      sweep.counts.bytes += MemoryOf(element);
      return true;
    });
    if (slot.elements.size() < slot.elements.capacity() / 4) {
      slot.elements.shrink_to_fit();
    }
  }

  // A list of which something has expired is read anew when it is wanted.
  bool SweepCached(const K&, const Slot& slot, TimestampMs purge_ms) const {
    return !slot.changed &&
           std::any_of(slot.elements.begin(), slot.elements.end(),
                       [&](const Element& element) {
                         return policy().rule.IsExpired(element.timestamp_ms,
                                                        purge_ms);
                       });
  }

  static std::size_t ElementsMemory(const Elements& elements) {
    std::size_t bytes = elements.capacity() * sizeof(Element);
    if constexpr (!std::is_trivially_copyable_v<T>) {
      for (const Element& element : elements) bytes += HeapBytes(element.value);
    }
    return bytes;
  }

  auto BeginCall() {
    this->CountAccess();
    return loan_.Recall();
  }

  ListRange<T> Lend(const Elements& elements) {
    return ListRange<T>(*loan_.Lend(elements));
  }

  absl::Status AddOne(T element, TimestampMs timestamp_ms) {
    const auto recalled = BeginCall();
    MAYFLY_RETURN_IF_ERROR(this->CheckSize(element));
    Slot& slot = FindOrInsert();
    Append(slot, std::move(element), timestamp_ms);
    MarkChanged(slot);
    return absl::OkStatus();
  }

  absl::Status AddMany(std::vector<T> elements, TimestampMs timestamp_ms) {
    const auto recalled = BeginCall();
    if (elements.empty()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(CheckSizes(elements));
    Slot& slot = FindOrInsert();
    AppendAll(slot, std::move(elements), timestamp_ms);
    MarkChanged(slot);
    return absl::OkStatus();
  }

  absl::Status Replace(std::vector<T> elements, TimestampMs timestamp_ms) {
    const auto recalled = BeginCall();
    MAYFLY_RETURN_IF_ERROR(CheckSizes(elements));
    if (elements.empty() && !has_store()) {
      this->EraseSlot();
      return absl::OkStatus();
    }
    Slot& slot = FindOrInsert();
    RemoveAll(slot);
    AppendAll(slot, std::move(elements), timestamp_ms);
    return absl::OkStatus();
  }

  // Applies the TTL rule to each element at once, so that the range holds just
  // what is visible.
  ListRange<T> ReadUnderTtl(Slot& slot, TimestampMs now_ms) {
    std::size_t expired = 0;
    std::size_t hidden = 0;
    bool refresh = false;
    for (const Element& element : slot.elements) {
      const ReadOutcome outcome = policy().OnRead(element.timestamp_ms, now_ms);
      expired += outcome == ReadOutcome::kExpired ? 1 : 0;
      hidden += outcome == ReadOutcome::kHidden ? 1 : 0;
      refresh |= outcome == ReadOutcome::kRefresh;
    }
    // Whether what is visible differs from what stays in the list.
    const bool apart = (policy().return_expired ? expired : hidden) > 0;
    if (apart) shown_ = slot.elements;
    if (expired > 0 || refresh) this->BeforeChange(slot);
    if (expired > 0) RemoveExpired(slot);
    if (refresh) Refresh(slot, now_ms);
    if (apart) {
      if (!policy().return_expired) {
        std::erase_if(shown_, [&](const Element& element) {
          return policy().rule.IsExpired(element.timestamp_ms, now_ms);
        });
      }
      EraseIfEmpty(slot);
      return Lend(shown_);
    }
    if (!slot.elements.empty()) return Lend(slot.elements);
    EraseIfEmpty(slot);
    return ListRange<T>();
  }

  // The list is written as a whole, so all that lives in it is renewed.
  void Refresh(Slot& slot, TimestampMs now_ms) {
    for (Element& element : slot.elements) {
      if (policy().rule.IsExpired(element.timestamp_ms, now_ms)) continue;
      element.timestamp_ms = std::max(element.timestamp_ms, now_ms);
    }
    slot.rewrite = true;
    MarkChanged(slot);
  }

  void RemoveExpired(Slot& slot) {
    const TimestampMs purge_ms = policy().PurgeMs();
    std::size_t stored = 0;
    std::size_t kept = 0;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < slot.elements.size(); ++i) {
      Element& element = slot.elements[i];
      if (policy().rule.IsExpired(element.timestamp_ms, purge_ms)) {
        if (i < slot.stored_elements) ++slot.hidden_elements;
        bytes += MemoryOf(element);
        Grow(slot, -HeapBytes(element.value));
        continue;
      }
      stored += i < slot.stored_elements ? 1 : 0;
      if (kept != i) slot.elements[kept] = std::move(element);
      ++kept;
    }
    this->CountRemoved(slot.elements.size() - kept, bytes);
    slot.elements.resize(kept);
    slot.stored_elements = stored;
    // Who may see expired elements must not see these again.
    slot.rewrite |= policy().return_expired;
    if (HowToWrite(slot) != Write::kNothing) MarkChanged(slot);
  }

  // Reads the current key's list from the store into fetched_; false, and none,
  // if the store holds none.
  absl::StatusOr<bool> Fetch() {
    key_bytes_.clear();
    Serializer<K>::Serialize(this->key(), key_bytes_);
    fetched_.elements.clear();
    fetched_.merge_operands = 0;
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            this->store().Get(key_bytes_));
    if (!found) return false;
    fetched_.merge_operands = found->merge_operands;
    MAYFLY_RETURN_IF_ERROR(Decode(key_bytes_, found->bytes, fetched_.elements));
    return true;
  }

  // Whether a read of this list, as fetched, has something to write.
  bool ReadChanges(const Slot& fetched, TimestampMs now_ms) const {
    return fetched.merge_operands >= kMergeOperandsCollapsed ||
           std::any_of(fetched.elements.begin(), fetched.elements.end(),
                       [&](const Element& element) {
                         return policy().OnRead(element.timestamp_ms, now_ms) !=
                                ReadOutcome::kLive;
                       });
  }

  // Puts what was fetched before what was added to the list since.
  Slot& Complete() {
    Slot& slot = FindOrInsert();
    const std::size_t before = ElementsMemory(slot.elements);
    slot.stored_elements = fetched_.elements.size();
    Elements elements = std::move(fetched_.elements);
    elements.insert(elements.end(),
                    std::make_move_iterator(slot.elements.begin()),
                    std::make_move_iterator(slot.elements.end()));
    slot.elements = std::move(elements);
    slot.complete = true;
    Grow(slot, ElementsMemory(slot.elements) - before);
    slot.merge_operands = fetched_.merge_operands;
    if (slot.merge_operands >= kMergeOperandsCollapsed) {
      slot.rewrite = true;
      MarkChanged(slot);
    }
    return slot;
  }

  absl::Status Decode(std::string_view key_bytes, std::string_view stored,
                      Elements& elements) const {
    ListReader reader(stored, this->format());
    while (const std::optional<EntryView> view = reader.Next()) {
      Element& element = elements.emplace_back();
      element.timestamp_ms = view->timestamp_ms;
      if (absl::Status status =
              Serializer<T>::Deserialize(view->bytes, element.value);
          !status.ok()) {
        return this->Damaged(key_bytes, ToStd(status.message()));
      }
    }
    if (reader.malformed()) {
      return this->Damaged(key_bytes, "the stored list has no valid framing");
    }
    return absl::OkStatus();
  }

  void EncodeElements(const Elements& elements, std::size_t from,
                      std::string& out) const {
    std::string payload;
    for (std::size_t i = from; i < elements.size(); ++i) {
      payload.clear();
      Serializer<T>::Serialize(elements[i].value, payload);
      if (this->format() == EntryFormat::kStamped) {
        AppendListElement(elements[i].timestamp_ms, payload, out);
      } else {
        AppendUnstampedListElement(payload, out);
      }
    }
  }

  absl::Status CheckSizes(const std::vector<T>& elements) const {
    for (const T& element : elements) {
      MAYFLY_RETURN_IF_ERROR(this->CheckSize(element));
    }
    return absl::OkStatus();
  }

  Slot& FindOrInsert() {
    const auto [slot, inserted] = this->FindOrInsertSlot();
    if (inserted) slot->complete = !has_store();
    slot->used = true;
    return *slot;
  }

  // Accounts for elements that take so many bytes more; less, if it wraps.
  void Grow(const Slot& slot, std::size_t bytes) {
    if (!has_store()) return;
    memory().used += bytes;
    if (slot.changed) memory().changed += bytes;
  }

  void Append(Slot& slot, T element, TimestampMs timestamp_ms) {
    const std::size_t capacity = slot.elements.capacity();
    const std::size_t heap_bytes = HeapBytes(element);
    slot.elements.push_back(Element{std::move(element), timestamp_ms});
    Grow(slot,
         heap_bytes + (slot.elements.capacity() - capacity) * sizeof(Element));
  }

  void AppendAll(Slot& slot, std::vector<T> elements,
                 TimestampMs timestamp_ms) {
    for (T& element : elements) {
      Append(slot, std::move(element), timestamp_ms);
    }
  }

  // Empties the current key's list whatever the store holds of it.
  void RemoveAll(Slot& slot) {
    Grow(slot, -ElementsMemory(slot.elements));
    // Not `= {}`, which would keep the capacity.
    slot.elements = Elements();
    slot.stored_elements = 0;
    slot.hidden_elements = 0;
    slot.complete = true;
    slot.rewrite = true;
    MarkChanged(slot);
  }

  // On heap an empty list is absent; over a store its slot stands for the
  // deletion until the commit.
  void EraseIfEmpty(const Slot& slot) {
    if (!has_store() && slot.elements.empty()) {
      this->EraseSlot();
    }
  }

  void MarkChanged(Slot& slot) {
    if (!has_store() || slot.changed) return;
    slot.changed = true;
    memory().changed += Base::MemoryOf(this->key(), slot);
    changes_.Add(this->hashed_key());
  }

  ChangeList<HashedKey<K>> changes_;
  std::string key_bytes_;
  // What was last read from the store; returned itself if it was not admitted.
  Slot fetched_;
  // What was returned last, if it is not what the list holds.
  Elements shown_;
  Loan<Elements> loan_;
};

}  // namespace mayfly::state_internal
