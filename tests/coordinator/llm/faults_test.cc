// Faults of servers, over real HTTP on loopback: each ends as the table in docs/providers.md says,
// and nothing reveals the key.

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "coordinator/llm/client_factory.h"
#include "coordinator/llm/failure/billed_tries.h"
#include "coordinator/llm/failure/raw_reply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fault_server.h"

namespace ksearch {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKey[] = "sk-verysecret-0123456789abcdef";

struct Kind {
  const char* name;
  const char* path;                 // after the server's origin, in base_url
  std::vector<std::string> stream;  // events of a whole reply, "hello world" with usage
  std::string whole;                // the same as one JSON body
};

std::vector<Kind> Kinds() {
  return {
      {"openai_chat",
       "/v1",
       {"data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"hello "
        "\"}}]}\r\n"
        "\r\n",
        ": comment\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"wor\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ld\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n",
        "data: [DONE]\n\n"},
       R"({"choices":[{"finish_reason":"stop","message":{"content":"hello world"}}]})"},
      {"openai_responses",
       "/v1",
       {"event: response.created\ndata: {\"type\":\"response.created\",\"response\":"
        "{\"id\":\"resp_1\",\"status\":\"in_progress\"}}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\","
        "\"delta\":\"hello\"}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":"
        "\"resp_1\",\"status\":\"completed\",\"output\":[{\"type\":\"reasoning\"},{\"type\":"
        "\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"hello world\"}]}],\"usage\":"
        "{\"input_tokens\":9,\"output_tokens\":2}}}\n\n"},
       R"({"id":"r","status":"completed","output":[{"type":"message","content":)"
       R"([{"type":"output_text","text":"hello world"}]}]})"},
      {"anthropic",
       "",
       {"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a1\","
        "\"model\":\"m\",\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"
        "\"text_delta\",\"text\":\"hello wor\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":"
        "\"text_delta\",\"text\":\"ld\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
        "\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
       R"({"type":"message","content":[{"type":"text","text":"hello world"}],)"
       R"("stop_reason":"end_turn"})"},
  };
}

// Searches every log line and every status of a test for the key.
class FaultsTest : public testing::Test {
 protected:
  FaultsTest() { testing::internal::CaptureStderr(); }
  ~FaultsTest() override {
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_THAT(log, Not(HasSubstr("verysecret")));
    EXPECT_THAT(log, Not(HasSubstr("0123456789")));
  }

  static std::unique_ptr<LlmClient> Client(const Kind& kind, const FaultServer& server,
                                           const std::string& more = "", int attempts = 3) {
    ::setenv("KSEARCH_TEST_KEY", kKey, 1);
    v1::ModelProvider provider;
    const absl::Status parsed = ParseTextproto(
        absl::StrCat("name: \"p\" ", kind.name, " { base_url: \"", server.origin(), kind.path,
                     "\" api_key_env: \"KSEARCH_TEST_KEY\" default_model: \"m\" ", more,
                     "} retry { max_attempts: ", attempts,
                     " first_delay { nanos: 1000000 } max_delay { nanos: 1000000 } } "
                     "flow { initial_concurrency: 1000 max_concurrency: 1000 breaker_failures: "
                     "1000000 }"),
        "test", &provider);
    EXPECT_TRUE(parsed.ok()) << parsed;
    return MakeLlmClient(provider, Clock::Real(), 1).value();
  }

  static absl::StatusOr<LlmReply> Ask(LlmClient& client, LlmRequest request = {}) {
    Mutex mu;
    CondVar changed;
    std::optional<absl::StatusOr<LlmReply>> result;
    client.Complete(std::move(request), [&](absl::StatusOr<LlmReply> reply) {
      MutexLock lock(&mu);
      result = std::move(reply);
      changed.NotifyAll();
    });
    MutexLock lock(&mu);
    while (!result) changed.Wait(&mu);
    EXPECT_THAT(result->status().ToString(), Not(HasSubstr("verysecret")));
    EXPECT_THAT(result->status().ToString(), Not(HasSubstr("0123456789")));
    return *std::move(result);
  }
};

Fault Bytes(std::string bytes) {
  return {.silence = {}, .bytes = std::move(bytes), .padding_bytes = 0, .hold = false};
}

TEST_F(FaultsTest, EveryStatusEndsAsTheTableSays) {
  const struct {
    int status;
    absl::StatusCode code;
    int requests;  // of at most 3
    const char* says;
  } cases[] = {
      {302, absl::StatusCode::kNotFound, 1, "redirects are not followed"},
      {400, absl::StatusCode::kInvalidArgument, 1, "HTTP 400"},
      {401, absl::StatusCode::kUnauthenticated, 1, "KSEARCH_TEST_KEY"},
      {402, absl::StatusCode::kResourceExhausted, 1, "add credit"},
      {403, absl::StatusCode::kPermissionDenied, 1, "may not use model"},
      {404, absl::StatusCode::kNotFound, 1, "check model"},
      {405, absl::StatusCode::kNotFound, 1, "base_url"},
      {408, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {409, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {413, absl::StatusCode::kInvalidArgument, 1, "HTTP 413"},
      {422, absl::StatusCode::kInvalidArgument, 1, "HTTP 422"},
      {418, absl::StatusCode::kInvalidArgument, 1, "HTTP 418"},
      {425, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {429, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {500, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {502, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {503, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {504, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
      {529, absl::StatusCode::kUnavailable, 3, "after 3 attempts"},
  };
  for (const Kind& kind : Kinds()) {
    for (const auto& c : cases) {
      SCOPED_TRACE(absl::StrCat(kind.name, " ", c.status));
      FaultServer server([&](const std::string& request, int) {
        // Servers echo keys.
        EXPECT_THAT(request, HasSubstr(kKey));
        return Bytes(
            HttpReply(c.status, absl::StrCat(R"({"error":{"message":"no, ")", kKey, R"("}})", kKey),
                      {"Location: http://127.0.0.1:1/", absl::StrCat("x-request-id: ", kKey)}));
      });
      const auto reply = Ask(*Client(kind, server));
      EXPECT_EQ(reply.status().code(), c.code) << reply.status();
      EXPECT_THAT(reply.status().ToString(), HasSubstr(c.says));
      EXPECT_EQ(server.requests(), c.requests);
    }
  }
}

TEST_F(FaultsTest, MoneyAndOverflowAreToldFromBusyAndWrong) {
  const struct {
    int status;
    const char* body;
    absl::StatusCode code;
  } cases[] = {
      {429, R"({"error":{"message":"m","code":"insufficient_quota"}})",
       absl::StatusCode::kResourceExhausted},
      {429,
       R"({"error":{"message":"m","type":"insufficient_quota","code":"credit_balance_exhausted"}})",
       absl::StatusCode::kResourceExhausted},
      {429,
       R"([{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[)"
       R"({"violations":[{"quotaId":"RequestsPerDay"}]},{"retryDelay":"0.01s"}]}}])",
       absl::StatusCode::kResourceExhausted},
      {429, R"({"error":{"message":"m","code":"rate_limit_exceeded"}})",
       absl::StatusCode::kUnavailable},
      {400, R"({"error":{"message":"This model's maximum context length is 8192 tokens"}})",
       absl::StatusCode::kOutOfRange},
      {400, R"({"error":{"message":"m","code":"context_length_exceeded"}})",
       absl::StatusCode::kOutOfRange},
      // An echoed prompt proves nothing.
      {400, R"({"error":{"message":"bad prompt: HTTP 429 insufficient_quota"}})",
       absl::StatusCode::kInvalidArgument},
      {429, R"({"error":{"message":"m","code":"slow_down"}})", absl::StatusCode::kUnavailable},
      {400, R"({"error":{"message":"m","code":"spend_limit_reached"}})",
       absl::StatusCode::kResourceExhausted},
      {400, R"({"error":{"message":"the prompt exceeds the available context size"}})",
       absl::StatusCode::kOutOfRange},
      {400, R"({"error":{"message":"m","code":"string_above_max_length"}})",
       absl::StatusCode::kInvalidArgument},
      {503, R"({"error":{"message":"m","code":"server_is_overloaded"}})",
       absl::StatusCode::kUnavailable},
  };
  const Kind kind = Kinds()[0];
  for (const auto& c : cases) {
    FaultServer server([&](const std::string&, int) { return Bytes(HttpReply(c.status, c.body)); });
    EXPECT_EQ(Ask(*Client(kind, server)).status().code(), c.code) << c.body;
  }
}

TEST_F(FaultsTest, RetryAfterIsObeyedInEachForm) {
  const Kind kind = Kinds()[0];
  const struct {
    std::function<std::string()> header;
    absl::Duration at_least;
  } cases[] = {
      {[] { return std::string("retry-after-ms: 150"); }, absl::Milliseconds(150)},
      {[] { return std::string("Retry-After: 1"); }, absl::Seconds(1)},
      {[] {
         return "Retry-After: " + absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT",
                                                   absl::Now() + absl::Seconds(2),
                                                   absl::UTCTimeZone());
       },
       absl::Milliseconds(900)},  // the date has no fractions
  };
  for (const auto& c : cases) {
    FaultServer server([&](const std::string&, int number) {
      return Bytes(number == 0 ? HttpReply(429, "{}", {c.header()}) : HttpReply(200, kind.whole));
    });
    const absl::Time start = absl::Now();
    EXPECT_TRUE(Ask(*Client(kind, server)).ok());
    EXPECT_GE(absl::Now() - start, c.at_least);
    EXPECT_EQ(server.requests(), 2);
  }
}

TEST_F(FaultsTest, AStreamCutAnywhereIsWholeOrAnError) {
  for (const Kind& kind : Kinds()) {
    const std::string recorded = ChunkedStream(kind.stream);
    int whole = 0;
    FaultServer server([&](const std::string&, int number) {
      return Bytes(recorded.substr(0, static_cast<size_t>(number)));
    });
    const auto client = Client(kind, server, "", /*attempts=*/1);
    bool answered = false;
    for (size_t cut = 0; cut <= recorded.size(); ++cut) {
      const auto reply = Ask(*client);
      if (reply.ok()) {
        EXPECT_EQ(reply->text, "hello world") << kind.name << " cut at " << cut;
        EXPECT_EQ(reply->finish_reason, "stop");
        ++whole;
      } else {
        EXPECT_FALSE(answered) << kind.name << " cut at " << cut << ": " << reply.status();
        EXPECT_THAT(reply.status().code(),
                    AnyOf(absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss))
            << reply.status();
      }
      answered = answered || reply.ok();  // then the rest of the stream does not matter
      if (cut == recorded.size()) {
        ASSERT_TRUE(reply.ok()) << reply.status();
        EXPECT_EQ(reply->usage.input(), 9);
        EXPECT_EQ(reply->usage.output(), 2);
      }
    }
    EXPECT_LT(whole, static_cast<int>(recorded.size()) / 2);
    EXPECT_EQ(server.requests(), static_cast<int>(recorded.size()) + 1);
  }
}

// All kinds at once, each twice: with a timeout for the first byte, and with one only for the rest
// of the reply.
TEST_F(FaultsTest, TenSecondsOfSilence) {
  struct Case {
    bool patient;
    std::unique_ptr<FaultServer> server;
    std::unique_ptr<LlmClient> client;
  };
  std::vector<Case> cases;
  for (const Kind& kind : Kinds()) {
    for (const bool patient : {false, true}) {
      auto server = std::make_unique<FaultServer>([kind](const std::string&, int) {
        Fault fault = Bytes(ChunkedStream(kind.stream));
        fault.silence = absl::Seconds(10);
        return fault;
      });
      auto client =
          Client(kind, *server,
                 patient ? "idle_timeout { seconds: 5 }" : "first_byte_timeout { seconds: 4 }",
                 /*attempts=*/1);
      cases.push_back({patient, std::move(server), std::move(client)});
    }
  }
  std::vector<std::thread> askers;
  for (const Case& c : cases) {
    askers.emplace_back([&c] {
      const auto reply = Ask(*c.client);
      if (c.patient) {
        EXPECT_TRUE(reply.ok()) << reply.status();
      } else {
        EXPECT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
        EXPECT_THAT(reply.status().ToString(), HasSubstr("within 4s (first_byte_timeout)"));
      }
    });
  }
  for (std::thread& asker : askers) asker.join();
}

// The clocks are scaled: 100 ms stand for minutes.
TEST_F(FaultsTest, SilenceBeforeTheFirstByteIsTriedOnceMore) {
  for (const Kind& kind : Kinds()) {
    FaultServer server([&](const std::string&, int) {
      Fault fault = Bytes(ChunkedStream(kind.stream));
      fault.silence = absl::Milliseconds(250);
      return fault;
    });
    const auto late = Ask(*Client(kind, server, "first_byte_timeout { nanos: 100000000 }"));
    EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(late.status().ToString(), HasSubstr("(first_byte_timeout)"));
    EXPECT_EQ(server.requests(), 2);  // may have been billed: retried only once
  }
}

TEST_F(FaultsTest, AStreamThatStopsAndOneThatNeverEndsHaveClocks) {
  const Kind kind = Kinds()[2];
  FaultServer server([&](const std::string&, int) {
    Fault fault = Bytes(ChunkedStream({kind.stream[0], kind.stream[1]}, /*cut=*/true));
    fault.hold = true;
    return fault;
  });
  const auto idle = Ask(*Client(kind, server, "idle_timeout { nanos: 100000000 }"));
  EXPECT_EQ(idle.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(idle.status().ToString(), HasSubstr("(idle_timeout)"));
  const auto total = Ask(*Client(kind, server, "total_timeout { nanos: 100000000 }"));
  EXPECT_EQ(total.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(total.status().ToString(), HasSubstr("(total_timeout)"));
}

TEST_F(FaultsTest, AParameterThatIsRefusedIsLeftOutFromThenOn) {
  const char* const names[] = {"reasoning_effort", "reasoning", "output_config"};
  for (size_t i = 0; i < 3; ++i) {
    const Kind kind = Kinds()[i];
    const std::string name = names[i];
    FaultServer server([&](const std::string& request, int) {
      const bool asked = request.find("\"" + name + "\"") != std::string::npos;
      return Bytes(asked
                       ? HttpReply(400, absl::StrCat(R"({"error":{"type":"invalid_request_error",)",
                                                     R"("message":"Unsupported parameter: ')", name,
                                                     R"('"}})"))
                       : ChunkedStream(kind.stream));
    });
    const auto client = Client(kind, server, "", /*attempts=*/1);
    LlmRequest request;
    request.reasoning_effort = "high";
    for (int requests : {2, 3}) {
      const auto reply = Ask(*client, request);
      EXPECT_TRUE(reply.ok()) << kind.name << ": " << reply.status();
      EXPECT_EQ(server.requests(), requests) << kind.name;
    }
  }
}

TEST_F(FaultsTest, AReplyThatHoldsTheKeyIsGivenWithoutIt) {
  const Kind kind = Kinds()[0];
  FaultServer server([&](const std::string&, int) {
    return Bytes(HttpReply(200, absl::StrCat(R"({"choices":[{"finish_reason":"stop","message":)",
                                             R"({"content":"you sent )", kKey, R"("}}]})")));
  });
  const auto reply = Ask(*Client(kind, server));
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->text, "you sent [key]");
}

TEST_F(FaultsTest, AnUnreadableReplyIsKept) {
  for (const Kind& kind : Kinds()) {
    const std::string said = absl::StrCat("<html>\xff no such key: ", kKey);
    for (const bool streamed : {false, true}) {
      FaultServer server([&](const std::string&, int) {
        return Bytes(streamed ? ChunkedStream({"data: " + said + "\n\n"}) : HttpReply(200, said));
      });
      const auto reply = Ask(*Client(kind, server));
      EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss) << kind.name;
      EXPECT_THAT(RawReply(reply.status()), HasSubstr("<html>? no such key: [key]")) << kind.name;
    }
  }
}

TEST_F(FaultsTest, WhatIsNoTlsIsTriedAgainAndWasNotBilled) {
  FaultServer server([](const std::string&, int) { return Bytes("what?\r\n\r\n"); },
                     FaultServer::Tls::kSpeaksFirst);
  const auto reply = Ask(*Client(Kinds()[0], server));
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnavailable) << reply.status();
  EXPECT_THAT(reply.status().ToString(), HasSubstr("after 3 attempts"));
  EXPECT_EQ(BilledTries(reply.status()), 0);
}

TEST_F(FaultsTest, GarbageIsToldAndTriedOnceMore) {
  for (const Kind& kind : Kinds()) {
    for (const std::string& body :
         {std::string("garbage"), std::string(1000, '\xff'), std::string("{\"choices\":"),
          std::string("[]"), std::string("{}"), std::string()}) {
      FaultServer server([&](const std::string&, int) { return Bytes(HttpReply(200, body)); });
      EXPECT_EQ(Ask(*Client(kind, server)).status().code(), absl::StatusCode::kDataLoss) << body;
      EXPECT_EQ(server.requests(), 2);
    }
    FaultServer no_http(
        [&](const std::string&, int) { return Bytes("\x16\x03\x01 what\r\n\r\n"); });
    EXPECT_THAT(Ask(*Client(kind, no_http)).status().code(),
                AnyOf(absl::StatusCode::kUnavailable, absl::StatusCode::kDataLoss));
  }
}

TEST_F(FaultsTest, AnErrorInA200IsThatError) {
  for (const Kind& kind : Kinds()) {
    for (const bool streamed : {false, true}) {
      const std::string error = R"({"type":"error","error":{"type":"authentication_error",)"
                                R"("message":"bad key sk-verysecret-0123456789abcdef"}})";
      FaultServer server([&](const std::string&, int) {
        return Bytes(streamed
                         ? ChunkedStream({kind.stream[0], "event: error\ndata: " + error + "\n\n"})
                         : HttpReply(200, error));
      });
      const auto reply = Ask(*Client(kind, server));
      EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnauthenticated)
          << kind.name << " " << reply.status();
      EXPECT_EQ(server.requests(), 1);
    }
    FaultServer busy([&](const std::string&, int number) {
      return Bytes(number == 0 ? ChunkedStream({"event: error\ndata: {\"type\":\"error\",\"error\":"
                                                "{\"type\":\"overloaded_error\",\"message\":"
                                                "\"Overloaded\"}}\n\n"})
                               : ChunkedStream(kind.stream));
    });
    const auto reply = Ask(*Client(kind, busy));
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->text, "hello world");
  }
}

TEST_F(FaultsTest, AHundredMegabytesAreNotRead) {
  for (const bool streamed : {false, true}) {
    for (const Kind& kind : Kinds()) {
      FaultServer server([&](const std::string&, int) {
        Fault fault = Bytes(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: ",
                                         streamed ? "text/event-stream" : "application/json",
                                         "\r\n\r\n", streamed ? "data: " : ""));
        fault.padding_bytes = 100 << 20;
        return fault;
      });
      const auto reply = Ask(*Client(kind, server));
      EXPECT_EQ(reply.status().code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(reply.status().ToString(), HasSubstr("8388608 bytes"));
    }
  }
}

TEST_F(FaultsTest, ACertificateThatDoesNotVerifyStopsTheProvider) {
  for (const Kind& kind : Kinds()) {
    FaultServer server([&](const std::string&, int) { return Bytes(ChunkedStream(kind.stream)); },
                       FaultServer::Tls::kSelfSigned);
    const auto reply = Ask(*Client(kind, server));
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kFailedPrecondition) << reply.status();
    EXPECT_THAT(reply.status().ToString(), HasSubstr("ca_file"));
    EXPECT_EQ(server.requests(), 0);  // the key was not sent

    const std::string ca_file = absl::StrCat(testing::TempDir(), "/ca_", kind.name, ".pem");
    std::ofstream(ca_file) << server.certificate();
    const auto trusted = Ask(*Client(kind, server, absl::StrCat("ca_file: \"", ca_file, "\"")));
    ASSERT_TRUE(trusted.ok()) << trusted.status();
    EXPECT_EQ(trusted->text, "hello world");
  }
}

TEST_F(FaultsTest, AConnectionThatIsClosedWithoutAWordIsTriedAgain) {
  const Kind kind = Kinds()[0];
  FaultServer server([&](const std::string&, int number) {
    return Bytes(number < 2 ? "" : ChunkedStream(kind.stream));
  });
  EXPECT_TRUE(Ask(*Client(kind, server)).ok());
  EXPECT_EQ(server.requests(), 3);
}

}  // namespace
}  // namespace ksearch
