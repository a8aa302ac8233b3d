#include "compaction/ttl_compaction_filter.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compaction/drop_filter.h"
#include "mayfly/serde/entry_codec.h"
#include "mayfly/serde/internal/string_view.h"

namespace mayfly::compaction_internal {
namespace {

// Enough of a key to look for it, and no more of the user's data.
constexpr std::size_t kKeyBytesLogged = 8;

}  // namespace

TtlCompactionFilter::TtlCompactionFilter(std::shared_ptr<ColumnFamilyTtl> ttl)
    : ttl_(std::move(ttl)), layout_(ttl_->layout()) {
  pass_.counters.passes = 1;
}

TtlCompactionFilter::~TtlCompactionFilter() { ttl_->Count(pass_.counters); }

rocksdb::CompactionFilter::Decision TtlCompactionFilter::FilterV2(
    int /*level*/, const rocksdb::Slice& key, ValueType type,
    const rocksdb::Slice& stored, std::string* new_value,
    std::string* /*skip_until*/) const {
  ++pass_.counters.records_seen;
  QueryTimeIfDue();
  if (!pass_.purge.has_value()) return Decision::kKeep;
  try {
    const Outcome outcome = Judge(stored.ToStringView(), type, new_value);
    if (outcome == Outcome::kKept) return Decision::kKeep;
    return Settle(outcome, key.ToStringView(), stored.ToStringView(),
                  *new_value);
  } catch (...) {  // Out of memory for what a list is rewritten to.
    ++pass_.counters.failures;
    return Decision::kKeep;
  }
}

void TtlCompactionFilter::QueryTimeIfDue() const {
  if (--pass_.records_until_query > 0) return;
  pass_.records_until_query = ttl_->query_time_after_num_entries();
  pass_.purge = ttl_->ReadPurgePoint();
  if (pass_.purge.has_value()) {
    pass_.expired_through_ms = pass_.purge->ExpiredThrough();
  } else {
    ++pass_.counters.clock_failures;
  }
}

TtlCompactionFilter::Outcome TtlCompactionFilter::Judge(
    std::string_view stored, ValueType type, std::string* new_value) const {
  // In a blob index there is no timestamp to look at.
  if (type == ValueType::kBlobIndex) return Outcome::kKept;
  if (stored.size() > kFilteredBytesMax) return Outcome::kTooLarge;
  return layout_ == EntryLayout::kList ? JudgeList(stored, new_value)
                                       : JudgeValue(stored, type);
}

TtlCompactionFilter::Outcome TtlCompactionFilter::JudgeValue(
    std::string_view stored, ValueType type) const {
  if (type == ValueType::kMergeOperand) return Outcome::kMalformed;
  const std::optional<EntryView> entry = DecodeEntry(stored);
  if (!entry.has_value()) return Outcome::kMalformed;
  if (entry->timestamp_ms > pass_.expired_through_ms) return Outcome::kKept;
  ++pass_.counters.entries_expired;
  return Outcome::kRemoved;
}

TtlCompactionFilter::Outcome TtlCompactionFilter::JudgeList(
    std::string_view stored, std::string* new_value) const {
  const ListScan scan = ScanList(stored, *pass_.purge);
  Outcome outcome = Outcome::kKept;
  switch (scan.verdict) {
    case ListVerdict::kKeep:
      return Outcome::kKept;
    case ListVerdict::kMalformed:
      return Outcome::kMalformed;
    case ListVerdict::kDrop:
      outcome = Outcome::kRemoved;
      break;
    case ListVerdict::kRewrite:
      new_value->reserve(stored.size() - scan.expired_bytes);
      AppendLive(stored, *pass_.purge, *new_value);
      outcome = Outcome::kRewritten;
      break;
  }
  pass_.counters.entries_expired += scan.expired_elements;
  return outcome;
}

rocksdb::CompactionFilter::Decision TtlCompactionFilter::Settle(
    Outcome outcome, std::string_view key, std::string_view stored,
    const std::string& new_value) const {
  if (ttl_->debug_log() != nullptr) [[unlikely]] {
    Log(outcome, key);
  }
  CleanupCounters& counters = pass_.counters;
  switch (outcome) {
    case Outcome::kKept:
      break;
    case Outcome::kRemoved:
      ++counters.records_removed;
      counters.bytes_removed +=
          static_cast<std::int64_t>(key.size() + stored.size());
      return Decision::kRemove;
    case Outcome::kRewritten:
      ++counters.records_rewritten;
      counters.bytes_removed +=
          static_cast<std::int64_t>(stored.size() - new_value.size());
      return Decision::kChangeValue;
    case Outcome::kMalformed:
      ++counters.malformed;
      break;
    case Outcome::kTooLarge:
      ++counters.too_large;
      break;
  }
  return Decision::kKeep;
}

void TtlCompactionFilter::Log(Outcome outcome,
                              std::string_view key) const noexcept {
  const char* what = "";
  switch (outcome) {
    case Outcome::kKept:
      return;
    case Outcome::kRemoved:
      what = "removed";
      break;
    case Outcome::kRewritten:
      what = "removed the expired elements of the list";
      break;
    case Outcome::kMalformed:
      what = "kept the unreadable value";
      break;
    case Outcome::kTooLarge:
      what = "kept the value of 2 GiB or more";
      break;
  }
  try {
    ttl_->debug_log()(absl::StrCat(
        "state ", ttl_->name(), ": ", what, " under the key that begins with ",
        absl::BytesToHexString(ToAbsl(key.substr(0, kKeyBytesLogged)))));
  } catch (...) {
    // A line of debugging is not worth an expired entry, let alone a process.
  }
}

TtlCompactionFilterFactory::TtlCompactionFilterFactory(
    std::shared_ptr<ColumnFamilyTtl> ttl)
    : ttl_(std::move(ttl)) {}

bool TtlCompactionFilterFactory::ShouldFilterTableFileCreation(
    rocksdb::TableFileCreationReason reason) const {
  return reason == rocksdb::TableFileCreationReason::kCompaction;
}

std::unique_ptr<rocksdb::CompactionFilter>
TtlCompactionFilterFactory::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& /*context*/) {
  if (ttl_->layout() == EntryLayout::kDisabled) return nullptr;
  try {
    const DropTarget* const target = DropScope::Current();
    if (target != nullptr && target->ttl == ttl_.get()) {
      return std::make_unique<DropFilter>(ttl_, *target);
    }
    return std::make_unique<TtlCompactionFilter>(ttl_);
  } catch (...) {  // Out of memory: the compaction goes on without a filter.
    return nullptr;
  }
}

}  // namespace mayfly::compaction_internal
