// Case C46. A shard has one thread, and nothing of it may be used by a second
// one; what threads do share is beneath that: descriptors, functions and time.
#include "gtest/gtest.h"
#include "tests/cases/shard_threads.h"

namespace mayfly::cases {
namespace {

TEST(ConcurrencyCasesTest, CaseC46ShardsOnHeapKeepTheirKeysApart) {
  ExpectShardsToKeepTheirKeysApart(BackendKind::kHeap, 350'000, nullptr);
}

}  // namespace
}  // namespace mayfly::cases
