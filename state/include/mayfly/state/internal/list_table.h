// List state over a table.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/status_macros.h"
#include "mayfly/state/internal/admission_filter.h"
#include "mayfly/state/internal/memory_usage.h"
#include "mayfly/state/internal/state_table.h"
#include "mayfly/state/list_state.h"

namespace mayfly::state_internal {

template <typename K, typename T>
class ListTable final : public ListState<T>, public StateTable {
 public:
  ListTable(TableContext context, const CurrentKey<K>* current)
      : StateTable(std::move(context)), current_(current) {}

  absl::StatusOr<ListRange<T>> Get() override {
    if (!current_->key) return NoCurrentKey();
    const TimestampMs now_ms = policy().Now();
    Slot* slot = slots_.Find(*current_->key, current_->hash);
    if (slot == nullptr || !slot->complete) {
      if (!has_store()) return ListRange<T>();
      MAYFLY_ASSIGN_OR_RETURN(const bool found, Fetch());
      if (!found && slot == nullptr) return ListRange<T>();
      if (slot == nullptr && !ReadChanges(fetched_, now_ms) &&
          !admission_.Admit(current_->hash, memory())) {
        return ListRange<T>(fetched_.elements);
      }
      slot = &Complete();
    }
    slot->used = true;
    return policy().enabled() ? ReadUnderTtl(*slot, now_ms)
                              : ListRange<T>(slot->elements);
  }

  absl::Status Add(T element) override {
    if (!current_->key) return NoCurrentKey();
    MAYFLY_RETURN_IF_ERROR(CheckSize(element));
    Slot& slot = FindOrInsert();
    Append(slot, std::move(element), policy().Now());
    MarkChanged(slot);
    return absl::OkStatus();
  }

  absl::Status AddAll(std::vector<T> elements) override {
    if (!current_->key) return NoCurrentKey();
    if (elements.empty()) return absl::OkStatus();
    MAYFLY_RETURN_IF_ERROR(CheckSizes(elements));
    Slot& slot = FindOrInsert();
    AppendAll(slot, std::move(elements));
    MarkChanged(slot);
    return absl::OkStatus();
  }

  absl::Status Update(std::vector<T> elements) override {
    if (!current_->key) return NoCurrentKey();
    MAYFLY_RETURN_IF_ERROR(CheckSizes(elements));
    Slot& slot = FindOrInsert();
    RemoveAll(slot);
    if (elements.empty()) {
      EraseIfEmpty(slot);
      return absl::OkStatus();
    }
    AppendAll(slot, std::move(elements));
    return absl::OkStatus();
  }

  absl::Status Clear() override { return Update({}); }

  absl::Status WriteChanges(ChangeWriter& writer) override {
    std::string list_bytes;
    for (const auto& change : changes_.InKeyOrder(AppendKey)) {
      const Slot& slot = *slots_.Find(change.id->key, change.id->hash);
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
      Slot& slot = *slots_.Find(key, hash);
      if (slot.elements.empty() || !slot.complete) {
        // Nothing is left, or only elements that alone say nothing of the
        // list: the next read fetches all of it.
        memory().used -= MemoryOf(key, slot);
        slots_.Erase(key, hash);
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
    std::string list_bytes;
    for (const auto& [key, slot] : slots_.segment(segment)) {
      key_bytes.clear();
      list_bytes.clear();
      Serializer<K>::Serialize(key, key_bytes);
      EncodeElements(slot.elements, 0, list_bytes);
      visit(key_bytes, list_bytes);
    }
  }

  absl::Status Load(std::string_view key_bytes,
                    std::string_view stored) override {
    K key{};
    if (absl::Status status = Serializer<K>::Deserialize(key_bytes, key);
        !status.ok()) {
      return Damaged(key_bytes, ToStd(status.message()));
    }
    Slot loaded;
    MAYFLY_RETURN_IF_ERROR(Decode(key_bytes, stored, loaded.elements));
    loaded.complete = true;
    *slots_.FindOrInsert(key, slots_.HashOf(key)).first = std::move(loaded);
    return absl::OkStatus();
  }

 private:
  using Element = StampedElement<T>;

  struct Slot {
    std::vector<Element> elements;
    // Elements at the front that the store holds; the rest were added since.
    std::size_t stored_elements = 0;
    // Expired elements that the store still holds behind our back.
    std::size_t hidden_elements = 0;
    // Merge operands beneath, as far as is known.
    std::uint64_t merge_operands = 0;
    // `elements` is the whole list, not just what was added.
    bool complete = false;
    // What the store holds is wrong, not merely short of the new elements.
    bool rewrite = false;
    // It is in changes_.
    bool changed = false;
    // Accessed since eviction last came by.
    bool used = false;
  };

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

  static void AppendKey(const HashedKey<K>& id, std::string& out) {
    Serializer<K>::Serialize(id.key, out);
  }

  static std::size_t MemoryOf(const K& key, const Slot& slot) {
    return kHashMapEntryBytes<K, Slot> + HeapBytes(key) +
           ElementsMemory(slot.elements);
  }

  static std::size_t ElementsMemory(const std::vector<Element>& elements) {
    std::size_t bytes = elements.capacity() * sizeof(Element);
    if constexpr (!std::is_trivially_copyable_v<T>) {
      for (const Element& element : elements) bytes += HeapBytes(element.value);
    }
    return bytes;
  }

  // Applies the TTL rule to each element at once, so that the range holds just
  // what is visible.
  ListRange<T> ReadUnderTtl(Slot& slot, TimestampMs now_ms) {
    std::size_t expired = 0;
    bool refresh = false;
    for (const Element& element : slot.elements) {
      const ReadOutcome outcome = policy().OnRead(element.timestamp_ms, now_ms);
      expired += outcome == ReadOutcome::kExpired ? 1 : 0;
      refresh |= outcome == ReadOutcome::kRefresh;
    }
    const bool show_expired = expired > 0 && policy().return_expired;
    if (show_expired) shown_ = slot.elements;
    if (expired > 0) RemoveExpired(slot, now_ms);
    if (refresh) {
      for (Element& element : slot.elements) element.timestamp_ms = now_ms;
      slot.rewrite = true;
      MarkChanged(slot);
    }
    if (!show_expired && !slot.elements.empty()) {
      return ListRange<T>(slot.elements);
    }
    EraseIfEmpty(slot);
    return show_expired ? ListRange<T>(shown_) : ListRange<T>();
  }

  void RemoveExpired(Slot& slot, TimestampMs now_ms) {
    std::size_t stored = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < slot.elements.size(); ++i) {
      Element& element = slot.elements[i];
      if (policy().rule.IsExpired(element.timestamp_ms, now_ms)) {
        if (i < slot.stored_elements) ++slot.hidden_elements;
        if (has_store()) memory().used -= HeapBytes(element.value);
        continue;
      }
      stored += i < slot.stored_elements ? 1 : 0;
      if (kept != i) slot.elements[kept] = std::move(element);
      ++kept;
    }
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
    Serializer<K>::Serialize(*current_->key, key_bytes_);
    fetched_.elements.clear();
    fetched_.merge_operands = 0;
    MAYFLY_ASSIGN_OR_RETURN(const std::optional<ByteStore::Found> found,
                            store().Get(key_bytes_));
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
    memory().used -= ElementsMemory(slot.elements);
    slot.stored_elements = fetched_.elements.size();
    std::vector<Element> elements = std::move(fetched_.elements);
    elements.insert(elements.end(),
                    std::make_move_iterator(slot.elements.begin()),
                    std::make_move_iterator(slot.elements.end()));
    slot.elements = std::move(elements);
    slot.complete = true;
    memory().used += ElementsMemory(slot.elements);
    // A changed list stays in the table whole.
    if (slot.changed) memory().changed += ElementsMemory(slot.elements);
    slot.merge_operands = fetched_.merge_operands;
    if (slot.merge_operands >= kMergeOperandsCollapsed) {
      slot.rewrite = true;
      MarkChanged(slot);
    }
    return slot;
  }

  absl::Status Decode(std::string_view key_bytes, std::string_view stored,
                      std::vector<Element>& elements) const {
    ListReader reader(stored, format());
    while (const std::optional<EntryView> view = reader.Next()) {
      Element& element = elements.emplace_back();
      element.timestamp_ms = view->timestamp_ms;
      if (absl::Status status =
              Serializer<T>::Deserialize(view->bytes, element.value);
          !status.ok()) {
        return Damaged(key_bytes, ToStd(status.message()));
      }
    }
    if (reader.malformed()) {
      return Damaged(key_bytes, "the stored list has no valid framing");
    }
    return absl::OkStatus();
  }

  void EncodeElements(const std::vector<Element>& elements, std::size_t from,
                      std::string& out) const {
    std::string payload;
    for (std::size_t i = from; i < elements.size(); ++i) {
      payload.clear();
      Serializer<T>::Serialize(elements[i].value, payload);
      if (format() == EntryFormat::kStamped) {
        AppendListElement(elements[i].timestamp_ms, payload, out);
      } else {
        AppendUnstampedListElement(payload, out);
      }
    }
  }

  absl::Status CheckSizes(const std::vector<T>& elements) const {
    for (const T& element : elements) {
      MAYFLY_RETURN_IF_ERROR(CheckSize(element));
    }
    return absl::OkStatus();
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

  void Append(Slot& slot, T element, TimestampMs now_ms) {
    const std::size_t capacity = slot.elements.capacity();
    const std::size_t heap_bytes = HeapBytes(element);
    slot.elements.push_back(Element{std::move(element), now_ms});
    if (!has_store()) return;
    const std::size_t grown =
        heap_bytes + (slot.elements.capacity() - capacity) * sizeof(Element);
    memory().used += grown;
    if (slot.changed) memory().changed += grown;
  }

  // All of them get one timestamp.
  void AppendAll(Slot& slot, std::vector<T> elements) {
    const TimestampMs now_ms = policy().Now();
    for (T& element : elements) Append(slot, std::move(element), now_ms);
  }

  // Empties the current key's list whatever the store holds of it.
  void RemoveAll(Slot& slot) {
    if (has_store()) memory().used -= ElementsMemory(slot.elements);
    // Not `= {}`, which would keep the capacity.
    slot.elements = std::vector<Element>();
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
      slots_.Erase(*current_->key, current_->hash);
    }
  }

  void MarkChanged(Slot& slot) {
    if (!has_store() || slot.changed) return;
    slot.changed = true;
    memory().changed += MemoryOf(*current_->key, slot);
    changes_.Add({*current_->key, current_->hash});
  }

  const CurrentKey<K>* current_;
  SegmentedMap<K, Slot> slots_;
  ChangeList<HashedKey<K>> changes_;
  std::string key_bytes_;
  AdmissionFilter admission_;
  // What was last read from the store; returned itself if it was not admitted.
  Slot fetched_;
  // What was returned last, if it held expired elements that are now removed.
  std::vector<Element> shown_;
};

}  // namespace mayfly::state_internal
