#include "tests/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace mayfly::process {
namespace {

// A failure of the test, not of what it tests.
void Check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

// A file without a name: a program never waits for somebody to read it.
int NewFile() {
  const int fd = ::memfd_create("output", MFD_CLOEXEC);
  Check(fd >= 0, "memfd_create");
  return fd;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t got =
        ::pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()));
    Check(got >= 0, "pread");
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, Input input)
    : out_(NewFile()), err_(NewFile()) {
  int in = -1;
  if (input == Input::kPipe) {
    std::signal(SIGPIPE, SIG_IGN);  // Write() sees it as an error.
    int ends[2];
    Check(::pipe2(ends, O_CLOEXEC) == 0, "pipe2");
    in = ends[0];
    in_ = ends[1];
  } else {
    in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    Check(in >= 0, "/dev/null");
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out_, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, err_, STDERR_FILENO);
  posix_spawnattr_t attributes;
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  errno =
      ::posix_spawn(&pid_, argv[0], &files, &attributes, argv.data(), environ);
  Check(errno == 0, argv[0]);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(in);
}

Process::~Process() {
  CloseInput();
  if (!ended_) {
    Signal(SIGKILL);
    Reap(0);
  }
  ::close(out_);
  ::close(err_);
}

void Process::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(in_, text.data(), text.size());
    if (written < 0 && errno == EPIPE) return;
    Check(written > 0, "write to the input of the program");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Process::CloseInput() {
  if (in_ >= 0) ::close(std::exchange(in_, -1));
}

std::string Process::err() const { return ReadAll(err_); }

void Process::Signal(int signal) {
  if (!ended_) Check(::kill(pid_, signal) == 0, "kill");
}

bool Process::EndsWithin(std::chrono::microseconds time_max) {
  if (ended_) return true;
  // Readable once the process has ended.
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  Check(fd >= 0, "pidfd_open");
  pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
  const timespec timeout = {
      .tv_sec = static_cast<time_t>(time_max.count() / 1'000'000),
      .tv_nsec = static_cast<long>(time_max.count() % 1'000'000 * 1000)};
  ::ppoll(&end, 1, &timeout, nullptr);
  ::close(fd);
  return Reap(WNOHANG);
}

ProcessResult Process::Wait() {
  CloseInput();
  if (!ended_) Reap(0);
  ProcessResult result;
  if (WIFEXITED(status_)) result.exit_code = WEXITSTATUS(status_);
  if (WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
  result.out = ReadAll(out_);
  result.err = ReadAll(err_);
  return result;
}

bool Process::Reap(int wait_flags) {
  const pid_t reaped = ::waitpid(pid_, &status_, wait_flags);
  Check(reaped >= 0, "waitpid");
  ended_ = reaped == pid_;
  return ended_;
}

ProcessResult RunProcess(const std::vector<std::string>& arguments,
                         std::string_view input) {
  Process process(arguments, Process::Input::kPipe);
  process.Write(input);
  return process.Wait();
}

}  // namespace mayfly::process
