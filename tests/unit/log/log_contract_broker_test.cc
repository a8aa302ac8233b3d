// The contract, on a real broker.
#include "tests/unit/log/contract_test.h"

namespace mayfly {
namespace {

INSTANTIATE_TEST_SUITE_P(On, ReadWriteContract, ::testing::Values(RealBroker()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(On, GroupContract, ::testing::Values(RealBroker()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(On, TransactionContract,
                         ::testing::Values(RealBroker()), NameOf);

}  // namespace
}  // namespace mayfly
