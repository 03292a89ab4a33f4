#include "cli/result_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class ResultRecordTest : public testing::Test {
 protected:
  ResultRecordTest() : folder_(testing::TempDir() + "/result_record") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    v1::Sources sources;
    sources.set_language(v1::LANGUAGE_CPP);
    v1::SourceFile* file = sources.add_files();
    file->set_path("kernel.cpp");
    file->set_content("int f();\n");
    fields_ = {{"task", "\"softmax\""},
               {"language", "\"cpp\""},
               {"file", "\"kernel.cpp\""},
               {"candidate_id", absl::StrCat("\"", CandidateId(sources), "\"")},
               {"verdict", "\"improved\""},
               {"speedup", "2"},
               {"low", "1.8"},
               {"high", "2.2"},
               {"device", "\"a processor\""},
               {"architecture", "\"x86-64-v4\""},
               {"harness_version", "\"10\""}};
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/kernel.cpp", "int f();\n").ok());
  }

  ~ResultRecordTest() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<RecordedResult> Read() {
    std::string json = "{";
    for (const auto& [name, value] : fields_) {
      absl::StrAppend(&json, json.size() > 1 ? ", " : "", "\"", name, "\": ", value);
    }
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/record.json", json + "}").ok());
    return ReadRecordedResult(folder_);
  }
  std::string Refusal() { return std::string(Read().status().message()); }

  const std::string folder_;
  std::map<std::string, std::string> fields_;  // JSON by name
};

TEST_F(ResultRecordTest, GivesTheProgramAndTheClaim) {
  EXPECT_FALSE(HasResultRecord(folder_));
  const auto recorded = Read();
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_TRUE(HasResultRecord(folder_));
  EXPECT_EQ(recorded->task, "softmax");
  EXPECT_EQ(recorded->sources.files_size(), 1);
  EXPECT_EQ(recorded->claim.device().name(), "a processor");
  const v1::Comparison* claimed = OverBaseline(recorded->claim);
  ASSERT_NE(claimed, nullptr);
  EXPECT_EQ(claimed->verdict(), v1::Comparison::IMPROVED);
  EXPECT_NEAR(std::exp(claimed->ci_low()), 1.8, 1e-9);
}

TEST_F(ResultRecordTest, EveryFieldIsNeededAndNamed) {
  const auto all = fields_;
  for (const auto& [name, value] : all) {
    fields_.erase(name);
    EXPECT_THAT(Refusal(), HasSubstr(absl::StrCat("record.json: \"", name, "\" must be"))) << name;
    fields_ = all;
  }
}

TEST_F(ResultRecordTest, WrongFieldsAreNamed) {
  const auto all = fields_;
  const auto with = [&](const std::string& name, const std::string& value) {
    fields_ = all;
    fields_[name] = value;
    return Refusal();
  };
  EXPECT_THAT(with("speedup", "-2"), HasSubstr("\"speedup\" must be a number above 0"));
  EXPECT_THAT(with("file", "\"../kernel.cpp\""), HasSubstr("a file of the same folder"));
  EXPECT_THAT(with("language", "\"cobol\""), HasSubstr("cobol is not a language"));
  EXPECT_THAT(with("verdict", "\"equal\""), HasSubstr("nothing is claimed"));
  EXPECT_THAT(with("task", "7"), HasSubstr("\"task\" must be text"));
}

TEST_F(ResultRecordTest, AnotherProgramThanTheRecordsIsRefused) {
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/kernel.cpp", "int g();\n").ok());
  EXPECT_THAT(Refusal(), HasSubstr("is not the program of the record"));
}

}  // namespace
}  // namespace ksearch
