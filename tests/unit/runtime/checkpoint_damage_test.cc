// Each file of a checkpoint and of a savepoint, damaged in each way, is found
// before anything is restored.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "runtime/checkpoint_manifest.h"
#include "tests/fault_rounds.h"
#include "tests/unit/runtime/checkpoint_fixture.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CheckpointDamageTest : public CheckpointFixture,
                             public ::testing::WithParamInterface<BackendKind> {
 protected:
  CheckpointDamageTest() {
    options_.shards = 2;
    options_.backend = GetParam();
  }

  static absl::Status Verify(const std::string& path) {
    const auto manifest = runtime_internal::ReadManifest(path);
    if (!manifest.ok()) return manifest.status();
    return runtime_internal::VerifyFiles(
        path, *manifest, [](std::uint64_t) { return absl::OkStatus(); });
  }

  // Damages each file in turn, and mends it again.
  void ExpectFound(const std::string& checkpoint,
                   const std::function<void(const std::string&)>& damage) {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(checkpoint)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    EXPECT_GE(files.size(), 3u);
    for (const std::string& file : files) {
      const std::string whole = ReadWholeFile(file);
      // Not in the file: others may be linked to it.
      fs::remove(file);
      WriteFile(file, whole);
      ASSERT_THAT(Verify(checkpoint), IsOk());
      damage(file);
      // Without a manifest it is none.
      const bool is_none = !fs::exists(checkpoint + "/manifest");
      EXPECT_THAT(Verify(checkpoint),
                  StatusIs(is_none ? absl::StatusCode::kNotFound
                                   : absl::StatusCode::kDataLoss,
                           HasSubstr(checkpoint)))
          << file;
      WriteFile(file, whole);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, CheckpointDamageTest,
                         ::testing::Values(BackendKind::kHeap,
                                           BackendKind::kRocksdb),
                         [](const auto& test) {
                           return test.param == BackendKind::kHeap ? "Heap"
                                                                   : "Rocksdb";
                         });

TEST_P(CheckpointDamageTest, OfAnyFileIsFound) {
  ASSERT_THAT(RunWithCheckpointsAfter({100}), IsOk());
  std::minstd_rand random(9);
  const auto flip = [&random](const std::string& file) {
    std::string bytes = ReadWholeFile(file);
    const std::size_t bit = random() % (bytes.size() * 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    WriteFile(file, bytes);
  };
  const auto cut = [](const std::string& file) {
    fs::resize_file(file, fs::file_size(file) - 1);
  };
  const auto remove = [](const std::string& file) { fs::remove(file); };
  for (const std::string& checkpoint : {Checkpoint(1), Savepoint(1)}) {
    for (int round = 0; round < FaultRounds(5); ++round) {
      ExpectFound(checkpoint, flip);
    }
    ExpectFound(checkpoint, cut);
    ExpectFound(checkpoint, remove);
  }
}

}  // namespace
}  // namespace mayfly
