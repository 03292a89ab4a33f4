// Every configuration in the documentation creates a client.

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/textproto.h"
#include "coordinator/llm/client_factory.h"
#include "coordinator/llm/offline_factory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

// The blocks between ``` lines that begin with `start`.
std::vector<std::string> Blocks(const std::string& path, const std::string& start) {
  const auto text = ReadFile(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  std::vector<std::string> blocks;
  bool inside = false;
  std::vector<absl::string_view> lines;
  for (absl::string_view line : absl::StrSplit(text.value_or(""), '\n')) {
    if (!absl::StartsWith(line, "```")) {
      if (inside) lines.push_back(line);
      continue;
    }
    inside = !inside;
    const std::string block = absl::StrJoin(lines, "\n");
    if (!inside && absl::StartsWith(block, start)) blocks.push_back(block);
    lines.clear();
  }
  return blocks;
}

// An environment with every program, key and file that the documentation names.
class DocumentedConfigsTest : public testing::Test {
 protected:
  DocumentedConfigsTest() {
    std::string pattern = "/tmp/ksearch-docs-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ + "/claude") << "#!/bin/sh\n";
    EXPECT_EQ(::chmod((folder_ + "/claude").c_str(), 0755), 0);
    std::ofstream(folder_ + "/run.jsonl") << R"({"header":{"version":1,"runId":"r"}})"
                                          << "\n";
    EXPECT_EQ(::chdir(folder_.c_str()), 0);
    ::setenv("PATH", absl::StrCat(folder_, ":/usr/bin:/bin").c_str(), 1);
    ::setenv("HOME", folder_.c_str(), 1);
    for (const char* key : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"}) {
      ::setenv(key, "sk-test", 1);
    }
  }
  ~DocumentedConfigsTest() override {
    EXPECT_EQ(::chdir("/"), 0);
    std::filesystem::remove_all(folder_);
  }

  std::string folder_;
};

TEST_F(DocumentedConfigsTest, EachMakesAClient) {
  const std::string docs = absl::StrCat(::getenv("KSEARCH_SOURCE_DIR"), "/docs/");
  std::vector<std::string> blocks;
  for (const char* name : {"providers.md", "mailbox.md"}) {
    for (std::string& block : Blocks(docs + name, "providers {")) {
      blocks.push_back(std::move(block));
    }
  }
  std::set<std::string> names;
  std::set<int> kinds;
  for (const std::string& block : blocks) {
    v1::CoordinatorConfig config;
    const absl::Status parsed = ParseTextproto(block, "docs", &config);
    EXPECT_TRUE(parsed.ok()) << parsed << "\n" << block;
    for (const v1::ModelProvider& provider : config.providers()) {
      const absl::Status made = IsOffline(provider)
                                    ? MakeOfflineProvider(provider, folder_, Clock::Real()).status()
                                    : MakeLlmClient(provider, Clock::Real(), 1).status();
      EXPECT_TRUE(made.ok()) << made << "\n" << block;
      names.insert(provider.name());
      kinds.insert(provider.kind_case());
    }
  }
  EXPECT_EQ(kinds.size(), 6u);
  EXPECT_THAT(names, testing::IsSupersetOf({"openai", "anthropic", "gemini", "vllm", "llama",
                                            "ollama", "agent", "people", "recorded"}));
}

}  // namespace
}  // namespace ksearch
