// Counts what goes through a transfer, reports it, and stops it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "mayfly/state/transfer_progress.h"

namespace mayfly::state_internal {

// Threads: one.
class TransferMeter {
 public:
  using Report = std::function<void(const TransferProgress&)>;

  // Both may be null. `stop` must outlive this.
  TransferMeter(Report report, const std::atomic<bool>* stop);

  void ExpectKeys(std::uint64_t keys) { progress_.keys_total += keys; }

  // Counts a key that was read; false if the transfer is to stop.
  bool CountKey(std::string_view key, std::string_view value);

  void CountExpired() { ++progress_.keys_expired; }

  // Reports for the last time: all that was expected is what was read.
  TransferProgress Finish();

 private:
  void Tell() const {
    if (report_ != nullptr) report_(progress_);
  }

  const Report report_;
  const std::atomic<bool>* const stop_;
  TransferProgress progress_;
};

}  // namespace mayfly::state_internal
