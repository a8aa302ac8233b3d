// Runs a program as a user would, and kills it as fate would.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::process {

struct ProcessResult {
  // -1 if a signal ended it.
  int exit_code = -1;
  // 0 if none did.
  int signal = 0;
  std::string out;
  std::string err;
};

// A program that runs beside the test. Aborts the test if it cannot be started.
// Threads: one.
class Process {
 public:
  enum class Input { kNone, kPipe };

  // arguments[0] is the path of the program.
  explicit Process(const std::vector<std::string>& arguments,
                   Input input = Input::kNone);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Kills it if it still runs.
  ~Process();

  pid_t pid() const { return pid_; }

  // Returns early if the program has closed its input.
  void Write(std::string_view text);
  void CloseInput();

  // What it has written to standard error by now.
  std::string err() const;

  void Signal(int signal);

  // Whether it has ended, after waiting for that so long at most.
  bool EndsWithin(std::chrono::microseconds time_max);

  // Waits for its end.
  ProcessResult Wait();

 private:
  bool Reap(int wait_flags);

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  // How it ended, once it has.
  bool ended_ = false;
  int status_ = 0;
};

// Runs it from beginning to end, on the given input.
ProcessResult RunProcess(const std::vector<std::string>& arguments,
                         std::string_view input = "");

}  // namespace mayfly::process
