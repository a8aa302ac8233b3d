// The style rules that a machine can check. Each returns what it finds wrong,
// one line per finding: path, line, what is wrong, what to do instead.
#pragma once

#include <string>
#include <vector>

#include "tests/lint/source_file.h"

namespace mayfly::lint {

using Findings = std::vector<std::string>;

// --- include_rules.cc ---

// A folder includes only folders below it, others' internal headers not at
// all, and every header by its path from an include root.
Findings CheckIncludes(const SourceFile& file);

// The public headers of state and what lies above it show no RocksDB and no
// librdkafka.
Findings CheckHidesDependencies(const SourceFile& file);

// --- code_rules.cc ---

// The libraries take time, chance and output from what they are given.
Findings CheckBannedCalls(const SourceFile& file);

// Public headers use std types where Abseil has its own.
Findings CheckStdTypes(const SourceFile& file);

// A public function that can fail says how: an `Errors:` line in the comment
// above it or above its class.
Findings CheckErrorsDocumented(const SourceFile& file);

// No file is longer than 600 lines.
Findings CheckLength(const SourceFile& file);

// --- tree_rules.cc ---

// Every .cc file is named in a CMakeLists.txt, and every CMakeLists.txt is
// added by one above it: a test that no target builds is decoration.
Findings CheckEverythingIsBuilt(const std::vector<SourceFile>& tree);

// The C++ in README.md and docs/ stands word for word in a file of examples/,
// where the compiler and the tests see it.
Findings CheckSnippets(const std::vector<SourceFile>& tree);

}  // namespace mayfly::lint
