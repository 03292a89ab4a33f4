#include "cli/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

TEST(LineDiffTest, SameTextsHaveNone) {
  EXPECT_EQ(LineDiff("a\nb\n", "a\nb\n"), "");
  EXPECT_EQ(LineDiff("a\nb", "a\nb\n"), "");
  EXPECT_EQ(LineDiff("", ""), "");
}

TEST(LineDiffTest, ChangeHasThreeLinesAroundIt) {
  EXPECT_EQ(LineDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(LineDiffTest, ChangesFarApartAreHunksOfTheirOwn) {
  std::string before, after;
  for (int i = 1; i <= 30; ++i) {
    absl::StrAppend(&before, i, "\n");
    absl::StrAppend(&after, i == 3 || i == 25 ? "x" : absl::StrCat(i), "\n");
  }
  const std::string diff = LineDiff(before, after);
  EXPECT_THAT(diff, testing::HasSubstr("@@ -1,6 +1,6 @@\n"));
  EXPECT_THAT(diff, testing::HasSubstr("@@ -22,7 +22,7 @@\n"));
}

TEST(LineDiffTest, TextFromNothingBeginsAtLineZero) {
  EXPECT_EQ(LineDiff("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
  EXPECT_EQ(LineDiff("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
}

// `before` with the hunks applied.
std::string Patched(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old_lines = absl::StrSplit(before, '\n', absl::SkipEmpty());
  std::vector<std::string> result;
  size_t next = 0;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(diff, '\n', absl::SkipEmpty()))) {
    if (line[0] == '@') {
      const std::vector<std::string> range =
          absl::StrSplit(line.substr(4, line.find(' ', 4) - 4), ',');
      int first = 0;
      EXPECT_TRUE(absl::SimpleAtoi(range[0], &first));
      if (range.size() == 2 && range[1] == "0") ++first;
      while (next + 1 < static_cast<size_t>(first)) result.push_back(old_lines[next++]);
      continue;
    }
    if (line[0] != '+') {
      EXPECT_EQ(old_lines.at(next), line.substr(1));
    }
    if (line[0] != '-') result.push_back(line.substr(1));
    if (line[0] != '+') ++next;
  }
  while (next < old_lines.size()) result.push_back(old_lines[next++]);
  return absl::StrJoin(result, "\n");
}

TEST(LineDiffTest, HunksTurnAnyTextIntoAnyOther) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto make = [&] {
      std::vector<std::string> lines(1 + random() % 40);
      for (std::string& line : lines) line = absl::StrCat("l", random() % 6);
      return absl::StrJoin(lines, "\n");
    };
    const std::string before = make(), after = make();
    EXPECT_EQ(Patched(before, LineDiff(before, after)), after);
  }
}

TEST(SourcesDiffTest, FilesThatDifferAreNamed) {
  v1::Sources before, after;
  const auto add = [](const std::string& path, const std::string& content, v1::Sources* sources) {
    v1::SourceFile* file = sources->add_files();
    file->set_path(path);
    file->set_content(content);
  };
  add("same.h", "s\n", &before);
  add("same.h", "s\n", &after);
  add("kernel.cu", "a\n", &before);
  add("kernel.cu", "b\n", &after);
  add("new.h", "n\n", &after);
  EXPECT_EQ(SourcesDiff(before, after),
            "--- a/kernel.cu\n+++ b/kernel.cu\n@@ -1 +1 @@\n-a\n+b\n"
            "--- /dev/null\n+++ b/new.h\n@@ -0,0 +1 @@\n+n\n");
}

}  // namespace
}  // namespace ksearch
