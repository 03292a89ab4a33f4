#include "coordinator/dashboard/http/request_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;

HttpRequest Get(std::map<std::string, std::string> headers) {
  HttpRequest request;
  request.method = "GET";
  request.path = "/";
  request.headers = std::move(headers);
  return request;
}

TEST(RequestGuard, TakesTheNamesOfThisMachineWithAnyPort) {
  const RequestGuard guard({"Search.Example.org"});
  for (const char* host : {"localhost", "localhost:7480", "LOCALHOST:1", "127.0.0.1:80", "[::1]",
                           "[::1]:7480", "search.example.org"}) {
    EXPECT_TRUE(guard.Check(Get({{"host", host}})).ok()) << host;
  }
  for (const char* host :
       {"", "evil.example", "evil.example:7480", "localhost.evil.example", "127.0.0.1.evil.example",
        "localhost:x", "127.0.0.1@evil", "::1", "[::1].evil"}) {
    EXPECT_EQ(guard.Check(Get({{"host", host}})).code(), absl::StatusCode::kPermissionDenied)
        << host;
  }
}

TEST(RequestGuard, ErrorsAreOneLineWhateverTheHeaderHolds) {
  const absl::Status status =
      RequestGuard({}).Check(Get({{"host", "a\nb\x01" + std::string(999, 'c')}}));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--dashboard-host"));
  EXPECT_LT(status.message().size(), 400u);
}

TEST(RequestGuard, RefusesPagesOfOtherOrigins) {
  const RequestGuard guard({});
  EXPECT_TRUE(
      guard.Check(Get({{"host", "localhost:7480"}, {"origin", "http://localhost:7480"}})).ok());
  for (const char* origin : {"http://evil.example", "http://localhost:9999", "http://localhost",
                             "null", "file://", "http://localhost:7480.evil"}) {
    EXPECT_FALSE(guard.Check(Get({{"host", "localhost:7480"}, {"origin", origin}})).ok()) << origin;
  }
  EXPECT_TRUE(guard.Check(Get({{"host", "localhost"}, {"sec-fetch-site", "same-origin"}})).ok());
  EXPECT_TRUE(guard.Check(Get({{"host", "localhost"}, {"sec-fetch-site", "none"}})).ok());
  EXPECT_FALSE(guard.Check(Get({{"host", "localhost"}, {"sec-fetch-site", "cross-site"}})).ok());
  EXPECT_FALSE(guard.Check(Get({{"host", "localhost"}, {"sec-fetch-site", "same-site"}})).ok());
  EXPECT_TRUE(guard
                  .Check(Get({{"host", "localhost"},
                              {"sec-fetch-site", "cross-site"},
                              {"sec-fetch-mode", "navigate"},
                              {"sec-fetch-dest", "document"}}))
                  .ok())
      << "a link to the page";
  EXPECT_FALSE(guard
                   .Check(Get({{"host", "localhost"},
                               {"sec-fetch-site", "cross-site"},
                               {"sec-fetch-mode", "navigate"},
                               {"sec-fetch-dest", "iframe"}}))
                   .ok());
}

TEST(RequestGuard, ChangesNeedTheHeaderThatOtherSitesCannotSend) {
  const RequestGuard guard({});
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"}) {
    HttpRequest request = Get({{"host", "localhost"}});
    request.method = method;
    EXPECT_FALSE(guard.Check(request).ok()) << method;
    request.headers["x-ksearch"] = "1";
    EXPECT_TRUE(guard.Check(request).ok()) << method;
  }
}

}  // namespace
}  // namespace ksearch::dashboard
