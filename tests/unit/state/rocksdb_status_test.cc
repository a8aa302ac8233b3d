#include "state/rocksdb_status.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "rocksdb/status.h"

namespace mayfly::state_internal {
namespace {

using rocksdb::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct StatusRow {
  const char* name;
  Status status;
  absl::StatusCode code;
  const char* advice = "";
};

class RocksdbStatusTest : public ::testing::TestWithParam<StatusRow> {};

TEST_P(RocksdbStatusTest, KeepsTheTextAndMapsTheCode) {
  const StatusRow& row = GetParam();
  EXPECT_THAT(FromRocksdb(row.status, "cannot read 'x'"),
              StatusIs(row.code, AllOf(StartsWith("cannot read 'x': "),
                                       HasSubstr(row.status.ToString()),
                                       HasSubstr(row.advice))));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RocksdbStatusTest,
    ::testing::Values(
        StatusRow{"Corruption", Status::Corruption("bad block"),
                  absl::StatusCode::kDataLoss, "restore an earlier copy"},
        StatusRow{"NoSpace", Status::NoSpace("disk"),
                  absl::StatusCode::kResourceExhausted, "free some space"},
        StatusRow{"MemoryLimit", Status::MemoryLimit("cache"),
                  absl::StatusCode::kResourceExhausted},
        StatusRow{"Busy", Status::Busy("lock"), absl::StatusCode::kAborted},
        StatusRow{"TryAgain", Status::TryAgain("later"),
                  absl::StatusCode::kAborted},
        StatusRow{"Aborted", Status::Aborted("stop"),
                  absl::StatusCode::kAborted},
        StatusRow{"TimedOut", Status::TimedOut("slow"),
                  absl::StatusCode::kDeadlineExceeded},
        StatusRow{"ShutdownInProgress", Status::ShutdownInProgress("bye"),
                  absl::StatusCode::kCancelled},
        StatusRow{"InvalidArgument", Status::InvalidArgument("option"),
                  absl::StatusCode::kInvalidArgument},
        StatusRow{"NotSupported", Status::NotSupported("feature"),
                  absl::StatusCode::kFailedPrecondition},
        StatusRow{"IoError", Status::IOError("cable"),
                  absl::StatusCode::kUnavailable},
        StatusRow{"Incomplete", Status::Incomplete("half"),
                  absl::StatusCode::kUnavailable}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RocksdbStatusOkTest, OkIsOk) {
  EXPECT_THAT(FromRocksdb(Status::OK(), "cannot happen"), IsOk());
}

}  // namespace
}  // namespace mayfly::state_internal
