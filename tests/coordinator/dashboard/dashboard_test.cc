#include "coordinator/dashboard/dashboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/crc.hpp>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/dashboard/asset.h"
#include "tests/coordinator/dashboard/plain_client.h"
#include "tests/fakes/eventually.h"

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kJson[] = "X-Ksearch: 1\r\nContent-Type: application/json\r\n";

class DashboardTest : public testing::Test {
 protected:
  Dashboard::Parts Parts() {
    Dashboard::Parts parts;
    parts.feed = &feed_;
    parts.read_events = [](int64_t, int) { return std::vector<v1::FeedEntry>(); };
    parts.newest_cursor = [] { return int64_t{7}; };
    parts.call = [this](absl::string_view method,
                        absl::string_view json) -> absl::StatusOr<std::string> {
      ++calls_;
      if (method == "GetTree") return absl::NotFoundError("no run has this id");
      return absl::StrCat("{\"method\": \"", method, "\", \"got\": ", json, "}");
    };
    parts.metrics = [](int open_pages) -> absl::StatusOr<std::string> {
      return absl::StrCat("pages ", open_pages, "\n");
    };
    return parts;
  }
  void Start(Dashboard::Parts parts) {
    auto dashboard = Dashboard::Start({.listen_address = "127.0.0.1:0"}, std::move(parts));
    ASSERT_TRUE(dashboard.ok()) << dashboard.status();
    dashboard_ = *std::move(dashboard);
    const std::string& url = dashboard_->url();
    ASSERT_THAT(url, StartsWith("http://127.0.0.1:"));
    ASSERT_TRUE(absl::SimpleAtoi(url.substr(17, url.size() - 18), &port_)) << url;
  }
  std::string Ask(absl::string_view method, absl::string_view target,
                  absl::string_view headers = "", absl::string_view body = "") {
    return PlainClient(port_).Ask(method, target, headers, body);
  }

  EventFeed feed_;
  std::atomic<int> calls_{0};
  int port_ = 0;
  std::unique_ptr<Dashboard> dashboard_;
};

TEST_F(DashboardTest, ServesThePageAndItsFilesWithoutNeedOfAnyOther) {
  Start(Parts());
  size_t total = 0;
  for (const Asset& asset : Assets()) {
    const std::string answer = Ask("GET", asset.path);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200")) << asset.path;
    EXPECT_THAT(answer, HasSubstr(absl::StrCat("X-Ksearch-Page: ", AssetsVersion()))) << asset.path;
    EXPECT_TRUE(absl::EndsWith(answer, asset.content)) << asset.path;
    total += answer.size();
    if (asset.path == "/d3.js") continue;  // contains d3's address, and code that sets HTML
    const std::string content(asset.content);
    EXPECT_THAT(content, Not(HasSubstr("https://"))) << asset.path;
    EXPECT_THAT(content, Not(HasSubstr("innerHTML"))) << asset.path;
    EXPECT_THAT(content, Not(HasSubstr(".html("))) << asset.path;
  }
  EXPECT_LT(total, size_t{300} << 10);
  EXPECT_THAT(Ask("GET", "/"), HasSubstr(absl::StrCat("content=\"", AssetsVersion(), "\"")));
  EXPECT_THAT(Ask("GET", "/", absl::StrCat("If-None-Match: \"", AssetsVersion(), "\"\r\n")),
              StartsWith("HTTP/1.1 304"));
  EXPECT_THAT(Ask("GET", "/nothing"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("GET", "/../../etc/passwd"), StartsWith("HTTP/1.1 404"));
}

TEST_F(DashboardTest, CompressesItsFilesForWhoTakesThat) {
  Start(Parts());
  size_t total = 0;
  for (const Asset& asset : Assets()) {
    const std::string answer = Ask("GET", asset.path, "Accept-Encoding: deflate, gzip, br\r\n");
    EXPECT_THAT(answer, HasSubstr("Content-Encoding: gzip\r\n")) << asset.path;
    EXPECT_THAT(answer, HasSubstr("Vary: Accept-Encoding\r\n")) << asset.path;
    ASSERT_TRUE(absl::EndsWith(answer, asset.gzip)) << asset.path;
    total += answer.size();
    // A gzip file begins with a magic number and ends with the text's CRC-32 and size.
    ASSERT_GT(asset.gzip.size(), 18u);
    EXPECT_TRUE(absl::StartsWith(asset.gzip, "\x1f\x8b"));
    const auto number = [&](size_t from_end) {
      uint32_t value = 0;
      for (int byte = 3; byte >= 0; --byte) {
        value = value << 8 | static_cast<uint8_t>(asset.gzip[asset.gzip.size() - from_end + byte]);
      }
      return value;
    };
    boost::crc_32_type crc;
    crc.process_bytes(asset.content.data(), asset.content.size());
    EXPECT_EQ(number(8), crc.checksum()) << asset.path;
    EXPECT_EQ(number(4), asset.content.size()) << asset.path;
  }
  EXPECT_LT(total, size_t{100} << 10);
  const std::string tag =
      absl::StrCat("If-None-Match: \"", AssetsVersion(), "-gzip\"\r\nAccept-Encoding: gzip\r\n");
  EXPECT_THAT(Ask("GET", "/d3.js", tag), StartsWith("HTTP/1.1 304"));
  EXPECT_THAT(Ask("GET", "/d3.js", "Accept-Encoding: gzip;q=0\r\n"),
              Not(HasSubstr("Content-Encoding")));
}

TEST_F(DashboardTest, CallsMethodsByQueryAndByBody) {
  Start(Parts());
  EXPECT_THAT(Ask("GET", "/api/v1/GetRun?run_id=a%22b"),
              HasSubstr("{\"method\": \"GetRun\", \"got\": {\"run_id\":\"a\\\"b\"}}"));
  EXPECT_THAT(Ask("GET", "/api/v1/ListResults?stale=true"), HasSubstr("{\"stale\":true}"));
  EXPECT_THAT(Ask("POST", "/api/v1/StopRun", kJson, "{\"run_id\": \"a\"}"),
              HasSubstr("\"got\": {\"run_id\": \"a\"}"));
  const std::string error = Ask("GET", "/api/v1/GetTree?run_id=x");
  EXPECT_THAT(error, StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(error, HasSubstr("{\"error\": \"no run has this id\"}"));
  EXPECT_THAT(Ask("GET", "/api/v1/Nothing"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask("DELETE", "/api/v1/StopRun", kJson), StartsWith("HTTP/1.1 405"));
}

TEST_F(DashboardTest, ManyWhoAskTheSameAtOnceCostOneCall) {
  Dashboard::Parts parts = Parts();
  Start(std::move(parts));
  PlainClient client(port_);
  const int before = calls_;
  const absl::Time start = absl::Now();
  for (int i = 0; i < 20; ++i) client.Ask("GET", "/api/v1/ListRuns");
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  EXPECT_LE(calls_ - before, 1 + static_cast<int>(seconds / 0.5) + 1);
}

TEST_F(DashboardTest, NothingIsChangedByAGetNorByAPageOfAnotherOrigin) {
  Start(Parts());
  EXPECT_THAT(Ask("GET", "/api/v1/StopRun?run_id=a"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask("POST", "/api/v1/StopRun", "Content-Type: application/json\r\n", "{}"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(
      Ask("POST", "/api/v1/StopRun", absl::StrCat(kJson, "Origin: http://evil.test\r\n"), "{}"),
      StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Ask("POST", "/api/v1/StopRun", "X-Ksearch: 1\r\nContent-Type: text/plain\r\n", "{}"),
              StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(PlainClient(port_).Ask("GET", "/", "", "", "evil.test"), StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(DashboardTest, AsksForTheTokenThatTheRpcWouldAskFor) {
  Dashboard::Parts parts = Parts();
  parts.access.authorize = [](absl::string_view authorization,
                              absl::string_view path) -> absl::StatusOr<std::string> {
    if (authorization != "Bearer good") return absl::UnauthenticatedError("who?");
    if (path == "/ksearch.v1.SearchService/StopRun")
      return absl::PermissionDeniedError("reads only");
    return std::string("id");
  };
  parts.access.still_good = [](const std::string&) { return absl::OkStatus(); };
  Start(std::move(parts));
  EXPECT_THAT(Ask("GET", "/"), StartsWith("HTTP/1.1 200")) << "the page itself tells nothing";
  for (const char* target : {"/api/v1/ListRuns", "/api/v1/events", "/metrics"}) {
    EXPECT_THAT(Ask("GET", target), StartsWith("HTTP/1.1 401")) << target;
    EXPECT_THAT(Ask("GET", target, "Authorization: Bearer bad\r\n"), StartsWith("HTTP/1.1 401"));
  }
  EXPECT_THAT(Ask("GET", "/api/v1/ListRuns", "Authorization: Bearer good\r\n"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Ask("GET", "/metrics", "Authorization: Bearer good\r\n"), HasSubstr("pages 0\n"));
  EXPECT_THAT(
      Ask("POST", "/api/v1/StopRun", absl::StrCat(kJson, "Authorization: Bearer good\r\n"), "{}"),
      StartsWith("HTTP/1.1 403"));
}

TEST_F(DashboardTest, StreamsEvents) {
  Start(Parts());
  PlainClient client(port_);
  client.Say("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("text/event-stream"));
  EXPECT_EQ(client.ReadUntil("\n\n"), "event: stand\ndata: {\"cursor\": \"7\"}\n\n");
  v1::FleetEvent event;
  event.set_text("hello\nyou");
  feed_.Publish(event);
  EXPECT_THAT(client.ReadUntil("\n\n"), HasSubstr("hello\\nyou"));
  EXPECT_THAT(Ask("GET", "/metrics"), HasSubstr("pages 1\n"));
  EXPECT_THAT(Ask("GET", "/api/v1/events?after=x"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Ask("GET", "/api/v1/events?what=x"), StartsWith("HTTP/1.1 400"));
  dashboard_.reset();
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(DashboardTest, ListensOnThisMachineOnlyAndSaysWhatIsWrong) {
  for (const char* address : {"0.0.0.0:7480", "192.168.1.5:7480", "[::]:0", "host:1"}) {
    const auto dashboard = Dashboard::Start({.listen_address = address}, Parts());
    EXPECT_EQ(dashboard.status().code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(dashboard.status().message()), HasSubstr("ssh -L")) << address;
  }
  for (const char* address : {"", "7480", ":7480", "127.0.0.1:", "127.0.0.1:70000"}) {
    const auto dashboard = Dashboard::Start({.listen_address = address}, Parts());
    EXPECT_THAT(std::string(dashboard.status().message()), HasSubstr("IP:PORT")) << address;
  }
  Start(Parts());
  const auto second =
      Dashboard::Start({.listen_address = absl::StrCat("127.0.0.1:", port_)}, Parts());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("--dashboard"));
}

}  // namespace
}  // namespace ksearch::dashboard
