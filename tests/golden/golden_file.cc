#include "tests/golden/golden_file.h"

#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/serde/hex.h"

namespace mayfly::golden {
namespace {

// How a sample of no bytes is written.
constexpr char kNoBytes[] = "-";

}  // namespace

std::string PathOf(const Format& format) {
  return std::string(MAYFLY_GOLDEN_DIR) + "/v1/serde/" + format.file + ".txt";
}

std::string Render(const Format& format) {
  std::string text = "# " + format.title + "\n";
  for (const Sample& sample : format.samples) {
    text += sample.bytes.empty() ? kNoBytes : serde_test::Hex(sample.bytes);
    text += "  " + sample.label + "\n";
  }
  return text;
}

std::vector<std::string> ParseSamples(const std::string& text) {
  std::vector<std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::string hex = line.substr(0, line.find(' '));
    samples.push_back(hex == kNoBytes ? "" : serde_test::Unhex(hex));
  }
  return samples;
}

}  // namespace mayfly::golden
