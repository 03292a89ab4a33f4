#include "coordinator/llm/client_factory.h"

#include <cstdlib>
#include <string>

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Status Make(const std::string& textproto) {
  v1::ModelProvider provider;
  const absl::Status parsed = ParseTextproto(textproto, "test", &provider);
  EXPECT_TRUE(parsed.ok()) << parsed;
  return MakeLlmClient(provider, Clock::Real(), 1).status();
}

TEST(MakeLlmClientTest, DefaultsAreEnough) {
  EXPECT_TRUE(Make(R"(name: "p" openai_chat {})").ok());
  EXPECT_TRUE(Make(R"(name: "p" openai_chat { base_url: "http://localhost:8000/v1/" })").ok());
  EXPECT_TRUE(Make(R"(name: "p" openai_chat { base_url: "http://[::1]:8000/v1" })").ok());
  EXPECT_TRUE(Make(R"(name: "p" anthropic {})").ok());
  EXPECT_TRUE(Make(R"(name: "p" anthropic { base_url: "http://localhost:8000/" })").ok());
}

TEST(MakeLlmClientTest, FaultsNameProviderAndField) {
  const struct {
    const char* textproto;
    const char* message;
  } cases[] = {
      {R"(openai_chat {})", "providers: an entry has no name"},
      {R"(name: "p")", "provider \"p\": no kind"},
      {R"(name: "p" openai_chat { base_url: "http://gpu-box:8000/v1" })",
       "provider \"p\": openai_chat.base_url: URL http://gpu-box:8000/v1 is not allowed"},
      {R"(name: "p" openai_chat { base_url: "http://127.0.0.1.evil.example/v1" })", "not allowed"},
      {R"(name: "p" openai_chat { base_url: "ftp://x/v1" })", "is not allowed"},
      {R"(name: "p" openai_chat { base_url: "api.openai.com/v1" })", "cannot be read"},
      {R"(name: "p" openai_chat { base_url: "https://x/v1?key=1" })", "'?'"},
      {R"(name: "p" openai_chat { base_url: "https://x/v1/chat/completions" })",
       "leave out /chat/completions"},
      {R"(name: "p" openai_chat { api_key_env: "KSEARCH_TEST_NO_KEY" })",
       "environment variable KSEARCH_TEST_NO_KEY is not set"},
      {R"(name: "p" openai_chat { api_key_file: "/nonexistent" })", "/nonexistent"},
      {R"(name: "p" openai_chat { total_timeout {} })", "openai_chat.total_timeout"},
      {R"(name: "p" openai_chat { connect_timeout { seconds: -1 } })",
       "openai_chat.connect_timeout"},
      {R"(name: "p" openai_chat { max_reply_bytes: -1 })", "openai_chat.max_reply_bytes"},
      {R"(name: "p" openai_chat { embedding_model: "e" embedding_piece_bytes: 63 })",
       "openai_chat.embedding_piece_bytes: is 63, must be 64 to 1048576"},
      {R"(name: "p" openai_responses { embedding_piece_bytes: 64 })",
       "openai_responses.embedding_piece_bytes: has no effect without"},
      {R"(name: "p" anthropic { base_url: "http://gpu-box" })",
       "provider \"p\": anthropic.base_url: URL http://gpu-box is not allowed"},
      {R"(name: "p" anthropic { base_url: "https://x/v1/messages" })", "leave out /v1/messages"},
      {R"(name: "p" anthropic { base_url: "https://x/v1/" })", "leave out /v1"},
      {R"(name: "p" anthropic { api_key_env: "KSEARCH_TEST_NO_KEY" })",
       "provider \"p\": anthropic: api_key_env: environment variable KSEARCH_TEST_NO_KEY"},
      {R"(name: "p" anthropic { total_timeout {} })", "anthropic.total_timeout"},
      {R"(name: "p" anthropic { max_reply_bytes: -1 })", "anthropic.max_reply_bytes"},
      {R"(name: "p" openai_chat {} retry { max_attempts: -1 })", "retry.max_attempts"},
      {R"(name: "p" openai_chat {} retry { max_delay {} })", "retry.max_delay"},
  };
  ::unsetenv("KSEARCH_TEST_NO_KEY");
  for (const auto& c : cases) {
    EXPECT_THAT(std::string(Make(c.textproto).message()), HasSubstr(c.message)) << c.textproto;
  }
}

TEST(MakeLlmClientTest, CredentialsInAUrlAreRefusedAndNotShown) {
  const absl::Status status =
      Make(R"(name: "p" openai_chat { base_url: "https://me:hunter2@x/v1" })");
  EXPECT_THAT(std::string(status.message()), HasSubstr("user name or password"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("hunter2")));
}

TEST(DefaultModelTest, IsReadFromTheProvidersKind) {
  v1::ModelProvider provider;
  EXPECT_EQ(DefaultModel(provider), "");
  provider.mutable_openai_chat()->set_default_model("m");
  EXPECT_EQ(DefaultModel(provider), "m");
  provider.mutable_anthropic()->set_default_model("c");
  EXPECT_EQ(DefaultModel(provider), "c");
}

TEST(EmbeddingModelTest, IsWhatTheKindHas) {
  const auto model = [](const char* textproto) {
    v1::ModelProvider provider;
    EXPECT_TRUE(ParseTextproto(textproto, "test", &provider).ok());
    return EmbeddingModel(provider);
  };
  EXPECT_EQ(model(R"(openai_chat { embedding_model: "e" })"), "e");
  EXPECT_EQ(model(R"(openai_responses { embedding_model: "r" })"), "r");
  EXPECT_EQ(model(R"(anthropic {})"), "");
  EXPECT_EQ(model(R"(mailbox {})"), "");
}

}  // namespace
}  // namespace ksearch
