#include "coordinator/search/archive/program_features.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/search/archive/sketch.h"

namespace ksearch {
namespace {

v1::ProgramFeatures Of(const std::string& text) {
  v1::Sources sources;
  sources.add_files()->set_content(text);
  return FeaturesOf(sources, true);
}

TEST(ProgramFeaturesTest, ADistanceIsTheFormulas) {
  // The difference: 5 characters, 1 line, and the distinct characters d, e and f.
  EXPECT_DOUBLE_EQ(TextDistance(Of("abc\n"), Of("abc\n\ndeef")), 0.1 * 5 + 10 * 1 + 0.5 * 3);
  EXPECT_DOUBLE_EQ(TextDistance(Of("ab"), Of("cd")), 0.5 * 4);
  EXPECT_EQ(TextDistance(Of("x = 1;"), Of("x = 1;")), 0);
}

TEST(ProgramFeaturesTest, FilesCountInTheOrderOfTheirPaths) {
  v1::Sources sources;
  sources.add_files()->set_path("b");
  sources.mutable_files(0)->set_content("second\n");
  sources.add_files()->set_path("a");
  sources.mutable_files(1)->set_content("first\xC3\xA9\n");
  v1::Sources turned;
  *turned.add_files() = sources.files(1);
  *turned.add_files() = sources.files(0);
  const v1::ProgramFeatures features = FeaturesOf(sources, true);
  EXPECT_EQ(features.SerializeAsString(), FeaturesOf(turned, true).SerializeAsString());
  EXPECT_EQ(features.characters(), 14) << "bytes that continue a character are none";
  EXPECT_EQ(features.lines(), 2);
  EXPECT_TRUE(FeaturesOf(sources, false).sketch().empty());
}

std::string Program(int lines, int changed) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    absl::StrAppend(&text, "  value", i < changed ? 1000 + i : i, " = load(p, ", i * 7 % 31,
                    ");\n");
  }
  return text;
}

TEST(SketchTest, LikenessIsTheShareOfRunsOfTokensThatBothHave) {
  const std::string text = Program(300, 0);
  EXPECT_EQ(Likeness(SketchOf(text), SketchOf(text)), 1);
  // Layout and comments do not count.
  std::string dressed = "/* a remark */\n";
  for (const char c : text) dressed += c == ' ' ? std::string("   ") : std::string(1, c);
  EXPECT_EQ(Likeness(SketchOf(text), SketchOf(dressed + "// end\n")), 1);
  // One of 300 names differs.
  EXPECT_GT(Likeness(SketchOf(text), SketchOf(Program(300, 1))), 0.97);
  const double half = Likeness(SketchOf(text), SketchOf(Program(300, 150)));
  // Each line has five runs that contain its name; the other 94 runs occur in all lines. With half
  // of the names changed, 750 + 94 of 2 * 1594 - 844 runs are in both.
  EXPECT_NEAR(half, 844.0 / 2344, 0.1);
  EXPECT_LT(Likeness(SketchOf(text), SketchOf("int main() { return 0; }")), 0.1);
}

TEST(SketchTest, OfNothingThereIsNone) {
  EXPECT_EQ(SketchOf(" \n// nothing\n/* at all"), "");
  EXPECT_EQ(Likeness("", SketchOf("a b c")), 0);
  EXPECT_EQ(SketchOf("a").size(), 256u) << "fewer tokens than a run has";
}

}  // namespace
}  // namespace ksearch
