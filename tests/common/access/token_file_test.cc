#include "common/access/token_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "common/access/access_token.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

class TokenFileTest : public ::testing::Test {
 protected:
  TokenFileTest() {
    std::string pattern = "/tmp/ksearch-tokens-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/tokens.textproto";
  }
  ~TokenFileTest() override { std::filesystem::remove_all(folder_); }

  absl::Status Add(const std::string& name) {
    return UpdateTokenFile(path_, [&](v1::AccessTokens* list) {
      *list->add_tokens() =
          MakeAccessToken(v1::ROLE_READ, name, absl::Now(), absl::InfiniteFuture()).record;
      return absl::OkStatus();
    });
  }
  void Write(const std::string& text) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0600);
  }

  std::string folder_, path_;
};

TEST_F(TokenFileTest, KeepsWhatWasAddedForItsOwnerOnly) {
  EXPECT_TRUE(absl::IsNotFound(ReadTokenFile(path_).status()));
  ASSERT_TRUE(Add("ann").ok());
  ASSERT_TRUE(Add("bob").ok());
  const auto list = ReadTokenFile(path_);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->tokens_size(), 2);
  EXPECT_EQ(list->tokens(1).name(), "bob");
  struct stat facts;
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(TokenFileTest, FailedChangeLeavesTheFileAsItWas) {
  ASSERT_TRUE(Add("ann").ok());
  EXPECT_TRUE(absl::IsNotFound(UpdateTokenFile(path_, [](v1::AccessTokens* list) {
    list->Clear();
    return absl::NotFoundError("no such token");
  })));
  EXPECT_EQ(ReadTokenFile(path_)->tokens_size(), 1);
}

TEST_F(TokenFileTest, WritersWaitForEachOther) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([this] {
      for (int j = 0; j < 5; ++j) EXPECT_TRUE(Add("x").ok());
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(ReadTokenFile(path_)->tokens_size(), 20);
}

TEST_F(TokenFileTest, FileThatOthersMayWriteIsRefused) {
  ASSERT_TRUE(Add("ann").ok());
  ::chmod(path_.c_str(), 0620);
  const absl::Status status = ReadTokenFile(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "chmod 600")) << status;
}

TEST_F(TokenFileTest, FaultsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"tokens { tokenid: \"a\" }", ":1:"},
      {"tokens { token_id: \"a\" role: ROLE_READ sha256: \"xyz\" }", "tokens[0].sha256"},
      {"tokens { token_id: \"a\" }", "tokens[0].role"},
      {"tokens { role: ROLE_READ }", "tokens[0].token_id"},
  };
  for (const auto& [text, expected] : cases) {
    Write(text);
    const absl::Status status = ReadTokenFile(path_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_TRUE(absl::StrContains(status.message(), expected)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), path_)) << status;
  }
}

}  // namespace
}  // namespace ksearch
