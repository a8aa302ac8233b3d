#include "tests/unit/state/faulty_disk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace mayfly::state_test {
namespace {

enum class Outcome : std::uint8_t { kGood, kShort, kError };

struct Plan {
  DiskFault fault = {};
  std::string directory;
  int nth = 0;
  int calls = 0;
  int hits = 0;
};

// Read by every call of the process, before main() too.
constinit std::atomic<bool> armed = false;
std::mutex mutex;
Plan plan;

Outcome OutcomeOf(const Plan& now, int call) {
  const DiskFault& fault = now.fault;
  if (fault.is_short && call == now.nth) return Outcome::kShort;
  if (fault.error == 0) return Outcome::kGood;
  const int first = fault.is_short ? now.nth + 1 : now.nth;
  return call == first || (fault.lasts && call > first) ? Outcome::kError
                                                        : Outcome::kGood;
}

// What becomes of a call about `path`; sets errno.
Outcome Next(DiskCall call, std::string_view path) {
  const std::scoped_lock lock(mutex);
  if (!armed || plan.fault.call != call || !path.starts_with(plan.directory)) {
    return Outcome::kGood;
  }
  const Outcome outcome = OutcomeOf(plan, plan.calls++);
  if (outcome != Outcome::kGood) ++plan.hits;
  if (outcome == Outcome::kError) errno = plan.fault.error;
  return outcome;
}

Outcome NextOn(DiskCall call, int fd) {
  if (!armed) return Outcome::kGood;
  char link[32];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link, path, sizeof(path));
  return size < 0 ? Outcome::kGood
                  : Next(call, {path, static_cast<std::size_t>(size)});
}

Outcome NextAt(DiskCall call, const char* path) {
  return armed ? Next(call, path) : Outcome::kGood;
}

// How many of these bytes to read or write; nullopt: none, and errno is set.
std::optional<std::size_t> Part(Outcome outcome, std::size_t bytes) {
  if (outcome == Outcome::kError) return std::nullopt;
  return outcome == Outcome::kShort && bytes > 1 ? bytes / 2 : bytes;
}

}  // namespace

FaultyDisk::FaultyDisk(const DiskFault& fault, std::string directory, int nth) {
  const std::scoped_lock lock(mutex);
  plan = {.fault = fault, .directory = std::move(directory), .nth = nth};
  armed = true;
}

FaultyDisk::~FaultyDisk() {
  const std::scoped_lock lock(mutex);
  armed = false;
}

int FaultyDisk::calls() {
  const std::scoped_lock lock(mutex);
  return plan.calls;
}

int FaultyDisk::hits() {
  const std::scoped_lock lock(mutex);
  return plan.hits;
}

// In place of those of libc.
extern "C" {

int Open(const char* path, int flags, ...) __asm__("open");
int Open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  if (NextAt(DiskCall::kOpen, path) == Outcome::kError) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t Read(int fd, void* to, std::size_t size) __asm__("read");
ssize_t Read(int fd, void* to, std::size_t size) {
  const auto part = Part(NextOn(DiskCall::kRead, fd), size);
  return part ? ::syscall(SYS_read, fd, to, *part) : -1;
}

ssize_t ReadAt(int fd, void* to, std::size_t size, off_t at) __asm__("pread");
ssize_t ReadAt(int fd, void* to, std::size_t size, off_t at) {
  const auto part = Part(NextOn(DiskCall::kRead, fd), size);
  return part ? ::syscall(SYS_pread64, fd, to, *part, at) : -1;
}

// A short one would be the end of the file.
std::size_t ReadStream(void* to, std::size_t size, std::size_t count,
                       std::FILE* file) __asm__("fread_unlocked");
std::size_t ReadStream(void* to, std::size_t size, std::size_t count,
                       std::FILE* file) {
  if (NextOn(DiskCall::kRead, ::fileno(file)) == Outcome::kError) return 0;
  static const auto next = reinterpret_cast<decltype(&ReadStream)>(
      ::dlsym(RTLD_NEXT, "fread_unlocked"));
  return next(to, size, count, file);
}

ssize_t Write(int fd, const void* from, std::size_t size) __asm__("write");
ssize_t Write(int fd, const void* from, std::size_t size) {
  const auto part = Part(NextOn(DiskCall::kWrite, fd), size);
  return part ? ::syscall(SYS_write, fd, from, *part) : -1;
}

ssize_t WriteAt(int fd, const void* from, std::size_t size,
                off_t at) __asm__("pwrite");
ssize_t WriteAt(int fd, const void* from, std::size_t size, off_t at) {
  const auto part = Part(NextOn(DiskCall::kWrite, fd), size);
  return part ? ::syscall(SYS_pwrite64, fd, from, *part, at) : -1;
}

// No test ends the machine, so there is nothing to wait for.
int Sync(int fd) __asm__("fsync");
int Sync(int fd) {
  if (NextOn(DiskCall::kSync, fd) == Outcome::kError) return -1;
  return 0;
}

int SyncData(int fd) __asm__("fdatasync");
int SyncData(int fd) {
  if (NextOn(DiskCall::kSync, fd) == Outcome::kError) return -1;
  return 0;
}

int Link(const char* from, const char* to) __asm__("link");
int Link(const char* from, const char* to) {
  if (NextAt(DiskCall::kLink, to) == Outcome::kError) return -1;
  return static_cast<int>(::syscall(SYS_link, from, to));
}

int Rename(const char* from, const char* to) __asm__("rename");
int Rename(const char* from, const char* to) {
  if (NextAt(DiskCall::kRename, to) == Outcome::kError) return -1;
  return static_cast<int>(::syscall(SYS_rename, from, to));
}

}  // extern "C"

}  // namespace mayfly::state_test
