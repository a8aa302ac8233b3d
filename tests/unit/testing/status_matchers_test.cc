#include "mayfly/testing/status_matchers.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mayfly {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StringMatchResultListener;

const absl::Status kError = absl::NotFoundError("no such key");
const absl::StatusOr<int> kNoInt = kError;
const absl::StatusOr<int> kSeven = 7;

// What a failing EXPECT_THAT would add about the value.
template <typename Matcher, typename Value>
std::string Explain(const Matcher& matcher, const Value& value) {
  StringMatchResultListener listener;
  ::testing::SafeMatcherCast<const Value&>(matcher).MatchAndExplain(value,
                                                                    &listener);
  return listener.str();
}

TEST(StatusMatchersTest, IsOkMatchesWhatIsOk) {
  EXPECT_THAT(absl::OkStatus(), IsOk());
  EXPECT_THAT(kSeven, IsOk());
  EXPECT_THAT(kError, Not(IsOk()));
  EXPECT_THAT(kNoInt, Not(IsOk()));
  EXPECT_THAT(Explain(IsOk(), kNoInt), HasSubstr("no such key"));
}

TEST(StatusMatchersTest, IsOkAndHoldsLooksAtTheValue) {
  EXPECT_THAT(kSeven, IsOkAndHolds(7));
  EXPECT_THAT(kSeven, IsOkAndHolds(Gt(6)));
  EXPECT_THAT(kSeven, Not(IsOkAndHolds(8)));
  EXPECT_THAT(kNoInt, Not(IsOkAndHolds(7)));
  EXPECT_THAT(Explain(IsOkAndHolds(7), kNoInt), HasSubstr("no such key"));
  EXPECT_THAT(Explain(IsOkAndHolds(Gt(7)), kSeven), HasSubstr("holds 7"));
  EXPECT_THAT(absl::StatusOr<std::string>("text"), IsOkAndHolds("text"));
}

TEST(StatusMatchersTest, StatusIsLooksAtCodeAndMessage) {
  EXPECT_THAT(kError, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(kError, Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(kNoInt, StatusIs(absl::StatusCode::kNotFound, "no such key"));
  EXPECT_THAT(kNoInt, StatusIs(absl::StatusCode::kNotFound, HasSubstr("key")));
  EXPECT_THAT(kNoInt,
              Not(StatusIs(absl::StatusCode::kNotFound, HasSubstr("state"))));
  EXPECT_THAT(kSeven, Not(StatusIs(absl::StatusCode::kNotFound)));
  EXPECT_THAT(kSeven, StatusIs(absl::StatusCode::kOk));
  EXPECT_THAT(Explain(StatusIs(absl::StatusCode::kInternal), kError),
              HasSubstr("NOT_FOUND"));
}

TEST(StatusMatchersTest, SayWhatTheyWant) {
  const auto describe = [](const ::testing::Matcher<absl::Status>& matcher) {
    std::ostringstream text;
    matcher.DescribeTo(&text);
    return text.str();
  };
  EXPECT_EQ(describe(IsOk()), "is OK");
  EXPECT_EQ(describe(StatusIs(absl::StatusCode::kNotFound, HasSubstr("key"))),
            "is NOT_FOUND with a message that has substring \"key\"");
  const ::testing::Matcher<absl::StatusOr<int>> holds = IsOkAndHolds(Gt(6));
  std::ostringstream text;
  holds.DescribeTo(&text);
  EXPECT_EQ(text.str(), "is OK and holds a value that is > 6");
}

}  // namespace
}  // namespace mayfly
