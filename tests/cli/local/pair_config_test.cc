#include "cli/local/pair_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "common/textproto.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PairConfigTest : public testing::Test {
 protected:
  PairConfigTest() {
    std::string pattern = "/tmp/ksearch-pair-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    parent_ = pattern;
    std::filesystem::permissions(parent_, std::filesystem::perms(0755));
    auto folder = LocalFolder::Open(parent_ + "/state", ::geteuid() == 0);
    EXPECT_TRUE(folder.ok()) << folder.status();
    folder_ = std::make_unique<LocalFolder>(*folder);
  }
  ~PairConfigTest() override { std::filesystem::remove_all(parent_); }
  v1::CoordinatorConfig Coordinator(const Environment& environment) const {
    return LocalCoordinatorConfig(*folder_, FindModelSources(environment));
  }

  std::string parent_;
  std::unique_ptr<LocalFolder> folder_;
};

TEST_F(PairConfigTest, CoordinatorListensOnTheSocketAndNamesNoKey) {
  const std::string text = ConfigText(Coordinator({{"OPENAI_API_KEY", "sk-secret"}}));
  EXPECT_THAT(text, AllOf(HasSubstr("OPENAI_API_KEY"), Not(HasSubstr("sk-secret")),
                          HasSubstr("unix:" + parent_ + "/state/socket")));
  v1::CoordinatorConfig read;
  ASSERT_TRUE(ParseTextproto(text, "written", &read).ok());
  EXPECT_EQ(read.state_dir(), parent_ + "/state/coordinator");
  ASSERT_EQ(read.providers_size(), 2);
  EXPECT_EQ(read.providers(0).name(), "openai");
  EXPECT_EQ(read.providers(1).name(), "mailbox");
}

TEST_F(PairConfigTest, WorkerDialsTheSocket) {
  v1::WorkerConfig abilities;
  abilities.add_toolchains()->set_language(v1::LANGUAGE_CPP);
  v1::WorkerConfig read;
  ASSERT_TRUE(
      ParseTextproto(ConfigText(LocalWorkerConfig(*folder_, abilities)), "written", &read).ok());
  EXPECT_EQ(read.coordinator_address(), folder_->address());
  EXPECT_EQ(read.state_dir(), folder_->worker_state());
  EXPECT_EQ(read.toolchains(0).language(), v1::LANGUAGE_CPP);
}

TEST_F(PairConfigTest, ProvidersThatCameAndWentAreNoticed) {
  const v1::CoordinatorConfig none = Coordinator({});
  const v1::CoordinatorConfig openai = Coordinator({{"OPENAI_API_KEY", "a"}});
  const v1::CoordinatorConfig other_key = Coordinator({{"OPENAI_API_KEY", "b"}});
  const v1::CoordinatorConfig elsewhere =
      Coordinator({{"OPENAI_API_KEY", "a"}, {"OPENAI_BASE_URL", "https://proxy.example/v1"}});
  EXPECT_THAT(NewProviders(none, openai), ElementsAre("openai"));
  EXPECT_THAT(NewProviders(openai, elsewhere), ElementsAre("openai"));
  EXPECT_THAT(NewProviders(openai, other_key), IsEmpty());
  EXPECT_THAT(NewProviders(openai, none), IsEmpty());
  EXPECT_THAT(LostProviders(openai, none), ElementsAre("openai"));
}

}  // namespace
}  // namespace ksearch
