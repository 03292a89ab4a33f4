#include "coordinator/suites/flashinfer/python_outline.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::ElementsAre;

std::string Fault(absl::string_view text) {
  return std::string(OutlinePython(text).status().message());
}

TEST(PythonOutlineTest, NamesTheFunctionsAtTheTopLevel) {
  const auto outline = OutlinePython(
      "\xEF\xBB\xBFimport torch\r\n"
      "def first(a):\r\n    def inner(): pass\r\n    return a\r\n"
      "class A:\r\n\tdef method(self):\r\n\t\treturn 1\r\n"
      "if True:\r\n    def conditional(): pass\r\n"
      "async def later(): pass\r\n"
      "text = '''\r\ndef quoted(): pass\r\n'''\r\n"
      "@decorated\r\ndef  last ( a ): return a");
  ASSERT_TRUE(outline.ok()) << outline.status();
  EXPECT_THAT(outline->top_level_functions, ElementsAre("first", "last"));
}

TEST(PythonOutlineTest, WhatNoPythonReadsIsAnErrorOfItsLine) {
  EXPECT_EQ(Fault("import torch\n\ndef run(x):\n    return x * (x\n"),
            "line 4: '(' is never closed");
  EXPECT_EQ(Fault("x = [1, 2)\n"), "line 1: ')' does not close the '[' of line 1");
  EXPECT_EQ(Fault("x = 1\ny = 2]\n"), "line 2: ']' closes nothing");
  EXPECT_EQ(Fault("x = 'a\n'\n"), "line 1: a string is never closed");
  EXPECT_EQ(Fault("x = 1\ny = \"\"\"a\n\n"), "line 2: a string is never closed");
  EXPECT_EQ(Fault("def run(x):\nreturn x\n"), "line 1: no indented block follows it");
  EXPECT_EQ(Fault("def run(x):\n    # nothing\n"), "line 1: no indented block follows it");
  EXPECT_EQ(Fault("x = 1\n  y = 2\n"), "line 2: is indented, and no block begins before it");
  EXPECT_EQ(Fault("if x:\n    y\n  z\n"), "line 3: its indentation is that of no block around it");
  EXPECT_EQ(Fault("def run(x):\n\tif x:\n        return x\n"),
            "line 2: no indented block follows it");
  EXPECT_EQ(Fault("if x:\n        y\n\tz\n"), "line 3: mixes tabs and blanks in its indentation");
  EXPECT_EQ(Fault("x = \\ 1\n"), "line 1: a '\\' outside of a string");
  EXPECT_EQ(Fault(absl::string_view("x = 1\0\n", 7)), "line 1: has a NUL byte");
}

TEST(PythonOutlineTest, WhatSomePythonReadsIsNoError) {
  for (const char* text : {"",
                           "\n",
                           "# only a comment",
                           "x = 1 \\\n  + 2\n",
                           "x = (1,\n# (\n2)\n",
                           "if x: pass\nelse: pass\n",
                           "if x:\n    pass\n\n# comment\n    # another\n    y = 1\n",
                           "if x:  # begins (\n    pass\n",
                           "x = r'\\'  # '\n",
                           "x = rb'(' b\"'\" '''a'\n'''\n",
                           "x = f'{a[\"(\"]}' + f\"{{(\" + f'{a!r:>{w}}' + rf'\\d{a}('\n",
                           "x = f\"{a[\"b\"]}\" f\"{f(\")\")}\"\n",
                           "x = f'{a:(^10}'\n",
                           "x = f'''{\na\n}''' + ')'\n",
                           "x = f\"{'\\n'.join(a)}\"\ny = ()\n",
                           "def run(x\n        ):\n  return x\n",
                           "x: int = 3\ny = {1: 2}[1:]\nz = lambda: 0\n",
                           "if x:\n\ty\n\tif z:\n\t\tw\n",
                           "match x:\n    case _:\n        pass\n",
                           "\f\ndef run(): pass\n",
                           "x = '\\\n'\n"}) {
    EXPECT_TRUE(OutlinePython(text).ok()) << text << ": " << Fault(text);
  }
}

// A comment within a field is right since Python 3.12.
TEST(PythonOutlineTest, SaysWhetherAllOfTheFileWasUnderstood) {
  const auto all = OutlinePython("x = f'{a}'\ndef run(): pass\n");
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(all->complete);
  EXPECT_THAT(all->top_level_functions, ElementsAre("run"));
  const auto part = OutlinePython("def first(): pass\nx = f'{a # b\n}'\ndef run(): pass\n");
  ASSERT_TRUE(part.ok());
  EXPECT_FALSE(part->complete);
  EXPECT_THAT(part->top_level_functions, ElementsAre("first"));
}

}  // namespace
}  // namespace ksearch
