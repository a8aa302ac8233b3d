// What tests that need Kafka derive from. Where it cannot be had they are
// skipped, and say why.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "tests/kafka/broker.h"

namespace mayfly::kafka_test {

// A name for a topic, a group or a transactional id that nobody else has.
std::string UniqueName(std::string_view base);

// For tests that do the broker no harm; all of them share one.
class SharedBrokerTest : public ::testing::Test {
 protected:
  void SetUp() override;

  const std::string& bootstrap() const { return bootstrap_; }

 private:
  std::string bootstrap_;
};

// For tests that kill, stop or pause the broker; each has its own.
class OwnBrokerTest : public ::testing::Test {
 protected:
  void SetUp() override;

  Broker& broker() { return *broker_; }

 private:
  std::unique_ptr<Broker> broker_;
};

}  // namespace mayfly::kafka_test
