// Golden files: bytes that released versions have written, as text that a
// reviewer can read. The first line names the format; then one line for each
// sample, its bytes in hex and what they stand for:
//
//   # int16@1
//   ffff  -1
//   0102  258
//
// A file of a released version never changes: what it holds is on somebody's
// disk. With MAYFLY_REGENERATE_GOLDEN=1 in the environment the tests write the
// files from the code instead, for a format that is new.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::golden {

struct Sample {
  // What the bytes stand for, on one line.
  std::string label;

  // What the code writes today.
  std::string bytes;

  // True if these bytes are read as what the label says.
  std::function<bool(std::string_view bytes)> reads_back;
};

struct Format {
  std::string file;  // In the program's folder, without ".txt".
  std::string title;
  std::vector<Sample> samples;
};

// What the folder of this program holds: one below tests/golden/v1/, which its
// definition MAYFLY_GOLDEN_FOLDER names. Each program has its own.
std::vector<Format> AllFormats();

// Where the file of a format lies.
std::string PathOf(const Format& format);

std::string ReadFile(const std::string& path);

// Whether the tests are to write the files.
bool RegenerationAsked();

// The whole text of the file, as the code writes it today.
std::string Render(const Format& format);

// The bytes of the samples in a golden file's text, in order.
std::vector<std::string> ParseSamples(const std::string& text);

}  // namespace mayfly::golden
