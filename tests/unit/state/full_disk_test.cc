// A disk that fills up, played by a small file system in memory. Only root may
// mount one; without that right these tests are skipped.
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"
#include "tests/unit/state/test_shard.h"

namespace mayfly::state_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Value = ValueStateDescriptor<std::string>;

// A file system of a few MiB.
class SmallDisk {
 public:
  explicit SmallDisk(const char* options)
      : mounted_(::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0,
                         options) == 0),
        error_(mounted_ ? 0 : errno) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::string error() const { return std::strerror(error_); }
  std::string Path(const std::string& name) const {
    return directory_.Path(name);
  }

  bool MakeReadOnly() {
    return ::mount("tmpfs", directory_.path().c_str(), "tmpfs",
                   MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

  // Takes all room but the last few KiB.
  void Fill() {
    std::ofstream file(Path("filler"), std::ios::binary);
    const std::string block(4096, 'f');
    while (file.write(block.data(), 4096) && file.flush()) {
    }
  }
  void Free() { std::filesystem::remove(Path("filler")); }

 private:
  const TempDirectory directory_;
  const bool mounted_;
  const int error_;
};

// Bytes that do not compress.
std::string Noise(std::size_t size) {
  std::string noise;
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < size; ++i) {
    random = random * 1'664'525 + 1'013'904'223;
    noise.push_back(static_cast<char>(random >> 24));
  }
  return noise;
}

class FullDiskTest : public ::testing::TestWithParam<BackendSetup> {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) {
      GTEST_SKIP() << "no small disk can be mounted here: " << disk_.error();
    }
    shard_.options.directory = disk_.Path("shard");
    shard_.Reopen();
  }
  void TearDown() override { shard_.Close(); }

  Shard<> shard_{GetParam()};
  SmallDisk disk_{"size=4m"};
};

INSTANTIATE_TEST_SUITE_P(Backends, FullDiskTest, BothBackends(), SetupName);

TEST_P(FullDiskTest, ACommitThatFailsLosesNothing) {
  auto* value = &shard_.Get(Describe<Value>("value", Ttl(1000)));
  shard_->SetCurrentKey("small");
  Must(value->Update("one"));
  shard_.Commit("before");
  disk_.Fill();

  shard_->SetCurrentKey("large");
  Must(value->Update(Noise(500'000)));
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(shard_->Commit("after"),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr(shard_.options.directory),
                               HasSubstr("free some space"))));
    EXPECT_EQ(shard_->committed_position(), "before");
    EXPECT_TRUE(Read(*value) == Noise(500'000));
  }

  disk_.Free();
  // RocksDB takes some seconds to notice, and on a larger disk than this.
  if (GetParam().kind == BackendKind::kRocksdb) return;
  EXPECT_THAT(shard_->Commit("after"), IsOk());
  shard_.Reopen();
  EXPECT_EQ(shard_->committed_position(), "after");
  value = &shard_.Get(Describe<Value>("value", Ttl(1000)));
  shard_->SetCurrentKey("large");
  EXPECT_TRUE(Read(*value) == Noise(500'000));
  shard_->SetCurrentKey("small");
  EXPECT_EQ(Read(*value), "one");
}

TEST_P(FullDiskTest, ARestartAfterItBeginsAtTheLastGoodCommit) {
  auto* value = &shard_.Get(Describe<Value>("value", Ttl(1000)));
  shard_->SetCurrentKey("k");
  Must(value->Update("one"));
  shard_.Commit("before");
  disk_.Fill();
  Must(value->Update(Noise(500'000)));
  EXPECT_THAT(shard_->Commit("after"),
              StatusIs(absl::StatusCode::kResourceExhausted));
  shard_.Close();
  disk_.Free();
  shard_.Reopen();
  EXPECT_EQ(shard_->committed_position(), "before");
  value = &shard_.Get(Describe<Value>("value", Ttl(1000)));
  shard_->SetCurrentKey("k");
  EXPECT_EQ(Read(*value), "one");
}

TEST_P(FullDiskTest, OpeningOnAFullDiskSaysSo) {
  disk_.Fill();
  shard_.options.directory = disk_.Path("another");
  EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kResourceExhausted,
                                           HasSubstr(disk_.Path("another"))));
}

TEST_P(FullDiskTest, AReadOnlyDiskSaysSo) {
  shard_.Commit("p");
  shard_.Close();
  if (!disk_.MakeReadOnly()) GTEST_SKIP() << "no disk can be made read-only";
  EXPECT_THAT(shard_.TryReopen(),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       AllOf(HasSubstr(shard_.options.directory),
                             HasSubstr("Read-only file system"))));
  shard_.options.directory = disk_.Path("another");
  EXPECT_THAT(shard_.TryReopen(), StatusIs(absl::StatusCode::kPermissionDenied,
                                           HasSubstr("Read-only file system")));
}

}  // namespace
}  // namespace mayfly::state_test
