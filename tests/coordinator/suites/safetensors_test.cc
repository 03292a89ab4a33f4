#include "coordinator/suites/safetensors.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kHeader[] =
    R"({"__metadata__":{"a":"b"},"x":{"dtype":"I32","shape":[3],"data_offsets":[4,16]}})";

class SafetensorsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-safetensors-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = (folder_ / "a.safetensors").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  void WriteTensors(const std::string& header, const std::string& data) {
    std::string length;
    for (int i = 0; i < 8; ++i) length.push_back(static_cast<char>(header.size() >> (8 * i)));
    Write(length + header + data);
  }
  absl::StatusOr<std::string> Read(const std::string& key = "x", v1::DType dtype = v1::DTYPE_INT32,
                                   int64_t extent = 3, int64_t most = 1000) {
    return ReadSafetensor(path_, key, dtype, {extent}, most);
  }
  std::string Error() { return std::string(Read().status().message()); }

  fs::path folder_;
  std::string path_;
};

TEST_F(SafetensorsTest, BytesOfATensorAreRead) {
  WriteTensors(kHeader, "????abcdefghijkl");
  EXPECT_EQ(Read().value_or(""), "abcdefghijkl");
}

TEST_F(SafetensorsTest, WhatDoesNotFitTheDefinitionIsNamed) {
  WriteTensors(kHeader, "????abcdefghijkl");
  EXPECT_EQ(Read("y").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Read("y").status().message()),
              AllOf(HasSubstr(path_), HasSubstr("'y'"), HasSubstr("only x")));
  EXPECT_THAT(std::string(Read("x", v1::DTYPE_INT64).status().message()),
              AllOf(HasSubstr("I32"), HasSubstr("int64")));
  EXPECT_THAT(std::string(Read("x", v1::DTYPE_INT32, 4).status().message()),
              AllOf(HasSubstr("[3]"), HasSubstr("[4]")));
  EXPECT_EQ(Read("x", v1::DTYPE_INT32, 3, 11).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(SafetensorsTest, PointerOfGitLfsIsToldFromTheFile) {
  Write("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n");
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Error(), AllOf(HasSubstr(path_), HasSubstr("git lfs pull")));
}

TEST_F(SafetensorsTest, BrokenFilesAreRefused) {
  EXPECT_EQ(Read().status().code(), absl::StatusCode::kNotFound);
  Write("");
  EXPECT_THAT(Error(), HasSubstr("shorter than 8 bytes"));
  Write(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
  EXPECT_THAT(Error(), HasSubstr("says that its header has 9223372036854775807 bytes, and the file "
                                 "has only 10: it is cut off, or not a safetensors file"));
  WriteTensors("{", "");
  EXPECT_THAT(Error(), HasSubstr(path_));
  WriteTensors(R"({"x":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})", "abcdefghijk");
  EXPECT_THAT(Error(), HasSubstr("x.data_offsets: end at byte 12 of the data, and the file has 11 "
                                 "bytes of it: it is cut off"));
  WriteTensors(R"({"x":{"dtype":"I32","shape":[3],"data_offsets":[0,8]}})", "abcdefghijkl");
  EXPECT_THAT(Error(), HasSubstr("takes 8 bytes, its shape 12"));
  WriteTensors(R"({"x":{"dtype":"I32","shape":[-3],"data_offsets":[0,12]}})", "abcdefghijkl");
  EXPECT_THAT(Error(), HasSubstr("shape"));
  WriteTensors(R"({"x":{"dtype":"I32","shape":[3],"data_offsets":[-4,8]}})", "abcdefghijkl");
  EXPECT_THAT(Error(), HasSubstr("data_offsets"));
}

}  // namespace
}  // namespace ksearch
