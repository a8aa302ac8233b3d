#include "mayfly/state/internal/file_io.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mayfly/testing/status_matchers.h"
#include "mayfly/testing/temp_directory.h"

namespace mayfly::state_internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(FileErrorTest, NamesFileAndReasonAndTheWayOut) {
  const struct {
    int error_number;
    absl::StatusCode code;
    const char* text;
  } rows[] = {
      {ENOSPC, absl::StatusCode::kResourceExhausted, "free some space"},
      {EDQUOT, absl::StatusCode::kResourceExhausted, "free some space"},
      {ENOENT, absl::StatusCode::kNotFound, "No such file"},
      {EACCES, absl::StatusCode::kPermissionDenied, "can be written"},
      {EPERM, absl::StatusCode::kPermissionDenied, "can be written"},
      {EROFS, absl::StatusCode::kPermissionDenied, "Read-only"},
      {EISDIR, absl::StatusCode::kInvalidArgument, "Is a directory"},
      {ENOTDIR, absl::StatusCode::kInvalidArgument, "Not a directory"},
      {EEXIST, absl::StatusCode::kInvalidArgument, "File exists"},
      {EIO, absl::StatusCode::kUnavailable, "Input/output error"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(FileError(row.error_number, "open", "/the/file"),
                StatusIs(row.code, AllOf(HasSubstr("cannot open '/the/file': "),
                                         HasSubstr(row.text))));
  }
}

TEST(FileIoTest, ReadsWhatWasWritten) {
  const TempDirectory directory;
  const std::string path = directory.Path("file");
  // Longer than one buffer, and with every byte in it.
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes.push_back(static_cast<char>(i));
  for (const bool sync : {false, true}) {
    ASSERT_THAT(WriteFileAtomically(path, bytes, sync), IsOk());
    EXPECT_THAT(ReadFile(path), IsOkAndHolds(bytes));
    bytes += "more";
  }
  ASSERT_THAT(WriteFileAtomically(path, "", false), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(std::string()));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(FileIoTest, ReadingWhatIsNotAFileSaysSo) {
  const TempDirectory directory;
  WriteText(directory.Path("file"), "text");
  EXPECT_THAT(ReadFile(directory.Path("missing")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(directory.Path("missing"))));
  EXPECT_THAT(ReadFile(directory.path()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Is a directory")));
  EXPECT_THAT(ReadFile(directory.Path("file/below")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Not a directory")));
}

// A full disk, as /dev/full plays it.
TEST(FileIoTest, WritingToAFullDiskIsResourceExhausted) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_THAT(WriteFully(fd, "text", "/dev/full"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("cannot write '/dev/full'")));
  EXPECT_THAT(WriteFully(fd, "", "/dev/full"), IsOk());
  ::close(fd);
}

TEST(FileIoTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TempDirectory directory;
  const std::string path = directory.Path("file");
  WriteText(path, "old");
  // The temporary file is a link to a disk that is full.
  std::filesystem::create_symlink("/dev/full", path + ".tmp");
  EXPECT_THAT(WriteFileAtomically(path, "new", false),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds(std::string("old")));
  EXPECT_FALSE(std::filesystem::is_symlink(path + ".tmp"));
}

TEST(FileIoTest, ADirectoryInTheWayOfAFileIsNamed) {
  const TempDirectory directory;
  const std::string path = directory.Path("file");
  std::filesystem::create_directory(path);
  EXPECT_THAT(WriteFileAtomically(path, "new", false),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(path)));
  EXPECT_THAT(WriteFileAtomically(directory.Path("none/file"), "new", false),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(directory.Path("none/file"))));
}

TEST(FileIoTest, MakesDirectories) {
  const TempDirectory directory;
  const std::string path = directory.Path("a/b/c");
  EXPECT_THAT(MakeDirectory(path), IsOk());
  EXPECT_THAT(MakeDirectory(path), IsOk());
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

TEST(FileIoTest, MakesNoDirectoryWhereAFileIs) {
  const TempDirectory directory;
  const std::string file = directory.Path("file");
  WriteText(file, "text");
  EXPECT_THAT(MakeDirectory(file), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("'" + file + "'")));
  EXPECT_THAT(MakeDirectory(file + "/below"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'" + file + "/below'")));
  EXPECT_THAT(ReadFile(file), IsOkAndHolds(std::string("text")));
}

TEST(DirectoryLockTest, IsHeldByOneAtATime) {
  const TempDirectory directory;
  {
    const auto lock = DirectoryLock::Acquire(directory.path());
    ASSERT_THAT(lock, IsOk());
    EXPECT_THAT(DirectoryLock::Acquire(directory.path()),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("'" + directory.path() +
                                         "' is in use by "
                                         "process " +
                                         std::to_string(::getpid())),
                               HasSubstr("stop it first"))));
  }
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()), IsOk());
}

TEST(DirectoryLockTest, MovesWithTheObject) {
  const TempDirectory directory;
  DirectoryLock kept;
  {
    auto lock = DirectoryLock::Acquire(directory.path());
    ASSERT_THAT(lock, IsOk());
    kept = *std::move(lock);
  }
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  kept = DirectoryLock();
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()), IsOk());
}

TEST(DirectoryLockTest, IsLostWithTheProcessHoweverItEnds) {
  const TempDirectory directory;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = DirectoryLock::Acquire(directory.path());
    const char ok = lock.ok() ? '1' : '0';
    if (::write(ready[1], &ok, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char ok = '0';
  ASSERT_EQ(::read(ready[0], &ok, 1), 1);
  EXPECT_EQ(ok, '1');
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("process " + std::to_string(child))));

  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()), IsOk());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DirectoryLockTest, ManyMayReadWhileNobodyHoldsIt) {
  const TempDirectory directory;
  // Nobody has ever held it: nothing to hold, and nothing is made.
  EXPECT_THAT(DirectoryLock::AcquireForReading(directory.path()), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  {
    const auto held = DirectoryLock::Acquire(directory.path());
    ASSERT_THAT(held, IsOk());
    EXPECT_THAT(DirectoryLock::AcquireForReading(directory.path()),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(directory.path()),
                               HasSubstr(std::to_string(::getpid())))));
  }
  {
    const auto one = DirectoryLock::AcquireForReading(directory.path());
    const auto two = DirectoryLock::AcquireForReading(directory.path());
    EXPECT_THAT(one, IsOk());
    EXPECT_THAT(two, IsOk());
    EXPECT_THAT(DirectoryLock::Acquire(directory.path()),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("is being read")));
  }
  EXPECT_THAT(DirectoryLock::Acquire(directory.path()), IsOk());
}

TEST(DirectoryLockTest, NeedsADirectory) {
  const TempDirectory directory;
  EXPECT_THAT(DirectoryLock::Acquire(directory.Path("missing")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(directory.Path("missing"))));
}

// Nobody may write below /proc, root included.
TEST(DirectoryLockTest, NeedsTheRightToWrite) {
  EXPECT_THAT(DirectoryLock::Acquire("/proc"), Not(IsOk()));
  EXPECT_THAT(MakeDirectory("/proc/mayfly"), Not(IsOk()));
}

}  // namespace
}  // namespace mayfly::state_internal
