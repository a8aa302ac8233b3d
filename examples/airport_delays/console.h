// What people see of a job: its progress and its end.
#pragma once

#include <string>

#include "airport_delays/flags.h"
#include "mayfly/runtime/job_report.h"

namespace airport_delays {

// One line: how fast, how far, and what state is held.
std::string FormatProgress(const mayfly::JobProgress& progress);

// A short table: what was done, what state is held, and where it all lies.
std::string FormatSummary(const Flags& flags,
                          const mayfly::JobSummary& summary);

}  // namespace airport_delays
