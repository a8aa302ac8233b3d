// The first byte chooses layout and kind of record; the rest is a stored value.
// Whatever it is, the filter and a merge decide as a plain reading of the
// format says, and never read past its end.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mayfly/compaction/ttl_column_family.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/check.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/merge_operator.h"

namespace {

using rocksdb::CompactionFilter;
using rocksdb::MergeOperator;
using Decision = CompactionFilter::Decision;

class FixedClock : public mayfly::TtlClock {
 public:
  mayfly::TimestampMs NowMs() const override { return 1'000; }
};

// Entries of up to this time are expired.
constexpr mayfly::TimestampMs kExpired = 900;

rocksdb::ColumnFamilyOptions Configured(mayfly::EntryLayout layout) {
  rocksdb::ColumnFamilyOptions options;
  mayfly::ConfigureTtlColumnFamily(
      mayfly::ColumnFamilyTtl::Create(
          {.name = "fuzz", .layout = layout, .rule = {.ttl_ms = 100}},
          std::make_shared<FixedClock>())
          .value(),
      &options);
  return options;
}

// The live elements; nullopt if the list is malformed.
std::optional<std::string> LiveElements(std::string_view stored) {
  std::string live;
  mayfly::ListReader reader(stored);
  while (const auto element = reader.Next()) {
    if (element->timestamp_ms > kExpired) {
      mayfly::AppendListElement(element->timestamp_ms, element->bytes, live);
    }
  }
  if (reader.malformed()) return std::nullopt;
  return live;
}

Decision ExpectedForValue(std::string_view stored,
                          CompactionFilter::ValueType type) {
  const auto entry = mayfly::DecodeEntry(stored);
  const bool expired = entry.has_value() && entry->timestamp_ms <= kExpired;
  return expired && type == CompactionFilter::kValue ? Decision::kRemove
                                                     : Decision::kKeep;
}

Decision ExpectedForList(std::string_view stored) {
  const std::optional<std::string> live = LiveElements(stored);
  if (!live.has_value()) return Decision::kKeep;
  if (live->empty()) return Decision::kRemove;
  return *live == stored ? Decision::kKeep : Decision::kChangeValue;
}

void CheckMerge(const MergeOperator& merge, const rocksdb::Slice& stored) {
  std::string appended;
  mayfly::AppendListElement(kExpired + 1, "appended", appended);
  const rocksdb::Slice key = "key";
  const std::vector<rocksdb::Slice> operands = {appended};
  std::string merged;
  rocksdb::Slice existing_operand(nullptr, 0);
  MergeOperator::MergeOperationOutput output(merged, existing_operand);
  MAYFLY_CHECK(merge.FullMergeV2(
      MergeOperator::MergeOperationInput(key, &stored, operands, nullptr),
      &output));

  const std::optional<std::string> live = LiveElements(stored.ToStringView());
  if (live.has_value()) {
    MAYFLY_CHECK(merged == *live + appended);
  } else {
    MAYFLY_CHECK(!LiveElements(merged).has_value());
    MAYFLY_CHECK(merged.ends_with(stored.ToString() + appended));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  static const rocksdb::ColumnFamilyOptions value_options =
      Configured(mayfly::EntryLayout::kValue);
  static const rocksdb::ColumnFamilyOptions list_options =
      Configured(mayfly::EntryLayout::kList);
  const bool is_list = data[0] % 2 == 1;
  const auto type = data[0] / 2 % 2 == 1 ? CompactionFilter::kMergeOperand
                                         : CompactionFilter::kValue;
  const rocksdb::Slice stored(reinterpret_cast<const char*>(data) + 1,
                              size - 1);

  const std::unique_ptr<CompactionFilter> filter =
      (is_list ? list_options : value_options)
          .compaction_filter_factory->CreateCompactionFilter({});
  std::string new_value;
  std::string skip_until;
  const Decision decision =
      filter->FilterV2(0, "key", type, stored, &new_value, &skip_until);
  if (is_list) {
    MAYFLY_CHECK(decision == ExpectedForList(stored.ToStringView()));
    if (decision == Decision::kChangeValue) {
      MAYFLY_CHECK(new_value == LiveElements(stored.ToStringView()));
    }
    CheckMerge(*list_options.merge_operator, stored);
  } else {
    MAYFLY_CHECK(decision == ExpectedForValue(stored.ToStringView(), type));
  }
  MAYFLY_CHECK(skip_until.empty());
  return 0;
}
