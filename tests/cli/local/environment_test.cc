#include "cli/local/environment.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

const Environment kEnvironment = {{"PATH", "/usr/bin"},          {"LC_ALL", "C.UTF-8"},
                                  {"OPENAI_API_KEY", "sk-1"},    {"GITHUB_TOKEN", "gh-1"},
                                  {"HTTPS_PROXY", "http://p:1"}, {"CUDA_VISIBLE_DEVICES", "1"},
                                  {"KSEARCH_TOKEN", "ks_admin"}, {"VIRTUAL_ENV", "/opt/venv"}};

TEST(EnvironmentTest, CoordinatorGetsTheKeysItIsToUseAndNoOthers) {
  EXPECT_EQ(CoordinatorEnvironment(kEnvironment, {"OPENAI_API_KEY", "GEMINI_API_KEY"}),
            (Environment{{"PATH", "/usr/bin"},
                         {"LC_ALL", "C.UTF-8"},
                         {"HTTPS_PROXY", "http://p:1"},
                         {"OPENAI_API_KEY", "sk-1"}}));
}

TEST(EnvironmentTest, WorkerGetsNoKeys) {
  EXPECT_EQ(WorkerEnvironment(kEnvironment), (Environment{{"PATH", "/usr/bin"},
                                                          {"LC_ALL", "C.UTF-8"},
                                                          {"CUDA_VISIBLE_DEVICES", "1"},
                                                          {"VIRTUAL_ENV", "/opt/venv"}}));
}

TEST(EnvironmentTest, BlanksCountForNothing) {
  EXPECT_EQ(ValueOf({{"A", " \n"}}, "A"), "");
  EXPECT_EQ(ValueOf({{"A", " b\n"}}, "A"), "b");
  EXPECT_EQ(ValueOf({}, "A"), "");
}

}  // namespace
}  // namespace ksearch
