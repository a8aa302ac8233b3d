// Rows about states that are stored with other serializers than
// they are asked for with.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/conformance/program.h"
#include "tests/conformance/ttls.h"
#include "tests/unit/state/test_shard.h"

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
    : public ::testing::TestWithParam<state_test::BackendSetup> {
 protected:
  // Stores a state as one thing and asks for it as another.
  template <typename Stored, typename Asked>
  void ExpectRefused(const MaybeTtl& ttl, const std::string& stored,
                     const std::string& asked) {
    state_test::Shard<> shard(GetParam());
    shard.Get(state_test::Describe<Stored>("state", ttl));
    shard.Commit();
    shard.Reopen();
    EXPECT_THAT(
        shard->GetState(state_test::Describe<Asked>("state", ttl)),
        StatusIs(absl::StatusCode::kFailedPrecondition,
                 AllOf(HasSubstr("StateMigration: state 'state'"),
                       HasSubstr(stored + " and asked for with " + asked))));
    EXPECT_THAT(shard->GetState(state_test::Describe<Stored>("state", ttl)),
                IsOk());
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
                         state_test::BothBackends(), state_test::SetupName);

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
