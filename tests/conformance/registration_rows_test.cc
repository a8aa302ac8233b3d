// Rows about states that are stored with other serializers than
// they are asked for with.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/conformance/carriage.h"
#include "tests/conformance/program.h"
#include "tests/conformance/ttls.h"
#include "tests/unit/state/shard_set.h"

namespace mayfly::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
template <typename T>
using Value = ValueStateDescriptor<T>;
template <typename T>
using List = ListStateDescriptor<T>;
template <typename UK, typename UV>
using Map = MapStateDescriptor<UK, UV>;

class RegistrationRowsTest
    : public ::testing::TestWithParam<
          std::tuple<state_test::BackendSetup, Carriage>> {
 protected:
  // Stores a state as one thing and asks for it as another.
  template <typename Stored, typename Asked>
  void ExpectRefused(const MaybeTtl& ttl, const std::string& stored,
                     const std::string& asked) {
    using state_test::Must;
    state_test::ShardSet<std::string> shards(
        {std::get<state_test::BackendSetup>(GetParam())}, /*now_ms=*/0);
    Must(shards.Open());
    Must(shards[0]
             .GetState(state_test::Describe<Stored>("state", ttl))
             .status());
    Must(shards.Commit());
    Carry(std::get<Carriage>(GetParam()), shards);
    Must(shards.Open());
    for (std::size_t i = 0; i < shards.size(); ++i) {
      EXPECT_THAT(
          shards[i].GetState(state_test::Describe<Asked>("state", ttl)),
          StatusIs(absl::StatusCode::kFailedPrecondition,
                   AllOf(HasSubstr("StateMigration: state 'state'"),
                         HasSubstr(stored + " and asked for with " + asked))));
      EXPECT_THAT(
          shards[i].GetState(state_test::Describe<Stored>("state", ttl)),
          IsOk());
    }
  }

  void ExpectOtherValuesRefused(const MaybeTtl& ttl) {
    const std::string stored = "the value serializer string@1";
    using Text = std::string;
    using Number = std::int64_t;
    ExpectRefused<Value<Text>, Value<Number>>(ttl, stored, "int64@1");
    ExpectRefused<List<Text>, List<Number>>(ttl, stored, "int64@1");
    ExpectRefused<Map<Text, Text>, Map<Text, Number>>(ttl, stored, "int64@1");
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, RegistrationRowsTest,
                         ::testing::Combine(state_test::BothBackends(),
                                            ::testing::ValuesIn(kCarriages)),
                         [](const auto& at) {
                           return std::string(std::get<0>(at.param).name) +
                                  "_" + NameOf(std::get<1>(at.param));
                         });

TEST_P(RegistrationRowsTest, Row069AnotherSerializerWithinATtlIsRefused) {
  ExpectOtherValuesRefused(Suite());
}

TEST_P(RegistrationRowsTest, Row079AnotherSerializerIsRefused) {
  ExpectOtherValuesRefused(std::nullopt);
}

TEST_P(RegistrationRowsTest, Row080AnotherMapKeySerializerIsRefused) {
  for (const MaybeTtl& ttl : {MaybeTtl(), MaybeTtl(Suite())}) {
    ExpectRefused<Map<std::int32_t, std::int32_t>,
                  Map<std::string, std::int32_t>>(
        ttl, "the map key serializer int32@1", "string@1");
  }
}

}  // namespace
}  // namespace mayfly::conformance
