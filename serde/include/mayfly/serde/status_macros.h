// Early returns for absl::Status and absl::StatusOr. Named and shaped like the
// macros that newer Abseil has, so that they can be swapped for those.
//
//   MAYFLY_RETURN_IF_ERROR(Flush());
//   MAYFLY_ASSIGN_OR_RETURN(const Config config, ReadConfig(path));
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define MAYFLY_STATUS_CONCAT_INNER_(a, b) a##b
#define MAYFLY_STATUS_CONCAT_(a, b) MAYFLY_STATUS_CONCAT_INNER_(a, b)

// Evaluates an absl::Status; returns it from the function unless it is OK.
#define MAYFLY_RETURN_IF_ERROR(...)                                        \
  do {                                                                     \
    if (absl::Status mayfly_status = (__VA_ARGS__); !mayfly_status.ok()) { \
      return mayfly_status;                                                \
    }                                                                      \
  } while (false)

// Evaluates an absl::StatusOr; gives its value to `lhs`, which may declare a
// variable, or returns its status from the function.
#define MAYFLY_ASSIGN_OR_RETURN(lhs, ...)                                      \
  MAYFLY_ASSIGN_OR_RETURN_(MAYFLY_STATUS_CONCAT_(mayfly_status_or_, __LINE__), \
                           lhs, (__VA_ARGS__))

#define MAYFLY_ASSIGN_OR_RETURN_(result, lhs, expression) \
  auto result = expression;                               \
  if (!result.ok()) return std::move(result).status();    \
  lhs = *std::move(result)
