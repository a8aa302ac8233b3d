#include "runtime/lineage.h"

#include <sys/random.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace mayfly::runtime_internal {

v1::Lineage NewLineage(const TtlClock& clock) {
  v1::Lineage lineage;
  lineage.set_begun_ms(clock.NowMs());
  std::uint64_t random = 0;
  // Where the system gives none, the time has to do.
  static_cast<void>(::getrandom(&random, sizeof(random), 0));
  lineage.set_random(random);
  return lineage;
}

bool IsSame(const v1::Lineage& a, const v1::Lineage& b) {
  return a.begun_ms() == b.begun_ms() && a.random() == b.random();
}

std::string ToString(const v1::Lineage& lineage) {
  if (IsSame(lineage, {})) return "begun by an earlier version of Mayfly";
  return absl::StrCat("begun ",
                      absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*SZ",
                                       absl::FromUnixMillis(lineage.begun_ms()),
                                       absl::UTCTimeZone()));
}

}  // namespace mayfly::runtime_internal
