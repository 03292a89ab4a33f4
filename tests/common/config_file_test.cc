#include "common/config_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "common/yaml_json.h"
#include "proto/config.pb.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTextproto[] = R"(
listen_address: "127.0.0.1:7400"
task_dirs: "a"
task_dirs: "no"
providers {
  name: "openai"
  openai_chat { api_key_env: "OPENAI_API_KEY" label_headers: true }
  retry { max_attempts: 3 first_delay { seconds: 1 nanos: 500000000 } }
}
scheduler { lease_ttl { seconds: 30 } }
run_defaults { language: LANGUAGE_CUDA rounds: 20 seed: 18446744073709551615 budget { usd: "5" }
               ucb { epsilon: 0.25 } }
)";

constexpr char kYaml[] = R"(# the same
listen_address: 127.0.0.1:7400
task_dirs: [a, no]
providers:
  - name: openai
    openai_chat:
      api_key_env: OPENAI_API_KEY
      label_headers: true
    retry: {max_attempts: 3, first_delay: 1.5s}
scheduler:
  lease_ttl: 30s
run_defaults:
  language: LANGUAGE_CUDA
  rounds: 20
  seed: 18446744073709551615
  budget:
    usd: 5
  ucb: {epsilon: 0.25}
)";

constexpr char kJson[] = R"({
  "listen_address": "127.0.0.1:7400",
  "taskDirs": ["a", "no"],
  "providers": [{
    "name": "openai",
    "openai_chat": {"api_key_env": "OPENAI_API_KEY", "label_headers": true},
    "retry": {"max_attempts": 3, "first_delay": "1.5s"}
  }],
  "scheduler": {"lease_ttl": "30s"},
  "run_defaults": {"language": "LANGUAGE_CUDA", "rounds": 20, "seed": "18446744073709551615",
                   "budget": {"usd": "5"}, "ucb": {"epsilon": 0.25}}
})";

v1::CoordinatorConfig Parsed(const std::string& text, const std::string& name) {
  v1::CoordinatorConfig config;
  const absl::Status status = ParseConfig(text, name, &config);
  EXPECT_TRUE(status.ok()) << status;
  return config;
}

std::string Fault(const std::string& text, const std::string& name) {
  v1::CoordinatorConfig config;
  const absl::Status status = ParseConfig(text, name, &config);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status << "\n" << text;
  return std::string(status.message());
}

TEST(ConfigFileTest, AllThreeFormsSayTheSame) {
  const v1::CoordinatorConfig config = Parsed(kTextproto, "c.textproto");
  EXPECT_EQ(ToTextproto(Parsed(kYaml, "c.yaml")), ToTextproto(config));
  EXPECT_EQ(ToTextproto(Parsed(kYaml, "c.yml")), ToTextproto(config));
  EXPECT_EQ(ToTextproto(Parsed(kJson, "c.json")), ToTextproto(config));
  EXPECT_EQ(ToTextproto(Parsed(kTextproto, "c.conf")), ToTextproto(config));
}

TEST(ConfigFileTest, NothingAtAllIsTheDefaults) {
  for (const char* text : {"", "# only a comment\n", "{}", "---\n"}) {
    EXPECT_EQ(ToTextproto(Parsed(text, "c.yaml")), "") << text;
  }
  EXPECT_EQ(ToTextproto(Parsed("{}", "c.json")), "");
}

TEST(ConfigFileTest, FaultsNameFileAndLine) {
  EXPECT_THAT(Fault("listen_address: x\nno_such_field: 1\n", "c.yaml"),
              AllOf(StartsWith("c.yaml:2: "), HasSubstr("no_such_field")));
  EXPECT_THAT(
      Fault("providers:\n- name: a\n- name: b\n  retry:\n    max_attempts: many\n", "c.yaml"),
      AllOf(StartsWith("c.yaml:5: "), HasSubstr("max_attempts")));
  EXPECT_THAT(Fault("run_defaults:\n  language: PASCAL\n", "c.yaml"),
              AllOf(StartsWith("c.yaml:2: "), HasSubstr("PASCAL")));
  EXPECT_THAT(Fault("run_defaults:\n  rounds: 20\n  rounds: 30\n", "c.yaml"),
              AllOf(StartsWith("c.yaml:3: "), HasSubstr("'rounds' stands here twice")));
  EXPECT_THAT(Fault("a: [1\nb: 2\n", "c.yaml"), StartsWith("c.yaml:"));
  EXPECT_THAT(Fault("- a\n", "c.yaml"), HasSubstr("mapping"));
  EXPECT_THAT(Fault("a: &x 1\nb: *x\n", "c.yaml"), HasSubstr("c.yaml:1: anchors"));
  EXPECT_THAT(Fault("listen_address: !!binary aGk=\n", "c.yaml"), HasSubstr("tags"));
  EXPECT_THAT(Fault("{}\n---\n{}\n", "c.yaml"), HasSubstr("second document"));
  EXPECT_THAT(Fault("{\n  \"listen_address\": \"x\",\n  \"no_such_field\": 1\n}", "c.json"),
              AllOf(StartsWith("c.json:3: "), HasSubstr("no_such_field")));
  EXPECT_THAT(Fault("{\n  \"listen_address\": \"x\"\n", "c.json"), StartsWith("c.json:"));
  EXPECT_THAT(Fault("listen_address: \"x\" no_such: 1", "c.textproto"),
              AllOf(StartsWith("c.textproto:1:"), HasSubstr("no_such")));
}

TEST(ConfigFileTest, SizesAreLimited) {
  std::string deep = "a: ";
  for (int i = 0; i < 100; ++i) deep += "[";
  EXPECT_THAT(Fault(deep + std::string(100, ']'), "c.yaml"), HasSubstr("too deeply"));
  std::string many = "task_dirs: [";
  for (int i = 0; i < 30000; ++i) many += "x,";
  EXPECT_THAT(Fault(many + "]", "c.yaml"), HasSubstr("too many values"));
}

TEST(YamlJsonTest, WordsStayWords) {
  const auto yaml = YamlToJson("a: no\nb: 010\nc: 1.50\nd: ~\ne: \"null\"\n", "t");
  ASSERT_TRUE(yaml.ok()) << yaml.status();
  EXPECT_THAT(yaml->json, AllOf(HasSubstr("\"a\":\"no\""), HasSubstr("\"b\":\"010\""),
                                HasSubstr("\"c\":\"1.50\""), HasSubstr("\"d\":null"),
                                HasSubstr("\"e\":\"null\"")));
  EXPECT_EQ(yaml->lines.at("c"), 3);
}

}  // namespace
}  // namespace ksearch
