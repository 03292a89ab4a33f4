#include "common/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace ksearch {
namespace {

TEST(LanguageTest, EveryLanguageOfTheProtoHasOneRow) {
  const auto* const values = v1::Language_descriptor();
  std::set<int> numbers;
  for (int i = 0; i < values->value_count(); ++i) numbers.insert(values->value(i)->number());
  numbers.erase(v1::LANGUAGE_UNSPECIFIED);
  std::set<int> rows;
  for (const LanguageFacts& facts : Languages()) {
    EXPECT_TRUE(rows.insert(facts.id).second) << facts.name;
    EXPECT_EQ(absl::AsciiStrToUpper(facts.name),
              v1::Language_Name(facts.id).substr(std::string("LANGUAGE_").size()));
  }
  EXPECT_EQ(rows, numbers);
}

TEST(LanguageTest, RowsAreWhole) {
  for (const LanguageFacts& facts : Languages()) {
    SCOPED_TRACE(std::string(facts.name));
    EXPECT_FALSE(facts.title.empty());
    ASSERT_FALSE(facts.devices.empty());
    EXPECT_TRUE(RunsOn(facts.id, facts.devices.front()));
    EXPECT_EQ(facts.toolkit == Toolkit::kNone, facts.toolkit_advice.empty());
    EXPECT_EQ(facts.toolkit == Toolkit::kNone, facts.built_for.empty());
    for (const v1::DeviceClass device : facts.built_for) EXPECT_TRUE(RunsOn(facts.id, device));
    // Languages with a compiler have a scanner, too: without one a candidate would never be marked.
    // Python has none yet.
    EXPECT_EQ(facts.toolkit == Toolkit::kPython, facts.scanner == SourceScanner::kNone);
    ASSERT_FALSE(facts.main_extensions.empty());
    EXPECT_TRUE(absl::EndsWith(facts.main_path, facts.main_extensions.front()));
    EXPECT_EQ(LanguageOfPath(facts.main_path), facts.id);
    EXPECT_FALSE(facts.entry.empty());
    EXPECT_FALSE(facts.fence_tags.empty());
    EXPECT_FALSE(facts.openings.empty());
    EXPECT_FALSE(facts.line_comment.empty());
  }
}

TEST(LanguageTest, NoWordAndNoEndingMeansTwoLanguages) {
  std::set<std::string> words, extensions;
  for (const LanguageFacts& facts : Languages()) {
    EXPECT_TRUE(words.emplace(facts.name).second) << facts.name;
    for (const auto word : facts.aliases) EXPECT_TRUE(words.emplace(word).second) << word;
    for (const auto ending : facts.main_extensions) {
      EXPECT_TRUE(extensions.emplace(ending).second) << ending;
    }
  }
}

TEST(LanguageTest, WordsPathsAndNumbersFindTheirLanguage) {
  EXPECT_EQ(FindLanguage("cpp")->id, v1::LANGUAGE_CPP);
  EXPECT_EQ(FindLanguage("CUDA")->id, v1::LANGUAGE_CUDA);
  EXPECT_EQ(FindLanguage("python")->id, v1::LANGUAGE_PYTHON);
  EXPECT_EQ(FindLanguage("triton")->id, v1::LANGUAGE_PYTHON);
  EXPECT_EQ(FindLanguage("fortran"), nullptr);
  EXPECT_EQ(FindLanguage(""), nullptr);
  EXPECT_EQ(LanguageOfPath("a/b.cc"), v1::LANGUAGE_CPP);
  EXPECT_EQ(LanguageOfPath("kernel.cuh"), std::nullopt);
  EXPECT_EQ(LanguageNames(), "cpp, cuda or python");
  EXPECT_EQ(MainExtensions(), ".cpp, .cu or .py");
}

TEST(LanguageTest, AValueWithoutARowRunsNowhere) {
  const auto unknown = static_cast<v1::Language>(99);
  EXPECT_EQ(FindLanguage(unknown), nullptr);
  EXPECT_EQ(LanguageName(unknown), "language 99");
  EXPECT_EQ(LanguageName(v1::LANGUAGE_UNSPECIFIED), "unspecified");
  EXPECT_EQ(FactsOf(unknown).id, DefaultLanguage().id);
  for (const auto device : {v1::DEVICE_CLASS_CPU, v1::DEVICE_CLASS_CUDA}) {
    EXPECT_FALSE(RunsOn(unknown, device));
    EXPECT_FALSE(BuiltFor(unknown, device));
  }
}

TEST(LanguageTest, PythonRunsOnGpusAndProcessors) {
  EXPECT_EQ(FactsOf(v1::LANGUAGE_PYTHON).devices.front(), v1::DEVICE_CLASS_CUDA);
  EXPECT_TRUE(RunsOn(v1::LANGUAGE_PYTHON, v1::DEVICE_CLASS_CPU));
  EXPECT_TRUE(BuiltFor(v1::LANGUAGE_PYTHON, v1::DEVICE_CLASS_CPU));
  EXPECT_TRUE(BuiltFor(v1::LANGUAGE_PYTHON, v1::DEVICE_CLASS_CUDA));
}

TEST(LanguageTest, TheTasksDeviceIsUsedWhereTheLanguageRunsOnIt) {
  EXPECT_EQ(UsedDevice(v1::LANGUAGE_PYTHON, v1::DEVICE_CLASS_CPU), v1::DEVICE_CLASS_CPU);
  EXPECT_EQ(UsedDevice(v1::LANGUAGE_PYTHON, v1::DEVICE_CLASS_CUDA), v1::DEVICE_CLASS_CUDA);
  EXPECT_EQ(UsedDevice(v1::LANGUAGE_CUDA, v1::DEVICE_CLASS_CPU), v1::DEVICE_CLASS_CUDA);
  EXPECT_EQ(UsedDevice(v1::LANGUAGE_CPP, v1::DEVICE_CLASS_UNSPECIFIED), v1::DEVICE_CLASS_CPU);
}

// Databases and jobs contain these numbers.
TEST(LanguageTest, NumbersAndOldNamesStay) {
  EXPECT_EQ(static_cast<int>(v1::LANGUAGE_CPP), 1);
  EXPECT_EQ(static_cast<int>(v1::LANGUAGE_CUDA), 2);
  EXPECT_EQ(static_cast<int>(v1::LANGUAGE_PYTHON), 3);
  v1::Language old = v1::LANGUAGE_UNSPECIFIED;
  ASSERT_TRUE(v1::Language_Parse("LANGUAGE_TRITON", &old));
  EXPECT_EQ(old, v1::LANGUAGE_PYTHON);
}

}  // namespace
}  // namespace ksearch
