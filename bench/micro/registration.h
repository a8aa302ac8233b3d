// The benchmarks by subject; main.cc registers them all.
#pragma once

#include "bench/harness/workload.h"

namespace mayfly::bench {

void RegisterHeapValue(const Registration& registration);
void RegisterHeapCollections(const Registration& registration);
void RegisterRocksdbValue(const Registration& registration);
void RegisterRefresh(const Registration& registration);
void RegisterRocksdbList(const Registration& registration);
void RegisterRocksdbMap(const Registration& registration);
void RegisterAccumulators(const Registration& registration);
void RegisterCompaction(const Registration& registration);

}  // namespace mayfly::bench
