// What programs are run on: a backend, or in the canaries a model that is
// wrong.
#pragma once

#include "tests/model/answer.h"
#include "tests/model/program.h"

namespace mayfly::model_test {

class System {
 public:
  virtual ~System() = default;

  virtual Answer Run(const Operation& operation) = 0;
};

}  // namespace mayfly::model_test
