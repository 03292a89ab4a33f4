#include "coordinator/dashboard/http/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;

TEST(ParseTarget, TakesPathAndQueryApart) {
  HttpRequest request;
  ASSERT_TRUE(
      ParseTarget("/api/v1/GetRun?run_id=a%2Fb&text=one+two&empty=&a=1&a=2", &request).ok());
  EXPECT_EQ(request.path, "/api/v1/GetRun");
  EXPECT_EQ(request.query["run_id"], "a/b");
  EXPECT_EQ(request.query["text"], "one two");
  EXPECT_EQ(request.query["empty"], "");
  EXPECT_EQ(request.query["a"], "2");
  ASSERT_TRUE(ParseTarget("/a+b", &request).ok());
  EXPECT_EQ(request.path, "/a+b");
  EXPECT_TRUE(request.query.empty());
}

TEST(ParseTarget, RefusesWhatIsNone) {
  HttpRequest request;
  for (const char* target : {"", "*", "http://x/", "/%", "/%2", "/%zz", "/a%00b", "/?x=%4"}) {
    EXPECT_EQ(ParseTarget(target, &request).code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(ErrorAnswer, IsJsonThatNothingCanBreakOutOf) {
  const HttpAnswer answer = ErrorAnswer(absl::NotFoundError("no \"<b>\"\n\x01 here"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(*answer.body, "{\"error\": \"no \\\"\\u003cb>\\\"\\u000a\\u0001 here\"}\n");
}

TEST(ErrorAnswer, AsksForATokenWhereOneIsMissing) {
  const HttpAnswer answer = ErrorAnswer(absl::UnauthenticatedError("who?"));
  EXPECT_EQ(answer.status, 401);
  ASSERT_EQ(answer.headers.size(), 1u);
  EXPECT_EQ(answer.headers[0].first, "WWW-Authenticate");
  EXPECT_EQ(ErrorAnswer(absl::PermissionDeniedError("")).status, 403);
  EXPECT_EQ(ErrorAnswer(absl::InternalError("")).status, 500);
}

}  // namespace
}  // namespace ksearch::dashboard
