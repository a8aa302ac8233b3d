// Programs write small files by the thousand, which nobody needs to survive the
// machine: in memory, if there is a place for that and none is asked for.
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "gtest/gtest.h"

namespace mayfly::model_test {
namespace {

class FilesInMemory final : public ::testing::Environment {
 public:
  void SetUp() override {
    constexpr char kInMemory[] = "/dev/shm";
    std::error_code error;
    if (!std::filesystem::is_directory(kInMemory, error)) return;
    ASSERT_EQ(setenv("TMPDIR", kInMemory, /*overwrite=*/0), 0);
  }
};

// GoogleTest owns it.
[[maybe_unused]] const ::testing::Environment* const kRegistered =
    ::testing::AddGlobalTestEnvironment(new FilesInMemory);

}  // namespace
}  // namespace mayfly::model_test
