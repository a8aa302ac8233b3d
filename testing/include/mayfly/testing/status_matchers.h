// Matchers for absl::Status and absl::StatusOr, named and shaped like those of
// newer Abseil, so that they can be swapped for those.
//
//   EXPECT_THAT(backend->Commit(), IsOk());
//   EXPECT_THAT(FromBytes<int>(bytes), IsOkAndHolds(7));
//   EXPECT_THAT(Validate(options),
//               StatusIs(absl::StatusCode::kInvalidArgument,
//                        HasSubstr("shards")));
#pragma once

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace mayfly {
namespace testing_internal {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

class IsOkMatcher {
 public:
  using is_gtest_matcher = void;

  template <typename T>
  bool MatchAndExplain(const T& value,
                       ::testing::MatchResultListener* listener) const {
    const absl::Status& status = StatusOf(value);
    if (!status.ok()) *listener << "which is " << status.ToString();
    return status.ok();
  }
  void DescribeTo(std::ostream* out) const { *out << "is OK"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is an error"; }
};

class StatusIsMatcher {
 public:
  using is_gtest_matcher = void;

  StatusIsMatcher(absl::StatusCode code,
                  ::testing::Matcher<const std::string&> message)
      : code_(code), message_(std::move(message)) {}

  template <typename T>
  bool MatchAndExplain(const T& value,
                       ::testing::MatchResultListener* listener) const {
    const absl::Status& status = StatusOf(value);
    *listener << "which is " << status.ToString();
    return status.code() == code_ &&
           message_.Matches(std::string(status.message()));
  }
  void DescribeTo(std::ostream* out) const {
    *out << "is " << absl::StatusCodeToString(code_) << " with a message that ";
    message_.DescribeTo(out);
  }
  void DescribeNegationTo(std::ostream* out) const {
    *out << "is not " << absl::StatusCodeToString(code_)
         << ", or has a message that ";
    message_.DescribeNegationTo(out);
  }

 private:
  const absl::StatusCode code_;
  const ::testing::Matcher<const std::string&> message_;
};

// Converts to a matcher of the StatusOr that it meets: only then is known what
// type the inner matcher looks at.
template <typename Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename Result>
  operator ::testing::Matcher<Result>() const {  // NOLINT: as gMock's own do.
    return ::testing::Matcher<Result>(new Impl<Result>(inner_));
  }

 private:
  template <typename Result>
  class Impl final : public ::testing::MatcherInterface<Result> {
   public:
    using Value = typename std::decay_t<Result>::value_type;

    explicit Impl(const Inner& inner)
        : inner_(::testing::SafeMatcherCast<const Value&>(inner)) {}

    bool MatchAndExplain(
        Result result,
        ::testing::MatchResultListener* listener) const override {
      if (!result.ok()) {
        *listener << "which is " << result.status().ToString();
        return false;
      }
      *listener << "which holds " << ::testing::PrintToString(*result) << " ";
      return inner_.MatchAndExplain(*result, listener);
    }
    void DescribeTo(std::ostream* out) const override {
      *out << "is OK and holds a value that ";
      inner_.DescribeTo(out);
    }
    void DescribeNegationTo(std::ostream* out) const override {
      *out << "is an error, or holds a value that ";
      inner_.DescribeNegationTo(out);
    }

   private:
    const ::testing::Matcher<const Value&> inner_;
  };

  const Inner inner_;
};

}  // namespace testing_internal

// An OK absl::Status or absl::StatusOr.
inline testing_internal::IsOkMatcher IsOk() { return {}; }

// An absl::StatusOr that is OK and whose value matches.
template <typename Inner>
testing_internal::IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(
    Inner&& inner) {
  return testing_internal::IsOkAndHoldsMatcher<std::decay_t<Inner>>(
      std::forward<Inner>(inner));
}

// An absl::Status or absl::StatusOr with this code and a message that matches.
inline testing_internal::StatusIsMatcher StatusIs(
    absl::StatusCode code,
    ::testing::Matcher<const std::string&> message = ::testing::_) {
  return {code, std::move(message)};
}

}  // namespace mayfly
