#include "coordinator/llm/model_server/chat_endpoint.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "coordinator/llm/openai/embeddings_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kBody[] = R"({"model":"m","messages":[{"role":"user","content":"line 1\nline 2"}]})";

Cassette TestCassette() {
  return Cassette::Parse(R"(
    model: "scripted-test"
    entries { purpose: "action" node: "a" attempt: 1 text: "first" }
    entries { purpose: "action" node: "a" text: "later" usage { input_tokens: 5 output_tokens: 6 } }
    entries { purpose: "propose" text: "well" delay { seconds: 3 }
              fault { http_status: 429 retry_after { seconds: 1 nanos: 500000000 } times: 2 } }
    entries { purpose: "broken" fault { http_status: 200 body: "<html>" } }
  )",
                         "c", [](const std::string&) { return absl::NotFoundError("none"); })
      .value();
}

EndpointResponse Ask(ChatEndpoint& endpoint, std::map<std::string, std::string> headers,
                     std::string body = kBody) {
  return endpoint.Answer({.method = "POST",
                          .target = "/v1/chat/completions",
                          .headers = std::move(headers),
                          .body = std::move(body)});
}

TEST(ChatEndpointTest, TheSameLabelsAlwaysGetTheSameReply) {
  ChatEndpoint endpoint(TestCassette(), {});
  for (const char* attempt : {"1", "2", "1", "2"}) {
    const auto response = Ask(endpoint, {{"x-ksearch-purpose", "action"},
                                         {"x-ksearch-node", "a"},
                                         {"x-ksearch-attempt", attempt},
                                         {"x-ksearch-cycle", "9"}});
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr(*attempt == '1' ? "\"first\"" : "\"later\""));
    EXPECT_THAT(response.body, HasSubstr("\"model\":\"scripted-test\""));
  }
}

TEST(ChatEndpointTest, UsageIsTheEntrysOrCountedFromTheText) {
  ChatEndpoint endpoint(TestCassette(), {});
  EXPECT_THAT(Ask(endpoint, {{"x-ksearch-purpose", "action"}, {"x-ksearch-node", "a"}}).body,
              HasSubstr(R"("usage":{"completion_tokens":6,"prompt_tokens":5,"total_tokens":11})"));
  EXPECT_THAT(
      Ask(endpoint,
          {{"x-ksearch-purpose", "action"}, {"x-ksearch-node", "a"}, {"x-ksearch-attempt", "1"}})
          .body,
      HasSubstr(R"("usage":{"completion_tokens":2,"prompt_tokens":4,"total_tokens":6})"));
}

TEST(ChatEndpointTest, FaultsArePlayedFirst) {
  ChatEndpoint endpoint(TestCassette(), {});
  for (int i = 0; i < 2; ++i) {
    const auto response = Ask(endpoint, {{"x-ksearch-purpose", "propose"}});
    EXPECT_EQ(response.status, 429);
    EXPECT_EQ(response.headers.at("retry-after-ms"), "1500");
    EXPECT_THAT(response.body, HasSubstr("\"error\""));
  }
  const auto response = Ask(endpoint, {{"x-ksearch-purpose", "propose"}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.delay, absl::Seconds(3));
  EXPECT_EQ(Ask(endpoint, {{"x-ksearch-purpose", "broken"}}).body, "<html>");
}

TEST(ChatEndpointTest, DelayOptionWins) {
  ChatEndpoint endpoint(TestCassette(), {.delay = absl::Seconds(8), .record_misses_path = ""});
  EXPECT_EQ(Ask(endpoint, {{"x-ksearch-purpose", "action"}, {"x-ksearch-node", "a"}}).delay,
            absl::Seconds(8));
}

TEST(ChatEndpointTest, AMissNamesTheKeyAndTheNearestEntries) {
  ChatEndpoint endpoint(TestCassette(), {});
  const auto response = Ask(endpoint, {{"x-ksearch-purpose", "action"}, {"x-ksearch-node", "b"}});
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr(R"(no entry for purpose \"action\" node \"b\"; nearest: )"
                                       R"(purpose \"action\" node \"a\" (line 4))"));
}

TEST(ChatEndpointTest, MissesAreRecordedOnceEachAsEntries) {
  const std::string path = testing::TempDir() + "/misses.textproto";
  ASSERT_TRUE(WriteFileAtomically(path, "").ok());
  ChatEndpoint endpoint(TestCassette(), {.delay = {}, .record_misses_path = path});
  for (int i = 0; i < 2; ++i) {
    Ask(endpoint,
        {{"x-ksearch-purpose", "debug"}, {"x-ksearch-node", "n\"1"}, {"x-ksearch-attempt", "2"}});
  }
  EXPECT_EQ(ReadFile(path, 10000).value(),
            "# Prompt, 13 bytes:\n#   line 1\n#   line 2\nentries {\n  purpose: \"debug\"\n"
            "  node: \"n\\\"1\"\n  attempt: 2\n  text: \"\"\n}\n\n");
}

TEST(ChatEndpointTest, RequestsWithoutLabelsAreToldWhatToSet) {
  ChatEndpoint endpoint(TestCassette(), {});
  const auto response = Ask(endpoint, {});
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr("label_headers: true"));
}

TEST(ChatEndpointTest, BadRequestsGetAnErrorObject) {
  ChatEndpoint endpoint(TestCassette(), {});
  for (const char* body : {"", "nonsense", "[]", "{}", R"({"messages":[]})", R"({"messages":[1]})",
                           R"({"messages":[{"role":"user"}]})"}) {
    const auto response = Ask(endpoint, {{"x-ksearch-purpose", "propose"}}, body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_THAT(response.body, HasSubstr("\"error\"")) << body;
  }
  EXPECT_EQ(Ask(endpoint, {{"x-ksearch-purpose", "a"}, {"x-ksearch-attempt", "one"}}).status, 404);
}

TEST(ChatEndpointTest, OtherAddresses) {
  ChatEndpoint endpoint(TestCassette(), {});
  auto get = [&endpoint](std::string target) {
    return endpoint.Answer(
        {.method = "GET", .target = std::move(target), .headers = {}, .body = ""});
  };
  EXPECT_THAT(get("/v1/models").body, HasSubstr(R"("data":[{"created":0,"id":"scripted-test")"));
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(get("/v1/chat/completions").status, 405);
  EXPECT_EQ(get("/").status, 404);
}

EndpointResponse Embed(ChatEndpoint& endpoint, std::string body) {
  return endpoint.Answer({.method = "POST",
                          .target = "/v1/embeddings",
                          .headers = {{"x-ksearch-purpose", "embed"}},
                          .body = std::move(body)});
}

TEST(ChatEndpointTest, EmbeddingsTellHowAlikeTextsAre) {
  ChatEndpoint endpoint(TestCassette(), {});
  const std::string program = "for (int i = 0; i < n; ++i) out[i] = 2 * in[i] + block_size;";
  const std::string near = "for (int i = 0; i < n; ++i) out[i] = 3 * in[i] + block_size;";
  const std::string far = "return std::transform(begin, end, result, [](float x) { return x; });";
  const auto response = Embed(endpoint, absl::StrCat(R"({"model":"e","input":[")", program,
                                                     R"(",")", near, R"(",")", far, R"("]})"));
  ASSERT_EQ(response.status, 200) << response.body;
  const auto read = ParseEmbeddings(response.body, 3);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_GT(CosineOf(read->embeddings[0], read->embeddings[1]), 0.85);
  EXPECT_LT(CosineOf(read->embeddings[0], read->embeddings[2]), 0.6);
  EXPECT_EQ(read->model, "e");
  EXPECT_GT(read->usage.input(), 40);
  const auto packed =
      Embed(endpoint, absl::StrCat(R"({"input":")", near, R"(","encoding_format":"base64"})"));
  EXPECT_EQ(ParseEmbeddings(packed.body, 1)->embeddings[0], read->embeddings[1]);
}

TEST(ChatEndpointTest, RequestsToEmbedThatAreNoneAreRefused) {
  ChatEndpoint endpoint(TestCassette(), {});
  for (const char* body : {"", "[]", "{}", R"({"input":[]})", R"({"input":[1]})",
                           R"({"input":"a","encoding_format":"int8"})"}) {
    EXPECT_EQ(Embed(endpoint, body).status, 400) << body;
  }
  EXPECT_EQ(
      endpoint.Answer({.method = "GET", .target = "/v1/embeddings", .headers = {}, .body = ""})
          .status,
      405);
}

TEST(ChatEndpointTest, EmbeddingsFailAsTheCassetteSays) {
  const auto cassette =
      Cassette::Parse(R"(entries { purpose: "embed" fault { http_status: 503 times: 1 } })", "c",
                      [](const std::string&) { return absl::NotFoundError("none"); });
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  ChatEndpoint endpoint(*cassette, {});
  EXPECT_EQ(Embed(endpoint, R"({"input":"a"})").status, 503);
  EXPECT_EQ(Embed(endpoint, R"({"input":"a"})").status, 200);
  const auto scripted =
      Cassette::Parse(R"(entries { purpose: "embed" text: "0.5 0.5" })", "c",
                      [](const std::string&) { return absl::NotFoundError("none"); });
  EXPECT_THAT(std::string(scripted.status().message()),
              HasSubstr("c:1: entry 1: fault is missing: embeddings are computed"));
}

}  // namespace
}  // namespace ksearch
