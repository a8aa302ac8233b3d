#include "bench/snapshot/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "bench/harness/memory.h"
#include "bench/harness/must.h"

namespace mayfly::bench {

Meter::Meter() {
  ForgetPeak();
  memory_mb_ = MemoryOf("VmRSS");
  began_ = std::chrono::steady_clock::now();
}

Figures Meter::Stop() const {
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - began_;
  return {.seconds = passed.count(),
          .pause_ms = passed.count() * 1000,
          .memory_mb = memory_mb_,
          .peak_mb = std::max(0.0, MemoryOf("VmHWM") - memory_mb_)};
}

Figures RunInChild(const std::function<Figures()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) Fail("cannot make a pipe");
  const pid_t child = ::fork();
  if (child < 0) Fail("cannot start a process");
  if (child == 0) {
    const Figures figures = work();
    const bool told =
        ::write(ends[1], &figures, sizeof(figures)) == sizeof(figures);
    std::_Exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  Figures figures;
  const bool heard =
      ::read(ends[0], &figures, sizeof(figures)) == sizeof(figures);
  ::close(ends[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0 || !heard) {
    Fail("a contender failed");
  }
  return figures;
}

}  // namespace mayfly::bench
