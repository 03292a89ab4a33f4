#include "cli/source_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ksearch {
namespace {

using ::testing::HasSubstr;

class SourceFilesTest : public ::testing::Test {
 protected:
  SourceFilesTest() {
    char name[] = "/tmp/ksearch-source-files-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~SourceFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name) << content;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(SourceFilesTest, FilesAreNamedWithoutTheirFolder) {
  const auto files = ReadSourceFiles({Write("a.cu", "int x; // \xC3\xA9"), Write("b.cuh", "")});
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ((*files)[0].path(), "a.cu");
  EXPECT_EQ((*files)[0].content(), "int x; // \xC3\xA9");
  EXPECT_EQ(LanguageOf(*files), v1::LANGUAGE_CUDA);
}

TEST_F(SourceFilesTest, EndingsSayTheLanguage) {
  const auto language = [](std::initializer_list<const char*> paths) {
    std::vector<v1::SourceFile> files;
    for (const char* path : paths) files.emplace_back().set_path(path);
    return LanguageOf(files);
  };
  EXPECT_EQ(language({"kernel.py"}), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(language({"host.cpp", "kernel.cu"}), v1::LANGUAGE_CUDA);
  EXPECT_EQ(language({"kernel.cxx", "a.h"}), v1::LANGUAGE_CPP);
  EXPECT_EQ(language({"notes"}), v1::LANGUAGE_CPP);
}

TEST_F(SourceFilesTest, WhatCannotBeSentIsNamed) {
  const struct {
    std::string path, says;
  } cases[] = {
      {Write("binary.cu", "int x;\xFF\xFE"), "is not UTF-8 text: see byte 6"},
      {Write("large.cu", std::string((1 << 20) + 1, ' ')), "larger than 1048576 bytes"},
  };
  for (const auto& [path, says] : cases) {
    const auto files = ReadSourceFiles({path});
    EXPECT_TRUE(absl::IsInvalidArgument(files.status())) << files.status();
    EXPECT_THAT(std::string(files.status().message()), HasSubstr(path));
    EXPECT_THAT(std::string(files.status().message()), HasSubstr(says));
  }
}

}  // namespace
}  // namespace ksearch
