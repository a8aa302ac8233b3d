#include "airport_delays/flight.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace airport_delays {
namespace {

using nlohmann::json;

absl::Status Malformed(const char* field, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("field '", field, "' ", what));
}

// The line as a JSON object.
absl::StatusOr<json> ParseObject(std::string_view line) {
  try {
    json object = json::parse(line);
    if (object.is_object()) return object;
    return absl::InvalidArgumentError(
        absl::StrCat("the line is a JSON ", object.type_name(),
                     ", not an object with the fields of a flight"));
  } catch (const json::parse_error& error) {
    if (error.byte > line.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the line ends within its JSON, after ", line.size(),
                       " bytes: was it cut off?"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the line is not JSON from byte ", error.byte, " on"));
  }
}

absl::StatusOr<const json*> Find(const json& object, const char* field) {
  const auto it = object.find(field);
  if (it == object.end()) return Malformed(field, "is missing");
  return &*it;
}

absl::Status WrongType(const char* field, const json& value,
                       absl::string_view wanted) {
  const char* const type =
      value.is_number_float() ? "fraction" : value.type_name();
  return Malformed(field,
                   absl::StrCat("is of type ", type, ", and must be ", wanted));
}

absl::Status ReadString(const json& object, const char* field,
                        std::string& value) {
  const absl::StatusOr<const json*> found = Find(object, field);
  if (!found.ok()) return found.status();
  if (!(*found)->is_string()) return WrongType(field, **found, "a string");
  (*found)->get_to(value);
  if (value.empty()) return Malformed(field, "is empty");
  return absl::OkStatus();
}

absl::Status ReadInteger(const json& object, const char* field,
                         std::int32_t& value) {
  using Limits = std::numeric_limits<std::int32_t>;
  const absl::StatusOr<const json*> found = Find(object, field);
  if (!found.ok()) return found.status();
  const json& number = **found;
  if (!number.is_number_integer()) {
    return WrongType(field, number, "a whole number");
  }
  // Compared as what it is: json's own comparison takes the largest for -1.
  const bool fits = number.is_number_unsigned()
                        ? number.get<std::uint64_t>() <= Limits::max()
                        : number.get<std::int64_t>() >= Limits::min();
  if (!fits) {
    return Malformed(field, absl::StrCat("must lie between ", Limits::min(),
                                         " and ", Limits::max()));
  }
  number.get_to(value);
  return absl::OkStatus();
}

// A time that cannot be must not get through: a shard's time never goes back,
// so that one flight in the far future would make all that follow late.
absl::Status ReadTime(const json& object, const char* field,
                      mayfly::TimestampMs& time_ms) {
  static const absl::Time kBegin = absl::UnixEpoch();
  static const absl::Time kEnd =
      absl::FromCivil(absl::CivilDay(2100, 1, 1), absl::UTCTimeZone());
  std::string text;
  absl::Status status = ReadString(object, field, text);
  if (!status.ok()) return status;
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return Malformed(field, "must be a time such as 2001-01-01T00:47:00Z");
  }
  if (time < kBegin || time >= kEnd) {
    return Malformed(field, "must lie in the years 1970 to 2099");
  }
  time_ms = absl::ToUnixMillis(time);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Flight> ParseFlight(std::string_view line) {
  const absl::StatusOr<json> object = ParseObject(line);
  if (!object.ok()) return object.status();
  Flight flight;
  for (const absl::Status& status :
       {ReadTime(*object, "time", flight.time_ms),
        ReadString(*object, "origin", flight.origin),
        ReadString(*object, "destination", flight.destination),
        ReadInteger(*object, "delay_minutes", flight.delay_minutes)}) {
    if (!status.ok()) return status;
  }
  return flight;
}

}  // namespace airport_delays
