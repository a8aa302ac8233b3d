#include "compaction/list_merge_operator.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "compaction/list_purge.h"
#include "mayfly/compaction/merged_operands.h"
#include "mayfly/serde/entry_codec.h"

namespace mayfly::compaction_internal {
namespace {

// In front of a piece that ends in the middle of an element. Without it that
// element would swallow the start of what is appended, and what follows might
// by chance read as elements: damage would pass for data, and be removed as
// such. No element has a negative timestamp, so reading stops here for ever.
constexpr TimestampMs kDamageMark = -1;

// True if reading `piece`, which is malformed, stops at its end and not at a
// negative timestamp: bytes appended to it could be taken for its own.
bool IsTorn(std::string_view piece) {
  ListReader reader(piece);
  while (reader.Next().has_value()) {
  }
  const std::string_view rest = reader.rest();
  return rest.size() < kTimestampBytes || ReadTimestamp(rest) >= 0;
}

// Puts the pieces of one list together.
class LiveConcatenation {
 public:
  // `bytes_max` is what `out` may come to.
  LiveConcatenation(const ColumnFamilyTtl& ttl, std::size_t bytes_max,
                    std::string& out)
      : out_(out) {
    // Promised empty, but an iterator hands over what it merged last.
    out_.clear();
    out_.reserve(bytes_max);
    const std::optional<PurgePoint> purge = ttl.ReadPurgePoint();
    if (purge.has_value()) {
      purge_ = *purge;
    } else {
      counters_.clock_failures = 1;
    }
  }

  void Append(std::string_view piece) {
    const ListScan scan = ScanList(piece, purge_);
    counters_.merge_elements_expired += scan.expired_elements;
    if (scan.verdict == ListVerdict::kDrop) return;
    MarkTornPiece();
    if (scan.verdict == ListVerdict::kRewrite) {
      AppendLive(piece, purge_, out_);
      return;
    }
    if (scan.verdict == ListVerdict::kMalformed) {
      ++counters_.merge_malformed;
      if (IsTorn(piece)) torn_at_ = out_.size();
    }
    out_.append(piece);
  }

  bool malformed() const { return counters_.merge_malformed > 0; }
  const CleanupCounters& counters() const { return counters_; }

 private:
  // Before anything is appended behind a torn piece.
  void MarkTornPiece() {
    if (!torn_at_.has_value()) return;
    std::string mark;
    AppendTimestamp(kDamageMark, mark);
    out_.insert(*torn_at_, mark);
    torn_at_.reset();
  }

  std::string& out_;
  PurgePoint purge_;  // Stays one that expires nothing if the clock fails.
  std::optional<std::size_t> torn_at_;
  CleanupCounters counters_;
};

// Runs a merge. RocksDB does not survive an exception.
template <typename Merge>
bool NoThrow(const Merge& merge) {
  try {
    return merge();
  } catch (...) {
    return false;
  }
}

template <typename Operands>
std::size_t TotalBytes(const Operands& operands) {
  std::size_t total = 0;
  for (const rocksdb::Slice& operand : operands) total += operand.size();
  return total;
}

// The base of a full merge; a list that does not exist is empty.
rocksdb::Slice Base(const rocksdb::MergeOperator::MergeOperationInput& input) {
  if (input.existing_value == nullptr) return {};
  return *input.existing_value;
}

}  // namespace

bool ListAppendOperator::FullMergeV2(const MergeOperationInput& input,
                                     MergeOperationOutput* output) const {
  return NoThrow([&] {
    merged_operands += input.operand_list.size();
    const rocksdb::Slice base = Base(input);
    // Promised empty, but an iterator hands over what it merged last.
    std::string& list = output->new_value;
    list.clear();
    list.reserve(base.size() + TotalBytes(input.operand_list));
    list.append(base.data(), base.size());
    for (const rocksdb::Slice& operand : input.operand_list) {
      list.append(operand.data(), operand.size());
    }
    return true;
  });
}

bool ListAppendOperator::PartialMergeMulti(
    const rocksdb::Slice& /*key*/, const std::deque<rocksdb::Slice>& operands,
    std::string* new_value, rocksdb::Logger* /*logger*/) const {
  return NoThrow([&] {
    new_value->clear();
    new_value->reserve(TotalBytes(operands));
    for (const rocksdb::Slice& operand : operands) {
      new_value->append(operand.data(), operand.size());
    }
    return true;
  });
}

TtlListAppendOperator::TtlListAppendOperator(
    std::shared_ptr<ColumnFamilyTtl> ttl)
    : ttl_(std::move(ttl)) {}

bool TtlListAppendOperator::FullMergeV2(const MergeOperationInput& input,
                                        MergeOperationOutput* output) const {
  return NoThrow([&] {
    merged_operands += input.operand_list.size();
    const rocksdb::Slice base = Base(input);
    LiveConcatenation list(*ttl_, base.size() + TotalBytes(input.operand_list),
                           output->new_value);
    list.Append(base.ToStringView());
    for (const rocksdb::Slice& operand : input.operand_list) {
      list.Append(operand.ToStringView());
    }
    ttl_->Count(list.counters());
    return true;
  });
}

bool TtlListAppendOperator::PartialMergeMulti(
    const rocksdb::Slice& /*key*/, const std::deque<rocksdb::Slice>& operands,
    std::string* new_value, rocksdb::Logger* /*logger*/) const {
  return NoThrow([&] {
    LiveConcatenation list(*ttl_, TotalBytes(operands), *new_value);
    for (const rocksdb::Slice& operand : operands) {
      list.Append(operand.ToStringView());
    }
    ttl_->Count(list.counters());
    // Kept apart, the readable ones among them can still expire.
    if (list.malformed()) new_value->clear();
    return !list.malformed();
  });
}

}  // namespace mayfly::compaction_internal
