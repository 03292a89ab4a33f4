// The whole client over real HTTP, against servers in this process on loopback ports.

#include <arpa/inet.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "coordinator/llm/client_factory.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/llm/http/curl_transport.h"
#include "coordinator/llm/model_server/http_server.h"
#include "coordinator/llm/model_server/text_embedding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGood[] = R"({"choices":[{"finish_reason":"stop","message":{"content":"hi"}}]})";
constexpr char kKey[] = "sk-verysecret-0123456789";

EndpointResponse Response(int status, std::string body,
                          std::map<std::string, std::string> headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body), .delay = {}};
}

// Answers in order; the last answer is repeated.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::deque<EndpointResponse> script) : script_(std::move(script)) {
    server_ = HttpServer::Start(0, [this](const EndpointRequest& request) {
                MutexLock lock(&mu_);
                requests_.push_back(request);
                EndpointResponse response = script_.front();
                if (script_.size() > 1) script_.pop_front();
                return response;
              }).value();
  }
  std::string origin() const { return absl::StrCat("http://127.0.0.1:", server_->port()); }
  std::string base_url() const { return absl::StrCat(origin(), "/v1"); }
  std::vector<EndpointRequest> requests() {
    MutexLock lock(&mu_);
    return requests_;
  }

 private:
  Mutex mu_;
  std::deque<EndpointResponse> script_ ABSL_GUARDED_BY(mu_);
  std::vector<EndpointRequest> requests_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<HttpServer> server_;
};

std::unique_ptr<LlmClient> MakeClient(const std::string& base_url, const std::string& more = "") {
  ::setenv("KSEARCH_TEST_KEY", kKey, 1);
  v1::ModelProvider provider;
  const absl::Status parsed = ParseTextproto(
      absl::StrCat("name: \"local\" openai_chat { base_url: \"", base_url,
                   "\" api_key_env: \"KSEARCH_TEST_KEY\" default_model: \"m\" label_headers: true ",
                   more,
                   "} retry { max_attempts: 3 first_delay { nanos: 1000000 } } "
                   "flow { initial_concurrency: 200 max_concurrency: 200 }"),
      "test", &provider);
  EXPECT_TRUE(parsed.ok()) << parsed;
  return MakeLlmClient(provider, Clock::Real(), 1).value();
}

// Replies of calls in flight.
class Replies {
 public:
  LlmClient::Done Expect() {
    return [this](absl::StatusOr<LlmReply> reply) {
      MutexLock lock(&mu_);
      replies_.push_back(std::move(reply));
      changed_.NotifyAll();
    };
  }
  std::vector<absl::StatusOr<LlmReply>> Await(size_t count) {
    MutexLock lock(&mu_);
    while (replies_.size() < count) changed_.Wait(&mu_);
    return replies_;
  }
  size_t count() {
    MutexLock lock(&mu_);
    return replies_.size();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<absl::StatusOr<LlmReply>> replies_ ABSL_GUARDED_BY(mu_);
};

absl::StatusOr<LlmReply> Ask(LlmClient& client, LlmRequest request = {}) {
  Replies replies;
  client.Complete(std::move(request), replies.Expect());
  return replies.Await(1)[0];
}

std::string FailureOf(const absl::StatusOr<LlmReply>& reply) {
  EXPECT_FALSE(reply.ok());
  const std::string text = reply.status().ToString();
  EXPECT_THAT(text, Not(HasSubstr("verysecret")));
  return text;
}

TEST(LlmHttpTest, ACallCarriesKeyLabelsAndPrompt) {
  ScriptedServer server({Response(200, kGood)});
  auto client = MakeClient(server.base_url());
  LlmRequest request;
  request.user = "prompt";
  request.labels = {.purpose = "action", .node_id = "n1", .attempt = 4, .cycle = 2};
  const auto reply = Ask(*client, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "hi");
  const EndpointRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/v1/chat/completions");
  EXPECT_EQ(seen.headers.at("authorization"), absl::StrCat("Bearer ", kKey));
  EXPECT_EQ(seen.headers.at("x-ksearch-node"), "n1");
  EXPECT_EQ(seen.headers.at("x-ksearch-attempt"), "4");
  EXPECT_EQ(seen.headers.count("expect"), 0u);
  EXPECT_THAT(seen.body, HasSubstr("\"prompt\""));
}

TEST(LlmHttpTest, BusyAndBrokenServersAreTriedAgain) {
  ScriptedServer server({Response(429, "{}", {{"retry-after-ms", "20"}}), Response(500, "oops"),
                         Response(200, kGood)});
  auto client = MakeClient(server.base_url());
  const absl::Time start = Clock::Real().SteadyNow();
  EXPECT_TRUE(Ask(*client).ok());
  EXPECT_GE(Clock::Real().SteadyNow() - start, absl::Milliseconds(20));
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(LlmHttpTest, AWrongKeyIsTerminalAndNotShown) {
  ScriptedServer server(
      {Response(401, absl::StrCat(R"({"error":{"message":"no such key: )", kKey, R"("}})"))});
  auto client = MakeClient(server.base_url());
  const auto reply = Ask(*client);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(FailureOf(reply), HasSubstr("KSEARCH_TEST_KEY"));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(LlmHttpTest, GarbageAndEmptyRepliesAreDataLossAfterOneRetry) {
  for (const char* body :
       {"garbage", R"({"choices":[{"finish_reason":"stop","message":{"content":null}}]})"}) {
    ScriptedServer server({Response(200, body)});
    auto client = MakeClient(server.base_url());
    const auto reply = Ask(*client);
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(FailureOf(reply), HasSubstr(server.base_url()));
    EXPECT_EQ(server.requests().size(), 2u);
  }
}

TEST(LlmHttpTest, AnErrorInA200IsNoReply) {
  ScriptedServer server(
      {Response(200, R"({"error":{"message":"no","code":"insufficient_quota"}})")});
  auto client = MakeClient(server.base_url());
  EXPECT_EQ(Ask(*client).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(LlmHttpTest, HugeRepliesAreDropped) {
  ScriptedServer server({Response(200, std::string(200000, ' ') + kGood)});
  auto client = MakeClient(server.base_url(), "max_reply_bytes: 100000");
  const auto reply = Ask(*client);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(FailureOf(reply), HasSubstr("larger than 100000 bytes"));
}

TEST(LlmHttpTest, RedirectsAreNotFollowed) {
  ScriptedServer target({Response(200, kGood)});
  ScriptedServer server({Response(302, "", {{"Location", target.base_url()}})});
  auto client = MakeClient(server.base_url());
  EXPECT_THAT(FailureOf(Ask(*client)), HasSubstr("redirects are not followed"));
  EXPECT_TRUE(target.requests().empty());
}

TEST(LlmHttpTest, ASlowReplyIsATimeout) {
  EndpointResponse slow = Response(200, kGood);
  slow.delay = absl::Hours(1);
  ScriptedServer server({slow});
  auto client = MakeClient(server.base_url(), "total_timeout { nanos: 50000000 }");
  const auto reply = Ask(*client);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(FailureOf(reply), HasSubstr("did not answer within 50ms"));
}

TEST(LlmHttpTest, TheMessagesApiIsAskedAgainAfterAnErrorInItsStream) {
  const std::map<std::string, std::string> stream = {{"Content-Type", "text/event-stream"}};
  ScriptedServer server(
      {Response(200,
                "event: error\ndata: {\"type\":\"error\",\"error\":"
                "{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
                stream),
       Response(200,
                "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"delta\":"
                "{\"type\":\"text_delta\",\"text\":\"hi\"}}\r\n\r\n"
                "event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":"
                "{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\r\n\r\n",
                stream)});
  ::setenv("KSEARCH_TEST_KEY", kKey, 1);
  v1::ModelProvider provider;
  provider.set_name("local");
  provider.mutable_anthropic()->set_base_url(server.origin());
  provider.mutable_anthropic()->set_api_key_env("KSEARCH_TEST_KEY");
  provider.mutable_anthropic()->set_default_model("c");
  provider.mutable_retry()->mutable_first_delay()->set_nanos(1000000);
  auto client = MakeLlmClient(provider, Clock::Real(), 1).value();
  const auto reply = Ask(*client);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "hi");
  EXPECT_EQ(reply->usage.output(), 2);
  ASSERT_EQ(server.requests().size(), 2u);
  const EndpointRequest seen = server.requests().at(1);
  EXPECT_EQ(seen.target, "/v1/messages");
  EXPECT_EQ(seen.headers.at("x-api-key"), kKey);
  EXPECT_EQ(seen.headers.at("anthropic-version"), "2023-06-01");
  EXPECT_EQ(seen.headers.count("authorization"), 0u);
  EXPECT_THAT(seen.body, HasSubstr("\"stream\":true"));
}

// A port on which nothing listens: bound, but not listening.
TEST(LlmHttpTest, ARefusedConnectionNamesTheUrl) {
  const UniqueFd bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(bound.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(bound.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string url = absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port), "/v1");
  auto client = MakeClient(url);
  const auto reply = Ask(*client);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(FailureOf(reply), HasSubstr(absl::StrCat("cannot connect to ", url)));
}

TEST(LlmHttpTest, ManyCallsRunAtOnce) {
  constexpr int kCalls = 200;
  std::atomic<int> arrived = 0;
  Mutex mu;
  CondVar all_here;
  // The server answers only after all requests have come.
  auto server = HttpServer::Start(0, [&](const EndpointRequest&) {
    MutexLock lock(&mu);
    if (++arrived == kCalls) all_here.NotifyAll();
    while (arrived < kCalls) all_here.Wait(&mu);
    return Response(200, kGood);
  });
  ASSERT_TRUE(server.ok());
  auto client = MakeClient(absl::StrCat("http://127.0.0.1:", (*server)->port(), "/v1"));
  Replies replies;
  for (int i = 0; i < kCalls; ++i) client->Complete({}, replies.Expect());
  for (const auto& reply : replies.Await(kCalls)) EXPECT_TRUE(reply.ok()) << reply.status();
}

TEST(LlmHttpTest, DestructionCancelsWhatIsInFlight) {
  EndpointResponse slow = Response(200, kGood);
  slow.delay = absl::Hours(1);
  ScriptedServer server({Response(429, "{}", {{"retry-after", "100"}}), slow});
  auto client = MakeClient(server.base_url());
  Replies replies;
  for (int i = 0; i < 5; ++i) client->Complete({}, replies.Expect());
  client.reset();
  ASSERT_EQ(replies.count(), 5u);
  for (const auto& reply : replies.Await(5)) {
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kCancelled) << reply.status();
  }
}

TEST(CurlTransportTest, TimersRunInOrderOfTheirTime) {
  auto transport = CurlTransport::Create().value();
  Mutex mu;
  CondVar changed;
  std::vector<int> order;
  const auto note = [&](int which) {
    return [&, which](absl::Status status) {
      EXPECT_TRUE(status.ok());
      MutexLock lock(&mu);
      order.push_back(which);
      changed.NotifyAll();
    };
  };
  transport->RunAfter(absl::Milliseconds(30), note(2));
  transport->RunAfter(absl::ZeroDuration(), note(1));
  MutexLock lock(&mu);
  while (order.size() < 2) changed.Wait(&mu);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(CurlTransportTest, ForbiddenUrlsAreNotAsked) {
  auto transport = CurlTransport::Create().value();
  Mutex mu;
  CondVar changed;
  absl::StatusCode code = absl::StatusCode::kOk;
  transport->Send({.url = "http://192.0.2.1/v1", .headers = {}, .body = ""},
                  [&](absl::StatusOr<HttpResponse> response) {
                    MutexLock lock(&mu);
                    code = response.status().code();
                    changed.NotifyAll();
                  });
  MutexLock lock(&mu);
  while (code == absl::StatusCode::kOk) changed.Wait(&mu);
  EXPECT_EQ(code, absl::StatusCode::kInvalidArgument);
}

// ---- embeddings

LlmRequest ToEmbed(const std::string& text) {
  LlmRequest request;
  request.model = "e";
  request.user = text;
  request.embeds = true;
  request.labels.purpose = "embed";
  return request;
}

TEST(LlmHttpTest, AProgramIsEmbeddedByTheModelServer) {
  const auto cassette =
      Cassette::Parse(R"(entries { purpose: "check" text: "OK" })", "c",
                      [](const std::string&) { return absl::NotFoundError("none"); });
  ChatEndpoint endpoint(*cassette, {});
  const auto server = HttpServer::Start(
      0, [&](const EndpointRequest& request) { return endpoint.Answer(request); });
  auto client = MakeClient(absl::StrCat("http://127.0.0.1:", (*server)->port(), "/v1"),
                           "embedding_model: \"e\" embedding_piece_bytes: 64 ");
  std::string program = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }\n";
  program += program + program;  // in several pieces
  const auto reply = Ask(*client, ToEmbed(program));
  ASSERT_TRUE(reply.ok()) << reply.status();
  const Embedding embedding = DecodeEmbedding(reply->text).value();
  EXPECT_TRUE(reply->usage_reported);
  EXPECT_GT(reply->usage.input(), 30);
  EXPECT_EQ(reply->usage.output(), 0);
  EXPECT_EQ(DecodeEmbedding(Ask(*client, ToEmbed(program))->text).value(), embedding);
  EXPECT_NEAR(CosineOf(embedding, EmbeddingOfText(program)), 1, 0.2);
  // All other calls go to the same place as before.
  LlmRequest check;
  check.labels.purpose = "check";
  EXPECT_EQ(Ask(*client, check)->text, "OK");
}

TEST(LlmHttpTest, AFailingEndpointOfEmbeddingsSaysWhy) {
  ScriptedServer server({Response(404, R"({"error":{"message":"no such model: e"}})")});
  auto client = MakeClient(server.base_url(), "embedding_model: \"e\" ");
  const std::string failure = FailureOf(Ask(*client, ToEmbed("x")));
  EXPECT_THAT(failure, HasSubstr("NOT_FOUND"));
  EXPECT_THAT(failure, HasSubstr("/v1/embeddings"));
  EXPECT_THAT(failure, HasSubstr("no such model: e"));
  EXPECT_EQ(server.requests().at(0).target, "/v1/embeddings");
  EXPECT_THAT(server.requests().at(0).headers.at("authorization"), HasSubstr(kKey));
}

TEST(LlmHttpTest, AServerThatKnowsNoEncodingFormatIsAskedWithoutIt) {
  ScriptedServer server(
      {Response(400, R"({"error":{"message":"Unrecognized request argument: encoding_format",
                                  "code":"unknown_parameter","param":"encoding_format"}})"),
       Response(200, R"({"data":[{"index":0,"embedding":[1,2]}]})")});
  auto client = MakeClient(server.base_url(), "embedding_model: \"e\" ");
  const auto reply = Ask(*client, ToEmbed("x"));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(server.requests().at(0).body, HasSubstr("encoding_format"));
  EXPECT_THAT(server.requests().at(1).body, Not(HasSubstr("encoding_format")));
}

}  // namespace
}  // namespace ksearch
