// Makes a failing program small enough to be understood.
#pragma once

#include <functional>

#include "tests/model/program.h"

namespace mayfly::model_test {

// A program of few operations, with small arguments, for which `fails` is true
// as it is for `program`. Calls `fails` at most `tries_max` times.
// Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
// Input, 2002: chunks are removed, and smaller ones when none can be.
Program Shrink(const Program& program,
               const std::function<bool(const Program&)>& fails, int tries_max);

}  // namespace mayfly::model_test
