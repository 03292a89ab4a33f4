#include "common/access/client_access.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "common/access/access_token.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

class ClientAccessTest : public ::testing::Test {
 protected:
  ClientAccessTest() {
    std::string pattern = "/tmp/ksearch-access-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ::unsetenv("KSEARCH_TOKEN");
  }
  ~ClientAccessTest() override {
    ::unsetenv("KSEARCH_TOKEN");
    std::filesystem::remove_all(folder_);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }

  const std::string token_ =
      MakeAccessToken(v1::ROLE_READ, "", absl::Now(), absl::InfiniteFuture()).token;
  std::string folder_;
};

TEST_F(ClientAccessTest, TokenComesFromTheFileOrElseTheEnvironment) {
  EXPECT_EQ(ReadClientAccess({})->token, "");
  ::setenv("KSEARCH_TOKEN", token_.c_str(), 1);
  EXPECT_EQ(ReadClientAccess({})->token, token_);
  const std::string other =
      MakeAccessToken(v1::ROLE_ADMIN, "", absl::Now(), absl::InfiniteFuture()).token;
  ClientAccessFiles files;
  files.token_file = Write("token", other + "\n");
  EXPECT_EQ(ReadClientAccess(files)->token, other);
}

TEST_F(ClientAccessTest, TextThatIsNoTokenIsNeitherSentNorShown) {
  ::setenv("KSEARCH_TOKEN", "sk-another-secret", 1);
  const absl::Status status = ReadClientAccess({}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "KSEARCH_TOKEN"));
  EXPECT_FALSE(absl::StrContains(status.message(), "another-secret"));
}

TEST_F(ClientAccessTest, FaultyFilesAreNamed) {
  ClientAccessFiles files;
  files.token_file = folder_ + "/none";
  EXPECT_TRUE(absl::StrContains(ReadClientAccess(files).status().message(), "/none"));
  files = {};
  files.ca_file = Write("ca.pem", "not PEM");
  EXPECT_TRUE(absl::StrContains(ReadClientAccess(files).status().message(), "ca.pem"));
  files = {};
  files.server_name = "x";
  EXPECT_TRUE(absl::StrContains(ReadClientAccess(files).status().message(), "ca_file"));
}

TEST_F(ClientAccessTest, LocalAddressesAreThoseThatStayOnThisMachine) {
  for (const char* address : {"127.0.0.1:7400", "127.1.2.3:1", "localhost:1", "[::1]:7", "::1",
                              "unix:/run/x", "localhost"}) {
    EXPECT_TRUE(IsLocalAddress(address)) << address;
  }
  for (const char* address : {"0.0.0.0:7400", "[::]:7400", "10.0.0.1:1", "127.0.0.1.example.com:1",
                              "localhost.example.com:1", "example.com:7400", ""}) {
    EXPECT_FALSE(IsLocalAddress(address)) << address;
  }
}

TEST_F(ClientAccessTest, TokenDoesNotCrossANetworkInClearText) {
  ClientAccess access;
  EXPECT_TRUE(CheckClientAccess("10.0.0.1:1", access).ok());
  access.token = token_;
  EXPECT_TRUE(CheckClientAccess("127.0.0.1:1", access).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckClientAccess("10.0.0.1:1", access)));
  access.ca = "a CA";
  EXPECT_TRUE(CheckClientAccess("10.0.0.1:1", access).ok());
}

}  // namespace
}  // namespace ksearch
