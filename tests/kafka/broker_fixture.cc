#include "tests/kafka/broker_fixture.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mayfly::kafka_test {
namespace {

// Of the test that runs.
void SkipOrFail(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kUnavailable) {
    GTEST_SKIP() << "no Kafka: " << status.message();
  }
  FAIL() << status;
}

}  // namespace

std::string UniqueName(std::string_view base) {
  std::uint64_t random = 0;
  if (::getentropy(&random, sizeof(random)) != 0) std::abort();
  return absl::StrCat(std::string(base), "-", absl::Hex(random));
}

void SharedBrokerTest::SetUp() {
  absl::StatusOr<std::string> bootstrap = SharedBootstrap();
  if (!bootstrap.ok()) return SkipOrFail(bootstrap.status());
  bootstrap_ = *std::move(bootstrap);
}

void OwnBrokerTest::SetUp() {
  absl::StatusOr<std::unique_ptr<Broker>> broker = Broker::Start();
  if (!broker.ok()) return SkipOrFail(broker.status());
  broker_ = *std::move(broker);
}

}  // namespace mayfly::kafka_test
