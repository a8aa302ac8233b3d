// Makes a table of what mayfly_bench wrote:
//
//   mayfly_bench_table RESULT.json REPORT.json...
//
// prints it and writes its figures to RESULT.json.
#include <exception>
#include <fstream>
#include <iostream>

#include "bench/table/result_table.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: mayfly_bench_table RESULT.json REPORT.json...\n";
    return 2;
  }
  mayfly::bench::ResultTable table;
  for (int i = 2; i < argc; ++i) {
    try {
      std::ifstream report(argv[i]);
      table.Add(nlohmann::json::parse(report));
    } catch (const std::exception& error) {
      std::cerr << "mayfly_bench_table: '" << argv[i]
                << "' is no report of mayfly_bench: " << error.what() << '\n';
      return 1;
    }
  }
  table.Print(std::cout);
  std::ofstream result(argv[1]);
  result << table.ToJson().dump(1) << '\n';
  result.close();
  if (!result) {
    std::cerr << "mayfly_bench_table: cannot write '" << argv[1] << "'\n";
    return 1;
  }
  return 0;
}
