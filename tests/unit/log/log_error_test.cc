#include "mayfly/log/log_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "mayfly/log/topic_partition.h"

namespace mayfly {
namespace {

TEST(LogError, EachHasACodeAndANameOfItsOwn) {
  std::set<absl::StatusCode> codes;
  std::set<std::string_view> names;
  for (int i = 1; i <= 10; ++i) {
    const auto error = static_cast<LogError>(i);
    const absl::Status status = MakeLogError(error, "why");
    EXPECT_EQ(LogErrorOf(status), error);
    EXPECT_EQ(status.message(), "why");
    codes.insert(status.code());
    names.insert(LogErrorName(error));
  }
  EXPECT_EQ(codes.size(), 10u);
  EXPECT_EQ(names.size(), 10u);
}

TEST(LogError, WhatNoLogReturnsIsFatal) {
  EXPECT_EQ(LogErrorOf(absl::DataLossError("x")), LogError::kFatal);
}

TEST(TopicPartition, IsShownAsKafkaShowsIt) {
  std::ostringstream out;
  out << PartitionOffset{{"flights", 3}, 17};
  EXPECT_EQ(out.str(), "flights-3@17");
}

}  // namespace
}  // namespace mayfly
