// The contract, on what every machine has.
#include "tests/unit/log/contract_test.h"

namespace mayfly {
namespace {

INSTANTIATE_TEST_SUITE_P(On, ReadWriteContract,
                         ::testing::Values(Simulation(), MockCluster()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(On, GroupContract,
                         ::testing::Values(Simulation(), MockCluster()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(On, TransactionContract,
                         ::testing::Values(Simulation()), NameOf);

}  // namespace
}  // namespace mayfly
