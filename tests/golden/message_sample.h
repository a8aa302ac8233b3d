// A protobuf message as a sample.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tests/golden/golden_file.h"

namespace mayfly::golden {

template <typename Message>
Sample SampleOf(std::string label, const Message& message) {
  const std::string bytes = message.SerializeAsString();
  return {std::move(label), bytes, [bytes](std::string_view stored) {
            Message read;
            return read.ParseFromArray(stored.data(),
                                       static_cast<int>(stored.size())) &&
                   read.SerializeAsString() == bytes;
          }};
}

}  // namespace mayfly::golden
