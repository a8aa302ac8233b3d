#include "airport_delays/report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace airport_delays {
namespace {

std::string FormatTime(mayfly::TimestampMs time_ms) {
  return absl::FormatTime("%Y-%m-%d%ET%H:%M:%E*SZ",
                          absl::FromUnixMillis(time_ms), absl::UTCTimeZone());
}

// Three decimals, less the zeros at their end, but always one.
std::string FormatMean(double mean) {
  std::string text = absl::StrFormat("%.3f", mean);
  if (text == "-0.000") text = "0.000";
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

}  // namespace

void AppendReport(const Report& report, std::string& line) {
  absl::StrAppend(&line, R"({"time":")", FormatTime(report.time_ms),
                  R"(","origin":)", nlohmann::json(report.origin).dump(),
                  R"(,"streak":)", report.streak, R"(,"recent":)",
                  report.recent, R"(,"mean_delay":)",
                  FormatMean(report.mean_delay), R"(,"destinations":)",
                  report.destinations, "}");
}

}  // namespace airport_delays
