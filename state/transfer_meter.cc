#include "state/transfer_meter.h"

#include <utility>

namespace mayfly::state_internal {

TransferMeter::TransferMeter(Report report, const std::atomic<bool>* stop)
    : report_(std::move(report)), stop_(stop) {}

bool TransferMeter::CountKey(std::string_view key, std::string_view value) {
  ++progress_.keys_done;
  progress_.bytes_done += key.size() + value.size();
  constexpr std::uint64_t kKeysPerReport = 8192;
  if (progress_.keys_done % kKeysPerReport == 0) Tell();
  return stop_ == nullptr || !stop_->load(std::memory_order_relaxed);
}

TransferProgress TransferMeter::Finish() {
  progress_.keys_total = progress_.keys_done;
  Tell();
  return progress_;
}

}  // namespace mayfly::state_internal
