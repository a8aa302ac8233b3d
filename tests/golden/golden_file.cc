#include "tests/golden/golden_file.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
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
  return std::string(MAYFLY_GOLDEN_FOLDER) + "/" + format.file + ".txt";
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool RegenerationAsked() {
  const char* const asked = std::getenv("MAYFLY_REGENERATE_GOLDEN");
  return asked != nullptr && std::string(asked) == "1";
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
