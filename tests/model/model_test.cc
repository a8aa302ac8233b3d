// Random programs on the backends: every answer must be one that the model
// allows, under every configuration. README.md says how to replay one and how
// to run for hours.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "tests/model/backend_system.h"
#include "tests/model/generator.h"
#include "tests/model/player.h"
#include "tests/model/shrinker.h"

namespace mayfly::model_test {
namespace {

// --- Configurations ---

struct Mode {
  const char* name;
  bool has_ttl;
  bool refresh_on_read = false;
  bool return_expired = false;
  bool event_time = false;
};

constexpr Mode kModes[] = {
    {"NoTtl", false},
    {"Write", true, false, false, false},
    {"WriteReturningExpired", true, false, true, false},
    {"Read", true, true, false, false},
    {"ReadReturningExpired", true, true, true, false},
    {"WriteInEventTime", true, false, false, true},
    {"WriteReturningExpiredInEventTime", true, false, true, true},
    {"ReadInEventTime", true, true, false, true},
    {"ReadReturningExpiredInEventTime", true, true, true, true},
};

struct Backend {
  const char* name;
  BackendChoice choice;
  // Operations to run in each mode, and in one program. To open a RocksDB takes
  // as long as thousands of operations.
  std::size_t operations;
  std::size_t steps;
};

constexpr Backend kBackends[] = {
    {"Heap", BackendChoice::kHeap, 190'000, 360},
    {"Rocksdb", BackendChoice::kRocksdb, 24'000, 1460},
    {"RocksdbTinyTable", BackendChoice::kRocksdbTinyTable, 24'000, 1460},
};

constexpr std::size_t OperationsInAll() {
  std::size_t operations = 0;
  for (const Backend& backend : kBackends) {
    operations += std::size(kModes) * backend.operations;
  }
  return operations;
}
static_assert(OperationsInAll() >= 2'000'000);

// --- How much to run ---

std::optional<std::uint64_t> FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::strtoull(value, nullptr, 10);
}

// Decides when one test has run enough: after its operations; if a seed is
// given, after that; or if a time is given, after this test's share of it.
class Budget {
 public:
  explicit Budget(std::size_t operations)
      : operations_(operations),
        seed_(FromEnvironment("MAYFLY_SEED")),
        seconds_(FromEnvironment("MAYFLY_MODEL_SECONDS")),
        begin_(Clock::now()) {}

  // New ones each time if there are hours to run.
  std::uint64_t FirstSeed() const {
    if (seed_) return *seed_;
    if (!seconds_) return 1;
    return static_cast<std::uint64_t>(begin_.time_since_epoch().count());
  }

  // Neither a seed nor a time is given: what runs with the other tests.
  bool is_default() const { return !seed_ && !seconds_; }

  bool Reached(std::size_t programs, std::size_t operations) const {
    if (!seconds_) return seed_ ? programs > 0 : operations >= operations_;
    const int tests = ::testing::UnitTest::GetInstance()->test_to_run_count();
    return Clock::now() - begin_ >= std::chrono::duration<double>(
                                        static_cast<double>(*seconds_) / tests);
  }

 private:
  // The only use of a real clock: nothing that is tested sees it.
  using Clock = std::chrono::steady_clock;

  const std::size_t operations_;
  const std::optional<std::uint64_t> seed_;
  const std::optional<std::uint64_t> seconds_;
  const Clock::time_point begin_;
};

// --- The test ---

using Param = std::tuple<Backend, Mode>;

class ModelTest : public ::testing::TestWithParam<Param> {
 protected:
  static constexpr int kShrinkTriesMax = 600;

  Settings Given() const {
    const Mode& mode = std::get<Mode>(GetParam());
    return {.layout = {std::get<Backend>(GetParam()).choice},
            .has_ttl = mode.has_ttl,
            .refresh_on_read = mode.refresh_on_read,
            .return_expired = mode.return_expired,
            .event_time = mode.event_time};
  }

  // Plays a program; a difference fails the test with all that it takes to see
  // it again.
  void PlayOne(std::uint64_t seed, std::size_t steps) {
    const Program program = MakeProgram(seed, steps, Given());
    operations_ += program.operations.size();
    const SystemFactory make_system = [this](const Settings& settings) {
      return std::make_unique<BackendSystem>(settings, &happenings_);
    };
    const std::optional<Difference> difference = Play(program, make_system);
    if (!difference) return;
    // The same kind of operation must fail: another fault is another matter.
    const Action failed = program.operations[difference->step].action;
    const Program shrunk = Shrink(
        program,
        [&](const Program& candidate) {
          const std::optional<Difference> other = Play(candidate, make_system);
          return other && candidate.operations[other->step].action == failed;
        },
        kShrinkTriesMax);
    const std::optional<Difference> left = Play(shrunk, make_system);
    const ::testing::TestInfo& test =
        *::testing::UnitTest::GetInstance()->current_test_info();
    ADD_FAILURE() << "seed " << seed << ", step " << difference->step << ", "
                  << ToString(program.operations[difference->step]) << ": "
                  << difference->what << "\nshrunk: " << ToString(shrunk)
                  << (left ? "where in step " + std::to_string(left->step) +
                                 " " + left->what
                           : "which does not always fail")
                  << "\nreplay: MAYFLY_SEED=" << seed
                  << " MAYFLY_STEPS=" << steps
                  << " model_test --gtest_filter=" << test.test_suite_name()
                  << "." << test.name();
  }

  // That everything that may happen to files and options did, so that programs
  // prove something about it.
  void ExpectAllToHaveHappened() const {
    const Happenings& all = happenings_;
    const FileWork& files = all.files;
    const auto print = [](const char* what, std::uint64_t times) {
      std::printf("%llu %s", static_cast<unsigned long long>(times), what);
    };
    print("flushes, ", files.flushes);
    print("compactions, ", files.compactions);
    print("by sweeps, ", files.sweep_compactions);
    print("files dropped\n", files.files_dropped);
    print("new TTLs, ", all.ttl_changes);
    print("switched on or off, ", all.ttl_switches);
    print("new clean-ups, ", all.cleanup_changes);
    print("commits broken off\n", all.half_commits);
    print("checkpoints opened, ", all.checkpoints_opened);
    print("moved, ", all.checkpoints_moved);
    print("savepoints restored; ", all.savepoints_restored);
    print("other backends, ", all.backend_changes);
    print("other numbers of shards\n", all.shard_changes);
    const bool on_heap =
        std::get<Backend>(GetParam()).choice == BackendChoice::kHeap;
    EXPECT_GT(all.ttl_switches, 0);
    EXPECT_GT(all.ttl_changes, 0);
    EXPECT_GT(all.cleanup_changes, 0);
    EXPECT_GT(all.checkpoints_opened, 0);
    EXPECT_GT(all.checkpoints_moved, 0);
    EXPECT_GT(all.savepoints_restored, 0);
    EXPECT_GT(all.backend_changes, 0);
    EXPECT_GT(all.shard_changes, 0);
    if (on_heap) {
      EXPECT_GT(all.half_commits, 0);
      return;
    }
    EXPECT_GT(files.compactions, 0);
    if (!std::get<Mode>(GetParam()).has_ttl) return;
    EXPECT_GT(files.flushes, 0);
    EXPECT_GT(files.sweep_compactions, 0);
    EXPECT_GT(files.files_dropped, 0);
  }

  std::size_t operations_ = 0;
  Happenings happenings_;
};

TEST_P(ModelTest, GivesOnlyAnswersThatTheModelAllows) {
  const Backend& backend = std::get<Backend>(GetParam());
  const Budget budget(backend.operations);
  const std::size_t steps =
      FromEnvironment("MAYFLY_STEPS").value_or(backend.steps);
  std::printf("from seed %llu\n",
              static_cast<unsigned long long>(budget.FirstSeed()));
  std::fflush(stdout);  // To be read should the library not return.
  std::size_t programs = 0;
  while (!HasFailure() && !budget.Reached(programs, operations_)) {
    PlayOne(budget.FirstSeed() + programs, steps);
    ++programs;
  }
  std::printf("%zu operations in %zu programs\n", operations_, programs);
  if (budget.is_default() && !HasFailure()) {
    EXPECT_GE(operations_, backend.operations);
    ExpectAllToHaveHappened();
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, ModelTest,
                         ::testing::Combine(::testing::ValuesIn(kBackends),
                                            ::testing::ValuesIn(kModes)),
                         [](const ::testing::TestParamInfo<Param>& at) {
                           return std::string(
                                      std::get<Backend>(at.param).name) +
                                  std::get<Mode>(at.param).name;
                         });

}  // namespace
}  // namespace mayfly::model_test
