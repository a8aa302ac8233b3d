#include "mayfly/state/internal/record_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/state/internal/crc32c.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "mayfly/v1/state.pb.h"

namespace mayfly::state_internal {
namespace {

using ::testing::HasSubstr;

// Source: RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32cTest, HasTheStandardsValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(Crc32cTest, GoesOnWhereItStopped) {
  EXPECT_EQ(ExtendCrc32c(Crc32c("1234"), "56789"), Crc32c("123456789"));
  EXPECT_EQ(ExtendCrc32c(Crc32c("1234"), ""), Crc32c("1234"));
}

class RecordFileTest : public ::testing::Test {
 protected:
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Spill(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  const TempDirectory directory_;
  const std::string path_ = directory_.Path("record");
  v1::StateRecord record_;
};

TEST_F(RecordFileTest, IsReadAsItWasWritten) {
  v1::StateRecord written;
  written.set_name("streak");
  for (const bool sync : {false, true}) {
    ASSERT_THAT(WriteRecordFile(path_, written, sync), IsOk());
    ASSERT_THAT(ReadRecordFile(path_, record_), IsOk());
    EXPECT_EQ(record_.name(), "streak");
  }
}

TEST_F(RecordFileTest, WhatIsNotThereIsNotFound) {
  EXPECT_THAT(ReadRecordFile(path_, record_),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(path_)));
}

TEST_F(RecordFileTest, CutShortOrFlippedAnywhereIsDataLoss) {
  v1::StateRecord written;
  written.set_name("streak");
  ASSERT_THAT(WriteRecordFile(path_, written, /*sync=*/false), IsOk());
  const std::string bytes = Bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Spill(bytes.substr(0, size));
    ASSERT_THAT(ReadRecordFile(path_, record_),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)))
        << size;
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    Spill(flipped);
    ASSERT_THAT(ReadRecordFile(path_, record_),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)))
        << bit;
  }
}

}  // namespace
}  // namespace mayfly::state_internal
