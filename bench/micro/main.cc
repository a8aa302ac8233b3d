// Runs the benchmarks; see bench/README.md.
#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <string_view>

#include "bench/harness/scale.h"
#include "bench/micro/registration.h"

int main(int argc, char** argv) {
  using mayfly::bench::Registration;
  std::string scale = "default";
  Registration registration;
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag.starts_with("--scale=")) {
      scale = flag.substr(flag.find('=') + 1);
    } else if (flag.starts_with("--only=")) {
      registration.only = flag.substr(flag.find('=') + 1);
    } else {
      std::cerr << "mayfly_bench: there is no flag '" << flag
                << "'; there are --scale=smoke|quick|default|full, "
                   "--only=CONTENDER and those of Google Benchmark\n";
      return 2;
    }
  }
  const auto named = mayfly::bench::ScaleNamed(scale);
  if (!named) {
    std::cerr << "mayfly_bench: --scale is '" << scale
              << "'; give smoke, quick, default or full\n";
    return 2;
  }
  registration.scale = *named;
  RegisterHeapValue(registration);
  RegisterHeapCollections(registration);
  RegisterRocksdbValue(registration);
  RegisterRefresh(registration);
  RegisterRocksdbList(registration);
  RegisterRocksdbMap(registration);
  RegisterAccumulators(registration);
  RegisterCompaction(registration);
  const bool has_run = benchmark::RunSpecifiedBenchmarks() > 0;
  // Now, while RocksDB's globals are still there for the databases to close.
  benchmark::ClearRegisteredBenchmarks();
  return has_run ? 0 : 1;
}
