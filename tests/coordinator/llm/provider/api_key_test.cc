#include "coordinator/llm/provider/api_key.h"

#include <cstdlib>
#include <string>

#include "common/textproto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string MessageOf(const absl::StatusOr<ApiKey>& key) {
  return std::string(key.status().message());
}

TEST(ApiKeyTest, ReadsAndTrimsVariableOrFile) {
  ::setenv("KSEARCH_TEST_KEY", "  secret-1\n", 1);
  EXPECT_EQ(ApiKey::Read("KSEARCH_TEST_KEY", "")->AuthorizationHeader(),
            "Authorization: Bearer secret-1");
  const std::string path = testing::TempDir() + "/key";
  ASSERT_TRUE(WriteFileAtomically(path, "secret-2\r\n").ok());
  EXPECT_EQ(ApiKey::Read("", path)->AuthorizationHeader(), "Authorization: Bearer secret-2");
  EXPECT_EQ(ApiKey::Read("", path)->source(), "file " + path);
}

TEST(ApiKeyTest, NoneConfiguredIsNoKey) {
  const auto key = ApiKey::Read("", "");
  ASSERT_TRUE(key.ok());
  EXPECT_TRUE(key->empty());
  EXPECT_EQ(key->Redacted("text"), "text");
}

TEST(ApiKeyTest, WhatIsMissingIsNamed) {
  ::unsetenv("KSEARCH_TEST_NO_KEY");
  auto key = ApiKey::Read("KSEARCH_TEST_NO_KEY", "");
  EXPECT_EQ(key.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(key), HasSubstr("environment variable KSEARCH_TEST_NO_KEY is not set"));
  key = ApiKey::Read("", "/nonexistent/key");
  EXPECT_EQ(key.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(key), HasSubstr("/nonexistent/key"));
}

TEST(ApiKeyTest, EmptyOrBrokenKeysAreRefusedWithoutShowingThem) {
  ::setenv("KSEARCH_TEST_KEY", " \n", 1);
  EXPECT_THAT(MessageOf(ApiKey::Read("KSEARCH_TEST_KEY", "")), HasSubstr("is empty"));
  ::setenv("KSEARCH_TEST_KEY", "secret-1\r\nX-Evil: 1", 1);
  const auto key = ApiKey::Read("KSEARCH_TEST_KEY", "");
  EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(key), Not(HasSubstr("secret")));
}

TEST(ApiKeyTest, BothSourcesAtOnceAreRefused) {
  EXPECT_EQ(ApiKey::Read("A", "b").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ApiKeyTest, RedactsTheKeyAndLongPartsOfIt) {
  ::setenv("KSEARCH_TEST_KEY", "sk-0123456789abcdef", 1);
  const ApiKey key = ApiKey::Read("KSEARCH_TEST_KEY", "").value();
  EXPECT_EQ(key.Redacted("bad key sk-0123456789abcdef."), "bad key [key].");
  EXPECT_EQ(key.Redacted("bad key sk-012***abcdef."), "bad key [key]***[key].");
  EXPECT_EQ(key.Redacted("ends in cdef"), "ends in cdef");
}

}  // namespace
}  // namespace ksearch
