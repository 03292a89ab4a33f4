// Replies that change a program instead of sending it whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/proposer/reply_parser.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

constexpr char kKernel[] =
    "#include \"tile.h\"\n"
    "\n"
    "void ksearch_setup() {}\n"
    "\n"
    "int ksearch_run(const float* x, float* y) {\n"
    "  for (int i = 0; i < 8; ++i) {\n"
    "    y[i] = x[i];\n"
    "  }\n"
    "  return 0;\n"
    "}\n";
constexpr char kTile[] = "constexpr int kTile = 8;\nconstexpr int kDepth = 2;\n";

v1::Sources Base() {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  for (const auto& [path, content] : std::vector<std::pair<std::string, std::string>>{
           {"kernel.cpp", kKernel}, {"tile.h", kTile}}) {
    v1::SourceFile* file = sources.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  return sources;
}

std::string FileOf(const v1::Sources& sources, const std::string& path) {
  for (const v1::SourceFile& file : sources.files()) {
    if (file.path() == path) return file.content();
  }
  return "(none)";
}

std::string Patched(const std::string& reply, const std::string& path) {
  const absl::StatusOr<v1::Sources> sources = ParsePatchReply(reply, Base());
  return sources.ok() ? FileOf(*sources, path) : sources.status().ToString();
}

std::string Block(const std::string& before, const std::string& after) {
  return absl::StrCat("<<<<<<< SEARCH\n", before, "=======\n", after, ">>>>>>> REPLACE\n");
}

TEST(PatchReplyTest, BlocksChangeSeveralFilesAndTheOthersStay) {
  const std::string reply =
      absl::StrCat("I unroll.\n<patch path=\"kernel.cpp\">\n",
                   Block("    y[i] = x[i];\n", "    y[i] = 2 * x[i];\n"),
                   Block("  return 0;\n", ""), "</patch>\n<patch path='./tile.h'>\n",
                   Block("constexpr int kTile = 8;\n", "constexpr int kTile = 16;\n"), "</patch>\n",
                   "<patch path=\"extra.h\">\n", Block("", "#pragma once\n"), "</patch>\n");
  const auto sources = ParsePatchReply(reply, Base());
  ASSERT_TRUE(sources.ok()) << sources.status();
  EXPECT_THAT(FileOf(*sources, "kernel.cpp"), HasSubstr("    y[i] = 2 * x[i];\n  }\n}\n"));
  EXPECT_EQ(FileOf(*sources, "tile.h"), "constexpr int kTile = 16;\nconstexpr int kDepth = 2;\n");
  EXPECT_EQ(FileOf(*sources, "extra.h"), "#pragma once\n");
  EXPECT_EQ(sources->files(0).path(), "kernel.cpp") << "files keep their order";
}

TEST(PatchReplyTest, AFileMayBeNamedOnTheLineBefore) {
  for (const char* named : {"tile.h\n", "### `tile.h`:\n```cpp\n", "**tile.h**\n"}) {
    EXPECT_EQ(Patched(absl::StrCat(
                          named, Block("constexpr int kTile = 8;\n", "constexpr int kTile = 4;\n")),
                      "tile.h"),
              "constexpr int kTile = 4;\nconstexpr int kDepth = 2;\n");
  }
  EXPECT_THAT(Patched(Block("kTile\n", "x\n"), "tile.h"),
              HasSubstr("does not say which of the program's files"));
}

TEST(PatchReplyTest, WhiteSpaceIsForgivenAndIndentationIsKept) {
  const std::string reply =
      absl::StrCat("kernel.cpp\n", Block("\nfor (int i = 0; i < 8; ++i) {  \n  y[i] = x[i];\n}\n",
                                         "for (int i = 0; i < 4; ++i) {\n  y[i] = x[2 * i];\n}\n"));
  EXPECT_THAT(Patched(reply, "kernel.cpp"),
              HasSubstr("{\n  for (int i = 0; i < 4; ++i) {\n    y[i] = x[2 * i];\n  }\n  return"));
  // CRLF, too.
  std::string crlf;
  for (const char c : reply) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(Patched(crlf, "kernel.cpp"), Patched(reply, "kernel.cpp"));
}

TEST(PatchReplyTest, ADiffIsReadWhateverItsNumbers) {
  const std::string reply =
      "Bigger tiles.\n```diff\n--- a/tile.h\n+++ b/tile.h\n@@ -1,2 +1,2 @@\n"
      "-constexpr int kTile = 8;\n+constexpr int kTile = 32;\n constexpr int kDepth = 2;\n"
      "--- a/kernel.cpp\t2026-01-01\n+++ b/kernel.cpp\n@@ -70,3 +70,4 @@ int ksearch_run\n"
      "     y[i] = x[i];\n   }\n-  return 0;\n+  x += 1;\n+  return 0;\n }\n\n```\nDone.\n";
  EXPECT_THAT(Patched(reply, "tile.h"), HasSubstr("kTile = 32;\nconstexpr int kDepth"));
  EXPECT_THAT(Patched(reply, "kernel.cpp"), HasSubstr("  }\n  x += 1;\n  return 0;\n}\n"));
}

TEST(PatchReplyTest, ADiffMayRemoveAFileAndAddOne) {
  const std::string reply =
      "--- a/tile.h\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-constexpr int kTile = 8;\n"
      "-constexpr int kDepth = 2;\n--- /dev/null\n+++ b/fast.h\n@@ -0,0 +1 @@\n+#pragma once\n"
      "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -1 +1 @@\n-#include \"tile.h\"\n+#include "
      "\"fast.h\"\n";
  EXPECT_EQ(Patched(reply, "tile.h"), "(none)");
  EXPECT_EQ(Patched(reply, "fast.h"), "#pragma once\n");
  EXPECT_THAT(Patched(reply, "kernel.cpp"), HasSubstr("#include \"fast.h\"\n\nvoid"));
}

TEST(PatchReplyTest, OfSeveralPlacesADiffTakesTheOneItSays) {
  v1::Sources base = Base();
  base.mutable_files(1)->set_content("a\nb\na\nb\na\nb\n");
  const auto at = [&](int line) {
    const auto sources = ParsePatchReply(
        absl::StrCat("--- tile.h\n+++ tile.h\n@@ -", line, ",2 +", line, ",2 @@\n a\n-b\n+c\n"),
        base);
    return sources.ok() ? FileOf(*sources, "tile.h") : sources.status().ToString();
  };
  EXPECT_EQ(at(1), "a\nc\na\nb\na\nb\n");
  EXPECT_EQ(at(4), "a\nb\na\nc\na\nb\n");
  EXPECT_EQ(at(90), "a\nb\na\nb\na\nc\n");
  const auto ambiguous = ParsePatchReply(absl::StrCat("tile.h\n", Block("a\nb\n", "c\n")), base);
  EXPECT_EQ(ambiguous.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ambiguous.status().message()), HasSubstr("in it 3 times"));
}

TEST(PatchReplyTest, AWrongOutermostLineOfADiffIsForgiven) {
  const std::string reply =
      "--- a/kernel.cpp\n+++ b/kernel.cpp\n@@ -6,4 +6,4 @@\n   for (int j = 0; j < 8; ++j) {\n"
      "-    y[i] = x[i];\n+    y[i] = 3 * x[i];\n   }\n";
  EXPECT_THAT(Patched(reply, "kernel.cpp"), HasSubstr("i < 8; ++i) {\n    y[i] = 3 * x[i];\n  }"));
}

TEST(PatchReplyTest, AMisfitShowsTheLinesAndWhatIsNearest) {
  const auto sources = ParsePatchReply(
      absl::StrCat("kernel.cpp\n", Block("  return 0;\n", "  return 1;\n"),
                   Block("  for (int i = 0; i < 8; ++i) {\n    y[i] = x[i] + 1;\n", "")),
      Base());
  EXPECT_EQ(sources.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string message(sources.status().message());
  EXPECT_THAT(message,
              HasSubstr("change 2 of 2 does not fit kernel.cpp: these lines are not in it"));
  EXPECT_THAT(message, HasSubstr("    y[i] = x[i] + 1;\n"));
  EXPECT_THAT(message, HasSubstr("Line 6 is the nearest that it has"));
  EXPECT_THAT(message, HasSubstr("      y[i] = x[i];\n"));
}

TEST(PatchReplyTest, WholeFilesAreReadAloneAndBesideChanges) {
  const std::string tile = "<file path=\"tile.h\">\nconstexpr int kTile = 1;\n</file>\n";
  EXPECT_EQ(Patched(tile, "tile.h"), "constexpr int kTile = 1;\n");
  EXPECT_EQ(Patched(tile, "kernel.cpp"), kKernel) << "what is not sent stays";
  EXPECT_THAT(Patched(absl::StrCat(tile, "kernel.cpp\n", Block("  return 0;\n", "  return 2;\n")),
                      "kernel.cpp"),
              HasSubstr("return 2"));
  const std::string whole = "```cpp\nint ksearch_run() { return 7; }\n```\n";
  v1::Sources one = Base();
  one.mutable_files()->RemoveLast();
  const auto replaced = ParsePatchReply(whole, one);
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_EQ(FileOf(*replaced, "kernel.cpp"), "int ksearch_run() { return 7; }\n");
}

TEST(PatchReplyTest, RepliesWithoutAChangeAreFaults) {
  const auto fault = [](const std::string& reply) {
    return std::string(ParsePatchReply(reply, Base()).status().message());
  };
  EXPECT_THAT(fault(absl::StrCat(
                  "tile.h\n", Block("constexpr int kTile = 8;\n", "constexpr int kTile = 8;\n"))),
              HasSubstr("leave the program as it was"));
  EXPECT_THAT(fault("<<<<<<< SEARCH\na\n=======\n"), HasSubstr("change 1 has no >>>>>>> REPLACE"));
  EXPECT_THAT(fault("I would unroll the loop."), HasSubstr("holds no program"));
  EXPECT_THAT(fault(absl::StrCat("<patch path=\"../x.h\">\n", Block("", "int a;\n"), "</patch>\n")),
              HasSubstr("plain names"));
  EXPECT_THAT(
      fault(absl::StrCat("kernel.cpp\n", Block("int ksearch_run(const float* x, float* y) {\n",
                                               "int other(const float* x, float* y) {\n"))),
      HasSubstr("no file defines the entry point"));
}

TEST(PatchReplyTest, WorkIsBounded) {
  v1::Sources base = Base();
  base.mutable_files(1)->set_content(std::string(200000, '\n'));
  std::string blanks;
  for (int i = 0; i < 5000; ++i) blanks += "\n";
  const auto sources =
      ParsePatchReply(absl::StrCat("tile.h\n", Block(blanks + "x\n", "y\n")), base);
  EXPECT_EQ(sources.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(PointsReplyTest, AListIsReadWhateverItsMarks) {
  const auto points = ParsePointsReply(
      "Here is what I think:\n\n- tile the loop\n  over k\n* fuse it\n1. split it\n2) stop\n", 3);
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_THAT(*points, testing::ElementsAre("tile the loop over k", "fuse it", "split it"));
  EXPECT_THAT(std::string(ParsePointsReply("Nothing to say.", 3).status().message()),
              HasSubstr("begins with \"- \""));
  EXPECT_EQ(ParsePointsReply("- " + std::string(5000, 'x'), 1)->front().size(), 600u);
}

}  // namespace
}  // namespace ksearch
