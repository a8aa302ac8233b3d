// Entries framed as a snapshot has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mayfly/serde/internal/varint.h"

namespace mayfly::state_internal {

// Entries of one state that are compressed together.
// Threads: one.
class EntryBlock {
 public:
  void Add(std::string_view key, std::string_view value) {
    ++entries_;
    bytes_ += key.size() + value.size();
    serde_internal::AppendLength(key.size(), content_);
    content_.append(key);
    serde_internal::AppendLength(value.size(), content_);
    content_.append(value);
  }

  void Clear() { *this = EntryBlock(); }

  bool empty() const { return content_.empty(); }
  // Whether the next entry belongs into another block.
  bool full() const { return content_.size() >= kContentBytes; }
  std::uint64_t entries() const { return entries_; }
  // Of keys and values.
  std::uint64_t bytes() const { return bytes_; }
  const std::string& content() const { return content_; }

 private:
  static constexpr std::size_t kContentBytes = std::size_t{256} << 10;

  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::string content_;
};

}  // namespace mayfly::state_internal
