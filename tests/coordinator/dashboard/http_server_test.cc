#include "coordinator/dashboard/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "common/mutex.h"
#include "tests/coordinator/dashboard/plain_client.h"
#include "tests/fakes/eventually.h"

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// A server that repeats the request; "/stream" stays open.
class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpServer::Options options = {}) {
    auto server = HttpServer::Start(std::move(options), [this](const HttpRequest& request) {
      ++asked_;
      if (request.path == "/stream") {
        HttpAnswer answer;
        answer.content_type = "text/event-stream";
        answer.stream = [this](std::shared_ptr<EventStream> stream) {
          MutexLock lock(&mu_);
          streams_.push_back(std::move(stream));
        };
        return answer;
      }
      return TextAnswer(200, "text/plain",
                        absl::StrCat(request.method, " ", request.path, " ", request.body.size()));
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }
  ~HttpServerTest() override {
    if (server_ != nullptr) server_->Stop();
    MutexLock lock(&mu_);
    streams_.clear();
  }
  std::shared_ptr<EventStream> Stream(size_t number) {
    EXPECT_TRUE(Eventually([&] {
      MutexLock lock(&mu_);
      return streams_.size() > number;
    }));
    MutexLock lock(&mu_);
    return streams_.at(number);
  }

  std::atomic<int> asked_{0};
  std::unique_ptr<HttpServer> server_;
  Mutex mu_;
  std::vector<std::shared_ptr<EventStream>> streams_ ABSL_GUARDED_BY(mu_);
};

std::shared_ptr<const std::string> Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST_F(HttpServerTest, AnswersSeveralRequestsOfOneConnection) {
  Start();
  PlainClient client(server_->port());
  for (int i = 0; i < 3; ++i) {
    const std::string answer = client.Ask("POST", "/there?x=1", "", "body");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nPOST /there 4"));
  }
}

TEST_F(HttpServerTest, EveryAnswerCarriesWhatKeepsBrowsersStrict) {
  Start();
  PlainClient client(server_->port());
  const std::string answer = client.Ask("GET", "/");
  EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store"));
  EXPECT_THAT(answer, Not(HasSubstr("Access-Control-Allow")));
}

TEST_F(HttpServerTest, RefusesWhatIsTooLargeOrNoRequest) {
  HttpServer::Options options;
  options.max_body_bytes = 1000;
  options.max_header_bytes = 2000;
  Start(options);
  EXPECT_THAT(PlainClient(server_->port()).Ask("POST", "/", "", std::string(1001, 'x')),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(PlainClient(server_->port())
                  .Ask("GET", "/", absl::StrCat("X: ", std::string(3000, 'x'), "\r\n")),
              StartsWith("HTTP/1.1 431"));
  PlainClient strange(server_->port());
  strange.Say("\x16\x03\x01 what is this\r\n\r\n");
  EXPECT_THAT(strange.ReadAnswer(), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(PlainClient(server_->port()).Ask("GET", "nowhere"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(PlainClient(server_->port()).Ask("GET", "/", "Host: other\r\n"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(asked_, 0);
  EXPECT_THAT(PlainClient(server_->port()).Ask("GET", "/"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, APortThatIsTakenIsSaid) {
  Start();
  HttpServer::Options options;
  options.port = server_->port();
  const auto second =
      HttpServer::Start(options, [](const HttpRequest&) { return ErrorAnswer(500, ""); });
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("port ", server_->port())));
  options.host = "somewhere";
  EXPECT_EQ(HttpServer::Start(options, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(HttpServerTest, OneConnectionTooManyIsClosed) {
  HttpServer::Options options;
  options.max_connections = 2;
  Start(options);
  PlainClient first(server_->port()), second(server_->port());
  EXPECT_THAT(first.Ask("GET", "/"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(second.Ask("GET", "/"), StartsWith("HTTP/1.1 200"));
  PlainClient third(server_->port());
  EXPECT_EQ(third.Ask("GET", "/"), "");
  EXPECT_THAT(first.Ask("GET", "/"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, ASilentConnectionIsClosed) {
  HttpServer::Options options;
  options.patience = absl::Milliseconds(100);
  Start(options);
  PlainClient silent(server_->port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  PlainClient half(server_->port());
  half.Say("GET / HTTP/1.1\r\nHost: ");
  EXPECT_EQ(half.ReadToEnd(), "");
}

TEST_F(HttpServerTest, AStreamGoesOnUntilItIsClosed) {
  Start();
  PlainClient client(server_->port());
  client.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), HasSubstr("Content-Type: text/event-stream"));
  const auto stream = Stream(0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(stream->Send(Text(absl::StrCat(i, ";"))));
  stream->Close();
  std::string expected;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&expected, i, ";");
  EXPECT_EQ(client.ReadToEnd(), expected);
  EXPECT_TRUE(Eventually([&] { return stream->closed(); }));
  EXPECT_FALSE(stream->Send(Text("late")));
}

TEST_F(HttpServerTest, AStreamNoticesThatItsReaderLeft) {
  Start();
  auto client = std::make_unique<PlainClient>(server_->port());
  client->Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client->ReadUntil("\r\n\r\n");
  const auto stream = Stream(0);
  EXPECT_FALSE(stream->closed());
  client.reset();
  EXPECT_TRUE(Eventually([&] { return stream->closed(); }));
}

TEST_F(HttpServerTest, AReaderThatIsTooSlowIsCutOffAndOthersAreNot) {
  HttpServer::Options options;
  options.max_stream_backlog_bytes = 1 << 20;
  Start(options);
  PlainClient slow(server_->port()), quick(server_->port());
  slow.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  slow.ReadUntil("\r\n\r\n");
  const auto to_slow = Stream(0);
  quick.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  quick.ReadUntil("\r\n\r\n");
  const auto to_quick = Stream(1);
  const auto text = Text(std::string(256 << 10, 'x'));
  // Fills the sockets' buffers, then the server's backlog.
  int sent = 0;
  while (to_slow->Send(text) && sent < 1000) ++sent;
  EXPECT_LT(sent, 1000);
  EXPECT_TRUE(to_slow->closed());
  EXPECT_TRUE(to_quick->Send(Text("end\n")));
  EXPECT_EQ(quick.ReadUntil("end\n"), "end\n");
}

TEST_F(HttpServerTest, OneStreamTooManyIsRefused) {
  HttpServer::Options options;
  options.max_streams = 1;
  Start(options);
  PlainClient first(server_->port());
  first.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  first.ReadUntil("\r\n\r\n");
  EXPECT_THAT(PlainClient(server_->port()).Ask("GET", "/stream"), StartsWith("HTTP/1.1 503"));
  const auto stream = Stream(0);
  stream->Close();
  EXPECT_EQ(first.ReadToEnd(), "");
  EXPECT_TRUE(Eventually([&] {
    PlainClient next(server_->port());
    next.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return absl::StartsWith(next.ReadUntil("\r\n\r\n"), "HTTP/1.1 200");
  }));
}

TEST_F(HttpServerTest, StopsWithConnectionsAndStreamsOpen) {
  Start();
  PlainClient idle(server_->port()), reader(server_->port());
  idle.Ask("GET", "/");
  reader.Say("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  reader.ReadUntil("\r\n\r\n");
  const auto stream = Stream(0);
  server_->Stop();
  EXPECT_FALSE(stream->Send(Text("late")));
  EXPECT_EQ(reader.ReadToEnd(), "");
  EXPECT_EQ(idle.ReadToEnd(), "");
  server_->Stop();
}

}  // namespace
}  // namespace ksearch::dashboard
