// A subject that does one operation for each of a sequence of items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/harness/fence.h"
#include "bench/harness/keys.h"
#include "bench/harness/workload.h"

namespace mayfly::bench {

enum class Pace {
  kBackToBack,  // As fast as the processor overlaps operations.
  kApart,       // Each operation begins when the one before it has ended.
};

// What operations act on, in order: keys, or pairs of key and map key.
template <typename Item>
using ItemsOf = std::function<std::vector<Item>(int repetition)>;

// `Operation` and `ReadBack` take a store and an item and return the checksum
// of what they read. A store has Flush(), which makes what was written stored.
template <typename Store, typename Item, typename Operation, typename ReadBack>
class ItemSubject final : public Subject {
 public:
  ItemSubject(std::unique_ptr<Store> store, ItemsOf<Item> items_of,
              Operation operation, ReadBack read_back, Pace pace)
      : store_(std::move(store)),
        items_of_(std::move(items_of)),
        operation_(std::move(operation)),
        read_back_(std::move(read_back)),
        pace_(pace) {}

  void Prepare(int repetition) override { items_ = items_of_(repetition); }

  std::uint64_t Run() override {
    std::uint64_t checksum = 0;
    for (const Item& item : items_) {
      checksum += operation_(*store_, item);
      if (pace_ == Pace::kApart) Fence();
    }
    store_->Flush();
    return checksum;
  }

  std::uint64_t CheckWritten() override {
    constexpr std::size_t kStride = 101;
    std::uint64_t checksum = 0;
    for (std::size_t i = 0; i < items_.size(); i += kStride) {
      checksum += read_back_(*store_, items_[i]);
    }
    return checksum;
  }

 private:
  const std::unique_ptr<Store> store_;
  const ItemsOf<Item> items_of_;
  Operation operation_;
  ReadBack read_back_;
  const Pace pace_;
  std::vector<Item> items_;
};

// What to do with a store, whichever it is.
template <typename Item, typename Operation, typename ReadBack>
struct Work {
  ItemsOf<Item> items_of;
  Operation operation;
  ReadBack read_back;
  Pace pace = Pace::kBackToBack;

  template <typename Store>
  std::unique_ptr<Subject> On(std::unique_ptr<Store> store) const {
    return std::make_unique<ItemSubject<Store, Item, Operation, ReadBack>>(
        std::move(store), items_of, operation, read_back, pace);
  }
};

// clang 14 cannot work it out.
template <typename Item, typename Operation, typename ReadBack>
Work(std::function<std::vector<Item>(int)>, Operation, ReadBack,
     Pace = Pace::kBackToBack) -> Work<Item, Operation, ReadBack>;

// For operations that read: their own checksums say enough.
struct NoReadBack {
  template <typename Store, typename Item>
  std::uint64_t operator()(Store&, const Item&) const {
    return 0;
  }
};

}  // namespace mayfly::bench
