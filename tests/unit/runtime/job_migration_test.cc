// A job over state that its new version asks for without a TTL.
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/serde/status_macros.h"
#include "mayfly/testing/status_matchers.h"
#include "tests/unit/runtime/job_fixture.h"

namespace mayfly {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Counts visits for ever.
class TotalCounter final : public VisitFunction {
 public:
  absl::Status Open(RuntimeContext& context) override {
    ValueStateDescriptor<std::int64_t> count("count");
    count.AllowTtlMigration();
    MAYFLY_ASSIGN_OR_RETURN(count_, context.GetState(count));
    return absl::OkStatus();
  }

  absl::Status ProcessElement(const Visit& visit, Context& context,
                              Collector<VisitCount>& out) override {
    MAYFLY_ASSIGN_OR_RETURN(const std::int64_t* stored, count_->Value());
    const std::int64_t count = stored == nullptr ? 1 : *stored + 1;
    MAYFLY_RETURN_IF_ERROR(count_->Update(count));
    out.Collect({context.current_key(), visit.time_ms, count, 0});
    return absl::OkStatus();
  }

 private:
  ValueState<std::int64_t>* count_ = nullptr;
};

class JobMigrationTest : public JobFixture,
                         public ::testing::WithParamInterface<BackendKind> {
 protected:
  JobMigrationTest() { options_.backend = GetParam(); }

  // What the new version does with all that the input has by now.
  absl::Status RunTotals(bool stopped) {
    const auto change = [stopped](VisitJob& job) {
      job.Process([] { return std::make_unique<TotalCounter>(); });
      if (stopped) job.RequestStop();
    };
    return RunJob({.change = change}).status();
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, JobMigrationTest,
                         ::testing::Values(BackendKind::kHeap,
                                           BackendKind::kRocksdb));

TEST_P(JobMigrationTest, IsLoggedCanBeStoppedAndGoesOn) {
  WriteInput({"old@1000", "ann@1050", "ann@1100"});
  ASSERT_THAT(RunJob(), IsOk());
  WriteInput({"old@1000", "ann@1050", "ann@1100", "ann@9000", "old@9000"});

  EXPECT_THAT(RunTotals(/*stopped=*/true),
              StatusIs(absl::StatusCode::kCancelled,
                       AllOf(HasSubstr("shard 0"), HasSubstr("'count'"))));
  ASSERT_THAT(RunTotals(/*stopped=*/false), IsOk());
  EXPECT_THAT(log_, Contains(AllOf(HasSubstr("shard 0: state 'count'"),
                                   HasSubstr("2 keys rewritten, 1 of them "
                                             "dropped as expired"))));
  EXPECT_THAT(LinesOf(output()),
              ElementsAre("old 1000 1 1", "ann 1050 1 1", "ann 1100 2 2",
                          "ann 9000 3 0", "old 9000 1 0"));
}

}  // namespace
}  // namespace mayfly
