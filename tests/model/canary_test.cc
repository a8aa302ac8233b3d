// Proves that the model test sees what it is there to see: models that are
// wrong in one rule each are played against the right one, and each must be
// found out, by a program that comes down to a handful of operations; and so
// must the library be where it is set up, or its files are treated, wrongly.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/model/backend_system.h"
#include "tests/model/generator.h"
#include "tests/model/model.h"
#include "tests/model/player.h"
#include "tests/model/shrinker.h"
#include "tests/model/wrong_models.h"

namespace mayfly::model_test {
namespace {

constexpr std::size_t kSteps = 360;
constexpr std::uint64_t kProgramsMax = 300;
constexpr int kShrinkTriesMax = 3000;
constexpr std::size_t kHandful = 12;

// Answers as a model would, to which clean-up never comes unless it must.
template <typename M>
class ModelSystem final : public System {
 public:
  explicit ModelSystem(const Settings& settings) : model_(settings) {}

  Answer Run(const Operation& operation) override {
    const Allowed allowed = model_.Allow(operation);
    Answer answer{.code = allowed.code, .error = "the model's", .items = {}};
    for (const auto& [item, required] : allowed.items) {
      if (answer.items.size() < allowed.items_max) answer.items.push_back(item);
    }
    model_.Apply(operation, answer);
    return answer;
  }

 private:
  M model_;
};

template <typename M>
std::unique_ptr<System> MakeSystem(const Settings& settings) {
  return std::make_unique<ModelSystem<M>>(settings);
}

// --- The canaries ---

template <typename M>
class CanaryTest : public ::testing::Test {
 protected:
  static bool Fails(const Program& program) {
    return Play(program, MakeSystem<M>).has_value();
  }

  // A program that finds the wrong model out; nullopt if there is none.
  static std::optional<Program> Find() {
    for (std::uint64_t seed = 1; seed <= kProgramsMax; ++seed) {
      Program program = MakeProgram(seed, kSteps, M::Where());
      if (Fails(program)) return program;
    }
    return std::nullopt;
  }
};

using WrongModels = ::testing::Types<
    ExpiresOneMillisecondLate, ExpiresOneMillisecondEarly,
    RemovesOnlyThePrefixOfAList, DoesNotRefreshOnRead, DoesNotRefreshOnContains,
    RefreshesWhatIsTooYoung, RevivesAnExpiredAccumulator, IgnoresTheTtlOfAWrite,
    ReturnsWhatHasExpiredAgainAndAgain, DestroysByAClockThatJumped,
    KeepsWhatWasNotCommitted, CommitsWhatChangedMeanwhile,
    ForgetsWhatNobodyRegistered, SavesWhatIsNotCommitted, ForgetsTheLastWrite,
    RestoresTheOtherPlace, LosesOneKeyOnItsWay, RestoresWhatHasExpired,
    RevivesUnderALongerTtl, KeepsExpiredWithoutTtl,
    LeavesWhatGetsATtlUnstamped>;

struct WrongModelNames {
  template <typename M>
  static std::string GetName(int) {
    const std::string name = ::testing::internal::GetTypeName<M>();
    return name.substr(name.rfind(':') + 1);
  }
};

TYPED_TEST_SUITE(CanaryTest, WrongModels, WrongModelNames);

TYPED_TEST(CanaryTest, IsFoundOutByAHandfulOfOperations) {
  const std::optional<Program> found = TestFixture::Find();
  ASSERT_TRUE(found.has_value());
  const Program shrunk = Shrink(*found, TestFixture::Fails, kShrinkTriesMax);
  EXPECT_TRUE(TestFixture::Fails(shrunk));
  EXPECT_LE(shrunk.operations.size(), kHandful) << ToString(shrunk);
}

// --- The library, set up otherwise than the model believes ---

struct WrongSetup {
  const char* name;
  Settings given;
  // Makes of the settings that the model has those that the backend gets.
  void (*change)(Settings& settings);
  // What the model believes about clean-up.
  Cleanup cleanup = Cleanup::kDefault;
  std::size_t operations_max = kHandful;
};

class WrongSetupTest : public ::testing::TestWithParam<WrongSetup> {
 protected:
  static bool Fails(const Program& program) {
    Happenings unused;
    return Play(program,
                [&](const Settings& settings) {
                  Settings changed = settings;
                  GetParam().change(changed);
                  return std::make_unique<BackendSystem>(changed, &unused);
                })
        .has_value();
  }

  static std::optional<Program> Find() {
    for (std::uint64_t seed = 1; seed <= kProgramsMax; ++seed) {
      Program program = MakeProgram(seed, kSteps, GetParam().given);
      program.settings.cleanup = GetParam().cleanup;
      if (Fails(program)) return program;
    }
    return std::nullopt;
  }
};

TEST_P(WrongSetupTest, IsFoundOutByAHandfulOfOperations) {
  const std::optional<Program> found = Find();
  ASSERT_TRUE(found.has_value());
  const Program shrunk = Shrink(*found, Fails, kShrinkTriesMax);
  EXPECT_TRUE(Fails(shrunk));
  EXPECT_LE(shrunk.operations.size(), GetParam().operations_max)
      << ToString(shrunk);
}

INSTANTIATE_TEST_SUITE_P(
    Setups, WrongSetupTest,
    ::testing::Values(
        WrongSetup{"TtlOneMillisecondTooLong",
                   {},
                   [](Settings& settings) { ++settings.ttl_ms; }},
        WrongSetup{"NoRefreshOnRead",
                   {.refresh_on_read = true},
                   [](Settings& s) {
                     s.refresh_on_read = false;
                     s.granularity_ms = 0;
                   }},
        WrongSetup{"GranularityOneMillisecondTooCoarse",
                   {.refresh_on_read = true},
                   [](Settings& s) { ++s.granularity_ms; }},
        WrongSetup{"ExpiredIsReturned",
                   {},
                   [](Settings& s) { s.return_expired = true; },
                   Cleanup::kOff},
        WrongSetup{"AnotherTime",
                   {.event_time = true},
                   [](Settings& s) { s.event_time = false; }},
        WrongSetup{"CleansUpIncrementally",
                   {.return_expired = true},
                   [](Settings& s) { s.cleanup = Cleanup::kEveryRecord; },
                   Cleanup::kOff,
                   // The accesses that a step of it is worth.
                   /*operations_max=*/30},
        WrongSetup{
            "CleansUpWhenItCompacts",
            {.layout = {BackendChoice::kRocksdb}, .return_expired = true},
            [](Settings& s) { s.cleanup = Cleanup::kOnlyCompactionFilter; },
            Cleanup::kOff},
        WrongSetup{"DoesNotCleanUpWhenItCompacts",
                   {.layout = {BackendChoice::kRocksdb}},
                   [](Settings& s) { s.cleanup = Cleanup::kOff; },
                   Cleanup::kOnlyCompactionFilter}),
    [](const ::testing::TestParamInfo<WrongSetup>& at) {
      return std::string(at.param.name);
    });

// --- The library, whose files are treated by a wrong rule ---

class WrongFilesTest : public ::testing::TestWithParam<FileRule> {
 protected:
  // The model test plays more of them.
  static constexpr std::uint64_t kFileProgramsMax = 60;
  static constexpr std::size_t kFileSteps = 1460;

  static bool Fails(const Program& program, FileRule rule) {
    Happenings unused;
    return Play(program,
                [&](const Settings& settings) {
                  return std::make_unique<BackendSystem>(settings, &unused,
                                                         rule);
                })
        .has_value();
  }
};

// By a program that is right if only the files are treated rightly. It is not
// shrunk, which takes minutes: each try opens databases.
TEST_P(WrongFilesTest, IsFoundOut) {
  const Settings given{.layout = {BackendChoice::kRocksdb}};
  for (std::uint64_t seed = 1; seed <= kFileProgramsMax; ++seed) {
    const Program program = MakeProgram(seed, kFileSteps, given);
    if (!Fails(program, GetParam())) continue;
    EXPECT_FALSE(Fails(program, FileRule::kRight));
    return;
  }
  FAIL() << "not in " << kFileProgramsMax << " programs";
}

std::string NameOf(const ::testing::TestParamInfo<FileRule>& at) {
  constexpr std::array kNames = {"Right", "RemoveEarly", "DropOverOlder",
                                 "DropFromLevelZero"};
  return kNames.at(static_cast<std::size_t>(at.param));
}

INSTANTIATE_TEST_SUITE_P(Rules, WrongFilesTest,
                         ::testing::Values(FileRule::kRemoveEarly,
                                           FileRule::kDropOverOlder,
                                           FileRule::kDropFromLevelZero),
                         NameOf);

// Without this a player that always finds a difference would pass for a good
// one.
TEST(RightModelTest, IsNotFoundOut) {
  for (std::uint64_t seed = 1; seed <= kProgramsMax; ++seed) {
    Settings given;
    given.layout.backend = static_cast<BackendChoice>(seed % 3);
    given.has_ttl = seed % 16 != 0;
    given.refresh_on_read = seed % 2 == 0;
    given.return_expired = seed / 2 % 2 == 0;
    given.event_time = seed / 4 % 2 == 0;
    const Program program = MakeProgram(seed, kSteps, given);
    const auto difference = Play(program, MakeSystem<Model>);
    ASSERT_FALSE(difference.has_value())
        << "seed " << seed << ", step " << difference->step << ": "
        << difference->what;
  }
}

}  // namespace
}  // namespace mayfly::model_test
