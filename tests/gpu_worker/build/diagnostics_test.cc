#include "gpu_worker/build/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DiagnosticsTest, KeepsTheErrorWithItsCode) {
  const CompilerLog log = DigestCompilerLog(
      "kernel.cpp: In function 'int ksearch_run(const KsearchArgs*)':\n"
      "kernel.cpp:7:12: error: 'y' was not declared in this scope\n"
      "    7 |     return y;\n"
      "      |            ^\n");
  ASSERT_EQ(log.diagnostics.size(), 1u);
  EXPECT_EQ(log.diagnostics[0].file(), "kernel.cpp");
  EXPECT_EQ(log.diagnostics[0].line(), 7);
  EXPECT_EQ(log.diagnostics[0].severity(), "error");
  EXPECT_EQ(log.diagnostics[0].message(), "'y' was not declared in this scope");
  EXPECT_THAT(log.excerpt, HasSubstr("return y;"));
  EXPECT_THAT(log.excerpt, HasSubstr("In function"));
}

TEST(DiagnosticsTest, ErrorsComeBeforeWarningsAndOnce) {
  const CompilerLog log = DigestCompilerLog(
      "k.cpp:1:1: warning: unused variable 'a'\n"
      "k.cpp:2:1: error: no\n"
      "k.cpp:2:1: error: no\n"
      "k.cpp:3:1: fatal error: missing.h: No such file or directory\n");
  ASSERT_EQ(log.diagnostics.size(), 3u);
  EXPECT_EQ(log.diagnostics[0].line(), 2);
  EXPECT_EQ(log.diagnostics[1].line(), 3);
  EXPECT_EQ(log.diagnostics[1].severity(), "error");
  EXPECT_EQ(log.diagnostics[2].severity(), "warning");
  EXPECT_LT(log.excerpt.find("error: no"), log.excerpt.find("warning"));
}

TEST(DiagnosticsTest, CutsTemplateBacktracesAndPaths) {
  std::string text = "In file included from /usr/include/c++/12/vector:64,\n";
  for (int i = 0; i < 50; ++i) {
    absl::StrAppend(&text, "/usr/include/c++/12/bits/stl_vector.h:", i,
                    ":5:   required from 'class std::vector<T", i, ">'\n");
  }
  absl::StrAppend(&text,
                  "/usr/include/c++/12/bits/stl_vector.h:99:9: error: static assertion failed\n");
  for (int i = 0; i < 50; ++i) absl::StrAppend(&text, "k.cpp:", i, ":1: note: candidate ", i, "\n");
  const CompilerLog log = DigestCompilerLog(text);
  const std::vector<std::string> lines = absl::StrSplit(log.excerpt, '\n');
  EXPECT_LT(lines.size(), 12u);
  EXPECT_THAT(log.excerpt, HasSubstr("stl_vector.h:99:9: error: static assertion failed"));
  EXPECT_THAT(log.excerpt, Not(HasSubstr("/usr")));
  EXPECT_EQ(log.diagnostics[0].file(), "stl_vector.h");
}

TEST(DiagnosticsTest, LinkerErrorsAreErrors) {
  const CompilerLog log = DigestCompilerLog(
      "/usr/bin/ld: /tmp/ccX1.o: in function `ksearch_run':\n"
      "kernel.cpp:(.text+0x5): undefined reference to `missing()'\n"
      "collect2: error: ld returned 1 exit status\n");
  ASSERT_EQ(log.diagnostics.size(), 1u);
  EXPECT_EQ(log.diagnostics[0].message(), "undefined reference to `missing()'");
}

TEST(DiagnosticsTest, QuotedCodeKeepsItsDivisions) {
  const CompilerLog log =
      DigestCompilerLog("k.cpp:1:1: error: bad\n    1 | x = a/b/c; // see /usr/include/x.h\n");
  EXPECT_THAT(log.excerpt, HasSubstr("x = a/b/c; // see x.h"));
}

TEST(DiagnosticsTest, UnknownTextIsKeptWhole) {
  EXPECT_EQ(DigestCompilerLog("Segmentation fault\n").excerpt, "Segmentation fault\n");
  EXPECT_EQ(DigestCompilerLog("").excerpt, "");
}

TEST(DiagnosticsTest, EverythingIsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&text, "k.cpp:", i, ":1: error: ", std::string(3000, 'x'), i, "\n");
  }
  const CompilerLog log = DigestCompilerLog(text);
  EXPECT_LE(log.excerpt.size(), kMaxLogExcerptBytes);
  EXPECT_LE(log.diagnostics.size(), static_cast<size_t>(kMaxDiagnostics));
  EXPECT_THAT(log.excerpt, HasSubstr("more errors or warnings]"));
}

TEST(DiagnosticsTest, NothingReachesATerminalThatDoesNotShow) {
  const CompilerLog log = DigestCompilerLog(
      "k.cpp:1:1: error: a\xC2\x9B"
      "31mb\xC2\x85"
      "c\xE2\x80\xAE"
      "d\xE2\x80\xA8"
      "e\xE2\x80\x8B"
      "f\xEF\xBB\xBF"
      "g\xF3\xA0\x81\x81"
      "h\x1B[2Ji\x7F"
      "j \xE2\x80\x98k\xE2\x80\x99 \xC3\xBC \xF0\x9F\x98\x80\n");
  ASSERT_EQ(log.diagnostics.size(), 1u);
  EXPECT_EQ(log.diagnostics[0].message(),
            "a31mbcdefgh[2Jij \xE2\x80\x98k\xE2\x80\x99 \xC3\xBC \xF0\x9F\x98\x80");
}

TEST(DiagnosticsTest, WhatIsNoUtf8BecomesAQuestionMark) {
  EXPECT_EQ(DigestCompilerLog("a\xC3\xA9 \xFF\xC3 \xED\xA0\x80 \xE2\x82\xAC").excerpt,
            "a\xC3\xA9 ?? ??? \xE2\x82\xAC\n");
}

TEST(DiagnosticsTest, CuttingKeepsWholeCharacters) {
  std::string text = "ab\xE2\x82\xAC";
  CutUtf8(4, &text);
  EXPECT_EQ(text, "ab");
}

TEST(DiagnosticsTest, ControlCharactersAreDropped) {
  EXPECT_THAT(DigestCompilerLog("k.cpp:1:1: error: \x1b[31mred\x07\n").excerpt,
              HasSubstr("error: [31mred\n"));
}

}  // namespace
}  // namespace ksearch
