#include "common/textproto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "proto/config.pb.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class TextprotoTest : public testing::Test {
 protected:
  TextprotoTest() {
    std::string pattern = "/tmp/ksearch-textproto-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TextprotoTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(TextprotoTest, UnknownFieldIsAnErrorWithItsPlace) {
  v1::WorkerConfig config;
  const absl::Status status = ParseTextproto("slots: 2\n  slotz: 3\n", "w.textproto", &config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("w.textproto:2:"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("slotz"));
}

TEST_F(TextprotoTest, UnknownEnumValueIsAnErrorAtItsPlaceWithTheChoices) {
  v1::RunConfig config;
  const absl::Status status =
      ParseTextproto("task: \"CPU\"\nlanguage:\n  CPP\n\nrounds: 3\n", "run.textproto", &config);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "run.textproto:3:3: language: 'CPP' must be one of LANGUAGE_CPP, LANGUAGE_CUDA, "
            "LANGUAGE_PYTHON");
  // The form that earlier releases wrote.
  ASSERT_TRUE(ParseTextproto("language: LANGUAGE_TRITON", "run.textproto", &config).ok());
  EXPECT_EQ(config.language(), v1::LANGUAGE_PYTHON);
  EXPECT_THAT(ToTextproto(config), HasSubstr("LANGUAGE_PYTHON"));
  const absl::Status same_line =
      ParseTextproto("language: CPP rounds: 3", "run.textproto", &config);
  EXPECT_THAT(std::string(same_line.message()), HasSubstr("run.textproto:1:11: language: 'CPP'"));
  const absl::Status nested =
      ParseTextproto("world_model {\n  preset: PAPER\n}\n", "run.textproto", &config);
  EXPECT_THAT(std::string(nested.message()),
              HasSubstr("run.textproto:2:11: preset: 'PAPER' must be one of PRESET_"));
}

TEST_F(TextprotoTest, DeepNestingIsRefusedNotFollowed) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "device { ";
  v1::WorkerConfig config;
  EXPECT_FALSE(ParseTextproto(text, "x", &config).ok());
}

TEST_F(TextprotoTest, MissingFileIsNamed) {
  v1::WorkerConfig config;
  const absl::Status status = ReadTextproto(folder_ + "/none", &config);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/none"));
}

TEST_F(TextprotoTest, FileLargerThanTheLimitIsRefused) {
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/f", std::string(1000, 'x')).ok());
  EXPECT_EQ(ReadFile(folder_ + "/f", 999).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReadFile(folder_ + "/f", 1000)->size(), 1000u);
  EXPECT_EQ(ReadFile(folder_, 10).status().code(), absl::StatusCode::kInvalidArgument);
  // The pipe has no writer.
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(std::string(ReadFile(folder_ + "/pipe", 10).status().message()),
              HasSubstr("pipe is a named pipe, not a file"));
  ASSERT_EQ(::symlink("/dev/ptmx", (folder_ + "/terminal").c_str()), 0);
  EXPECT_THAT(std::string(ReadFile(folder_ + "/terminal", 10).status().message()),
              HasSubstr("terminal is a device, not a file"));
}

TEST_F(TextprotoTest, WriteLeavesOneFile) {
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/f", "one").ok());
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/f", "two").ok());
  EXPECT_EQ(*ReadFile(folder_ + "/f", 100), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_EQ(WriteFileAtomically(folder_ + "/no/such", "x").code(), absl::StatusCode::kNotFound);
}

TEST_F(TextprotoTest, TimesRoundTrip) {
  for (const absl::Duration duration : {absl::ZeroDuration(), absl::Nanoseconds(1),
                                        absl::Milliseconds(1500), -absl::Seconds(2.5)}) {
    EXPECT_EQ(FromProto(ToProto(duration)), duration);
    EXPECT_EQ(FromProto(ToProto(absl::UnixEpoch() + duration)), absl::UnixEpoch() + duration);
  }
}

}  // namespace
}  // namespace ksearch
