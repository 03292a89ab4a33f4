#include "cli/local/model_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ModelSource Source(const Environment& environment, const std::string& name) {
  for (const ModelSource& source : FindModelSources(environment)) {
    if (source.name == name) return source;
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(ModelSourcesTest, WithoutAnythingOnlyTheMailboxIsUsable) {
  for (const ModelSource& source : FindModelSources({})) {
    EXPECT_EQ(source.usable, source.name == "mailbox") << source.name;
    if (!source.usable) {
      EXPECT_THAT(source.missing, HasSubstr(source.variable));
    }
  }
}

TEST(ModelSourcesTest, KeysAreNamedAndNeverRepeated) {
  const Environment environment = {{"OPENAI_API_KEY", "sk-secret"},
                                   {"ANTHROPIC_API_KEY", "ant-secret"},
                                   {"GEMINI_API_KEY", "gem-secret"},
                                   {"KSEARCH_MODEL_URL", "http://localhost:8000/v1"},
                                   {"KSEARCH_MODEL_KEY", "own-secret"}};
  for (const ModelSource& source : FindModelSources(environment)) {
    EXPECT_TRUE(source.usable) << source.name << source.missing;
    EXPECT_THAT(source.provider.DebugString() + source.found + source.missing,
                Not(HasSubstr("secret")));
    EXPECT_EQ(source.provider.name(), source.name);
  }
  EXPECT_EQ(Source(environment, "openai").provider.openai_chat().api_key_env(), "OPENAI_API_KEY");
  EXPECT_THAT(Source(environment, "openai").provider.openai_chat().base_url(), IsEmpty());
  EXPECT_EQ(Source(environment, "anthropic").provider.anthropic().api_key_env(),
            "ANTHROPIC_API_KEY");
  EXPECT_THAT(Source(environment, "gemini").provider.openai_chat().base_url(),
              HasSubstr("googleapis.com"));
  EXPECT_THAT(Source(environment, "gemini").environment, ElementsAre("GEMINI_API_KEY"));
  EXPECT_THAT(Source(environment, "local").environment, ElementsAre("KSEARCH_MODEL_KEY"));
}

TEST(ModelSourcesTest, OwnServerIsFreeAndNeedsNoKey) {
  const ModelSource local = Source({{"KSEARCH_MODEL_URL", "http://127.0.0.1:11434"}}, "local");
  EXPECT_TRUE(local.usable);
  EXPECT_TRUE(local.provider.free());
  EXPECT_EQ(local.provider.openai_chat().base_url(), "http://127.0.0.1:11434/v1");
  EXPECT_EQ(local.provider.openai_chat().token_limit_field(), "max_tokens");
  EXPECT_THAT(local.provider.openai_chat().api_key_env(), IsEmpty());
  EXPECT_THAT(local.provider.openai_chat().embedding_model(), IsEmpty());
}

TEST(ModelSourcesTest, WhoEmbedsIsKnownWhereItIsSure) {
  const Environment environment = {{"OPENAI_API_KEY", "k"},
                                   {"GEMINI_API_KEY", "k"},
                                   {"KSEARCH_MODEL_URL", "http://127.0.0.1:11434"},
                                   {"KSEARCH_EMBEDDING_MODEL", "qwen3-embedding:8b"}};
  const auto model = [&](const std::string& name) {
    return Source(environment, name).provider.openai_chat().embedding_model();
  };
  EXPECT_EQ(model("openai"), "text-embedding-3-small");
  EXPECT_EQ(model("gemini"), "gemini-embedding-001");
  EXPECT_EQ(model("local"), "qwen3-embedding:8b");
  // A proxy's URL may lack the version.
  EXPECT_THAT(Source({{"OPENAI_BASE_URL", "https://proxy.example/openai"}, {"OPENAI_API_KEY", "k"}},
                     "openai")
                  .provider.openai_chat()
                  .embedding_model(),
              IsEmpty());
}

TEST(ModelSourcesTest, OpenAiUrlOfThisMachineIsTheLocalServer) {
  const Environment environment = {{"OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/"},
                                   {"OPENAI_API_KEY", "for-the-proxy"}};
  const ModelSource local = Source(environment, "local");
  EXPECT_EQ(local.provider.openai_chat().base_url(), "http://127.0.0.1:8080/v1");
  EXPECT_EQ(local.provider.openai_chat().api_key_env(), "OPENAI_API_KEY");
  // The proxy's key is not for OpenAI.
  EXPECT_FALSE(Source(environment, "openai").usable);
  EXPECT_THAT(Source(environment, "openai").missing, HasSubstr("local/NAME"));
}

TEST(ModelSourcesTest, OpenAiUrlElsewhereIsWhereTheKeyGoes) {
  const ModelSource openai = Source(
      {{"OPENAI_BASE_URL", "https://proxy.example/openai"}, {"OPENAI_API_KEY", "k"}}, "openai");
  EXPECT_TRUE(openai.usable);
  EXPECT_EQ(openai.provider.openai_chat().base_url(), "https://proxy.example/openai");
  EXPECT_FALSE(openai.provider.free());
}

TEST(ModelSourcesTest, BadUrlIsSaidWithoutRepeatingIt) {
  for (const char* url : {"sk-secret", "https://me:secret@host/v1", "http://gpu-secret:8000/v1",
                          "https://h/v1?key=secret", "http://", "http://127.0.0.1/\"secret"}) {
    const ModelSource local = Source({{"KSEARCH_MODEL_URL", url}}, "local");
    EXPECT_FALSE(local.usable) << url;
    EXPECT_THAT(local.missing, AllOf(HasSubstr("KSEARCH_MODEL_URL: "), Not(HasSubstr("secret"))));
  }
}

TEST(ModelSourcesTest, ModelIsProviderAndName) {
  const std::vector<ModelSource> sources = FindModelSources({});
  const auto choice = ParseModelChoice("local/Qwen/Qwen3-Coder", sources);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->provider, "local");
  EXPECT_EQ(choice->model, "Qwen/Qwen3-Coder");
  for (const char* bad : {"gpt-5.2", "openai/", "/gpt-5.2", "/", "", "opneai/gpt-5.2"}) {
    const absl::Status status = ParseModelChoice(bad, sources).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_THAT(std::string(status.message()), HasSubstr("openai (OPENAI_API_KEY)")) << bad;
  }
}

TEST(ModelSourcesTest, MissingKeyNamesItsVariable) {
  const std::vector<ModelSource> sources = FindModelSources({{"OPENAI_API_KEY", "k"}});
  EXPECT_TRUE(CheckUsable("openai", sources, {}).ok());
  const absl::Status missing = CheckUsable("anthropic", sources, {"openai"});
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("export ANTHROPIC_API_KEY="));
  EXPECT_TRUE(CheckUsable("anthropic", sources, {"anthropic"}).ok()) << "the pair has its key";
  EXPECT_FALSE(CheckUsable("nobody", sources, {}).ok());
}

TEST(ModelSourcesTest, LoopbackIsNotByPrefix) {
  EXPECT_TRUE(IsLoopbackUrl("http://127.0.0.1:1/v1"));
  EXPECT_TRUE(IsLoopbackUrl("http://localhost"));
  EXPECT_TRUE(IsLoopbackUrl("http://[::1]:8000/v1"));
  EXPECT_FALSE(IsLoopbackUrl("http://127.0.0.1.example.com/v1"));
  EXPECT_FALSE(IsLoopbackUrl("http://127.0.0.1@example.com/v1"));
  EXPECT_FALSE(IsLoopbackUrl("127.0.0.1"));
}

}  // namespace
}  // namespace ksearch
