#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "coordinator/proposer/reply_parser.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr char kProgram[] = "#include \"ksearch_task.h\"\nint ksearch_run(const KsearchArgs*) {}\n";

std::map<std::string, std::string> Files(const std::string& reply,
                                         v1::Language language = v1::LANGUAGE_CPP) {
  const absl::StatusOr<v1::Sources> sources = ParseCodeReply(reply, language);
  EXPECT_TRUE(sources.ok()) << sources.status() << "\nfor: " << reply;
  std::map<std::string, std::string> files;
  if (!sources.ok()) return files;
  EXPECT_EQ(sources->language(), language);
  for (const v1::SourceFile& file : sources->files()) files[file.path()] = file.content();
  return files;
}

std::string Fault(const std::string& reply, v1::Language language = v1::LANGUAGE_CPP) {
  const absl::StatusOr<v1::Sources> sources = ParseCodeReply(reply, language);
  EXPECT_FALSE(sources.ok()) << "accepted: " << reply.substr(0, 200);
  EXPECT_TRUE(sources.ok() || absl::IsInvalidArgument(sources.status()));
  return std::string(sources.status().message());
}

std::string Block(const std::string& tag, const std::string& content) {
  return tag + "\n" + content + "</file>\n";
}

TEST(CodeReplyTest, OneFileBlock) {
  EXPECT_THAT(Files(Block("<file path=\"kernel.cpp\">", kProgram)),
              ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, ProseAroundAndSeveralFiles) {
  EXPECT_THAT(Files("First, use <file path=\"...\"> blocks.\n\n" +
                    Block("<file path=\"kernel.cpp\">", kProgram) + "and\n" +
                    Block("<file path=\"sub/tile.h\">", "#pragma once\n") + "Done."),
              ElementsAre(Pair("kernel.cpp", kProgram), Pair("sub/tile.h", "#pragma once\n")));
}

TEST(CodeReplyTest, PathMayBeQuotedInManyWays) {
  for (const std::string tag :
       {"<file path=\"kernel.cpp\">", "<file path='kernel.cpp'>", "<file path=`kernel.cpp`>",
        "<file path=kernel.cpp>", "<FILE  path = \"kernel.cpp\" >", "<file name=\"kernel.cpp\">",
        "<file path=\"./kernel.cpp\" language=\"cpp\">",
        "  <file language='cpp' path='kernel.cpp'>",
        "<file path=\xE2\x80\x9Ckernel.cpp\xE2\x80\x9D>", "<file filename=\"kernel.cpp\">"}) {
    EXPECT_THAT(Files(Block(tag, kProgram)), ElementsAre(Pair("kernel.cpp", kProgram))) << tag;
  }
}

TEST(CodeReplyTest, FencesInsideABlockAreTakenOff) {
  for (const std::string& content :
       {std::string("```cpp\n") + kProgram + "```\n",
        std::string("\n\n```\n") + kProgram + "```\n\n",
        std::string("```cpp\n```c++\n") + kProgram + "```\n```\n",
        std::string("```cpp\n") + kProgram, std::string(kProgram) + "  ```  \n"}) {
    EXPECT_THAT(Files(Block("<file path=\"kernel.cpp\">", content)),
                ElementsAre(Pair("kernel.cpp", kProgram)));
  }
}

TEST(CodeReplyTest, BlocksInsideAFence) {
  EXPECT_THAT(Files("```xml\n" + Block("<file path=\"kernel.cpp\">", kProgram) + "```\n"),
              ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, LineEndsBecomeUnixOnes) {
  EXPECT_THAT(Files("<file path=\"kernel.cpp\">\r\nint ksearch_run();\r\n\r\n</file>\r\n"),
              ElementsAre(Pair("kernel.cpp", "int ksearch_run();\n")));
}

TEST(CodeReplyTest, ClosingTagOnTheLastLineOfCode) {
  EXPECT_THAT(Files("<file path=\"kernel.cpp\">int ksearch_run() {\n}</file>"),
              ElementsAre(Pair("kernel.cpp", "int ksearch_run() {\n}\n")));
}

TEST(CodeReplyTest, HtmlIsNotDecoded) {
  EXPECT_THAT(Files("<file path=\"kernel.cpp\">\nint ksearch_run(); // a &lt; b\n</file>"),
              ElementsAre(Pair("kernel.cpp", "int ksearch_run(); // a &lt; b\n")));
}

TEST(CodeReplyTest, OfARepeatedPathTheLastWins) {
  EXPECT_THAT(Files(Block("<file path=\"kernel.cpp\">", "draft\n") +
                    Block("<file path=\"kernel.cpp\">", kProgram)),
              ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, TheGeneratedHeaderIsLeftOut) {
  EXPECT_THAT(Files(Block("<file path=\"ksearch_task.h\">", "struct KsearchArgs;\n") +
                    Block("<file path=\"kernel.cpp\">", kProgram)),
              ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, TheOneFence) {
  const std::string code = kProgram;
  EXPECT_THAT(Files("Here:\n```cpp\n" + code + "```\nThat is all."),
              ElementsAre(Pair("kernel.cpp", code)));
  EXPECT_THAT(Files("~~~\n" + code + "~~~"), ElementsAre(Pair("kernel.cpp", code)));
  EXPECT_THAT(Files("```cuda\n" + code + "```", v1::LANGUAGE_CUDA),
              ElementsAre(Pair("kernel.cu", code)));
  EXPECT_THAT(Files("```python\ndef run(x, y):\n  pass\n```", v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", "def run(x, y):\n  pass\n")));
}

// A docstring may contain fences.
TEST(CodeReplyTest, FencesInStringsOfAProgramDoNotEndIt) {
  const std::string program =
      "\"\"\"Use it as\n```\nrun(x, y)\n```\n\"\"\"\n# it's ''' no quote\nx = \"a ''' \\\" b\"\n"
      "def run(x, y):\n  r'''\n  ```\n  \\'''  '''\n  y.copy_(x)\n";
  EXPECT_THAT(Files("Here:\n```python\n" + program + "```\nThat is all.\n```text\nmore\n```\n",
                    v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", program)));
  EXPECT_THAT(Files("````python\n" + program + "````\n", v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", program)));
  EXPECT_THAT(Files(Block("<file path=\"kernel.py\">", program), v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", program)));
  // A fence there does not begin another file, either.
  const std::string shows =
      "# kernel.py\n'''\n```python\n# kernel.py\nrun(x)\n```\n```py\n# b.py\n"
      "```\n'''\nrun = print\n";
  EXPECT_THAT(Files("```python\n" + shows + "```\n", v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", shows)));
  // An unclosed quote hides nothing, and quotes of other languages mean nothing.
  EXPECT_THAT(Files("```python\nx = \"\"\"\n```\n```python\ndef run(x):\n  return x\n```\n",
                    v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", "def run(x):\n  return x\n")));
  EXPECT_THAT(Files("```cpp\n// \"\"\"\n" + std::string(kProgram) + "```\n"),
              ElementsAre(Pair("kernel.cpp", "// \"\"\"\n" + std::string(kProgram))));
}

TEST(CodeReplyTest, ALongerFenceHoldsShorterOnesWhereStringsSpanLines) {
  const std::string code = "def run(x):\n  return x\n# Markdown:\n```\n~~~\n# end\n";
  for (const std::string& reply :
       {"````python\n" + code + "````\n", "~~~~ py\n" + code + "~~~~~\n"}) {
    EXPECT_THAT(Files(reply, v1::LANGUAGE_PYTHON), ElementsAre(Pair("kernel.py", code))) << reply;
  }
}

// If no string spans lines, a fence is three characters, and any bare one ends a block.
TEST(CodeReplyTest, AnyBareFenceEndsABlockOfCpp) {
  const std::string code = kProgram;
  for (const v1::Language language : {v1::LANGUAGE_CPP, v1::LANGUAGE_CUDA}) {
    const auto program =
        ElementsAre(Pair(language == v1::LANGUAGE_CPP ? "kernel.cpp" : "kernel.cu", code));
    for (const std::string& reply :
         {"```cpp\n" + code + "~~~\n", "~~~cpp\n" + code + "```\n", "```cpp\n" + code + "````\n",
          "```cpp\n" + code + "```\nSee\n````text\nmore\n```\n",
          // Another language's docstring is not a string here.
          "```cpp\n" + code + "```\n```python\n\"\"\"\n```\nthat is it\n```\n```\n"}) {
      EXPECT_THAT(Files(reply, language), program) << reply;
    }
    const std::vector<std::pair<std::string, std::string>> faults = {
        {"```cpp\n" + code + "`````\n", "never closed"},
        {"````cpp\n" + code + "```\n", "holds no program"},
        {"````\n" + code + "````\n", "holds no program"},
    };
    for (const auto& [reply, fault] : faults) {
      EXPECT_THAT(Fault(reply, language), HasSubstr(fault)) << reply;
    }
  }
}

TEST(CodeReplyTest, BothWaysToDefineAPythonEntryAreTaken) {
  for (const std::string program :
       {"def run(x, y):\n  pass\n", "import torch\nrun = torch.relu\n",
        "import torch\n@torch.no_grad()\ndef run(x):\n  return x\n", "run: object = print\n"}) {
    EXPECT_THAT(Files("```py\n" + program + "```\n", v1::LANGUAGE_PYTHON),
                ElementsAre(Pair("kernel.py", program)));
    EXPECT_THAT(Files(Block("<file path=\"kernel.py\">", program), v1::LANGUAGE_PYTHON),
                ElementsAre(Pair("kernel.py", program)));
  }
  EXPECT_THAT(Files("class A:\n  pass\n\ndef run(x):\n  return x\n", v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", "class A:\n  pass\n\ndef run(x):\n  return x\n")));
  for (const std::string program :
       {"class Model:\n  def run(self, x):\n    return x\n", "# def run(x, y):\npass\n",
        "def running(x):\n  return x\n", "def forward(x):\n  return x\n"}) {
    EXPECT_THAT(Fault(Block("<file path=\"kernel.py\">", program), v1::LANGUAGE_PYTHON),
                HasSubstr("no line begins with \"def run(\" or \"run =\""))
        << program;
  }
}

TEST(CodeReplyTest, FormsOfATaskAreEntriesToo) {
  const std::string reply = "Here.\n```python\nimport torch\nclass ModelNew(M):\n  pass\n```\n";
  const std::vector<std::string> forms = {"class ModelNew("};
  const auto sources = ParseCodeReply(reply, v1::LANGUAGE_PYTHON, forms);
  ASSERT_TRUE(sources.ok()) << sources.status();
  EXPECT_EQ(sources->files(0).content(), "import torch\nclass ModelNew(M):\n  pass\n");
  EXPECT_FALSE(ParseCodeReply(reply, v1::LANGUAGE_PYTHON).ok());
  const auto neither = ParseCodeReply("```python\nx = 1\n```", v1::LANGUAGE_PYTHON, forms);
  EXPECT_THAT(std::string(neither.status().message()),
              HasSubstr("no line begins with \"def run(\" or \"class ModelNew(\""));
}

TEST(CodeReplyTest, SeveralPythonFilesByNameOrFirstComment) {
  const std::string kernel = "from tile import size\ndef run(x, y):\n  pass\n";
  const auto both = ElementsAre(Pair("kernel.py", kernel), Pair("tile.py", "size = 4\n"));
  EXPECT_THAT(Files(Block("<file path=\"kernel.py\">", kernel) +
                        Block("<file path=\"tile.py\">", "size = 4\n"),
                    v1::LANGUAGE_PYTHON),
              both);
  EXPECT_THAT(Files("```python kernel.py\n" + kernel + "```\n**tile.py**\n```py\nsize = 4\n```\n",
                    v1::LANGUAGE_PYTHON),
              both);
  EXPECT_THAT(Files("```python\n# kernel.py\n" + kernel +
                        "```\n```python\n# file: tile.py\nsize = 4\n```\n",
                    v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("kernel.py", "# kernel.py\n" + kernel),
                          Pair("tile.py", "# file: tile.py\nsize = 4\n")));
  EXPECT_THAT(Fault(Block("<file path=\"softmax.py\">", kernel) +
                        Block("<file path=\"tile.py\">", "size = 4\n"),
                    v1::LANGUAGE_PYTHON),
              HasSubstr("of 2 files none is kernel.py"));
  EXPECT_THAT(Files(Block("<file path=\"softmax.py\">", kernel) +
                        Block("<file path=\"lib/tile.py\">", "size = 4\n"),
                    v1::LANGUAGE_PYTHON),
              ElementsAre(Pair("lib/tile.py", "size = 4\n"), Pair("softmax.py", kernel)));
  EXPECT_THAT(Fault(Block("<file path=\"kernel.txt\">", kernel), v1::LANGUAGE_PYTHON),
              HasSubstr("no file ends in .py; the program belongs into kernel.py"));
}

// "# kernel.py" above a few lines is an excerpt of the program above, not another program.
TEST(CodeReplyTest, AnExcerptUnderTheProgramsNameDoesNotReplaceIt) {
  const std::string kernel = "# kernel.py\nimport torch\ndef run(x, y):\n  y.copy_(x)\n";
  for (const std::string excerpt :
       {"# kernel.py\ny.copy_(x)\n", "# ./kernel.py\n  y.copy_(x)\n", "# file: kernel.py\n...\n"}) {
    const std::string whole_fence = "```python\n" + kernel + "```\n";
    const std::string excerpt_fence = "```python\n" + excerpt + "```\n";
    for (const std::string& reply :
         {whole_fence + "What counts is\n" + excerpt_fence, excerpt_fence + whole_fence}) {
      EXPECT_THAT(Files(reply, v1::LANGUAGE_PYTHON), ElementsAre(Pair("kernel.py", kernel)))
          << reply;
    }
  }
  EXPECT_THAT(
      Fault("```python\n" + kernel + "```\n```python\n" + kernel + "```\n", v1::LANGUAGE_PYTHON),
      HasSubstr("2 fenced blocks, of which 2 define"));
}

// Their files are built together, so a name in a comment does not tell what a block is for.
TEST(CodeReplyTest, CommentsNameNoFilesWhereNoFileIsTheMainOne) {
  const std::string kernel = "// kernel.cpp\n" + std::string(kProgram);
  for (const std::string other :
       {"// kernel.cpp\nfor (;;) {}\n", "// tile.h\n#pragma once\n", "// old.cpp\nint x;\n"}) {
    for (const std::string& reply : {"```cpp\n" + kernel + "```\n```cpp\n" + other + "```\n",
                                     "```cpp\n" + other + "```\n```cpp\n" + kernel + "```\n"}) {
      EXPECT_THAT(Files(reply), ElementsAre(Pair("kernel.cpp", kernel))) << reply;
      EXPECT_THAT(Files(reply, v1::LANGUAGE_CUDA), ElementsAre(Pair("kernel.cu", kernel))) << reply;
    }
  }
}

TEST(CodeReplyTest, ExcerptsBesideTheProgramAreTold) {
  EXPECT_THAT(
      Files("The old loop:\n```cpp\nfor (;;) {}\n```\nRun with\n```bash\nmake\n```\n```cpp\n" +
            std::string(kProgram) + "```\n"),
      ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, NamedFences) {
  const std::string code = kProgram;
  const std::string header = "```h tile.h\n#pragma once\n```\n";
  for (const std::string& fence :
       {"```cpp kernel.cpp\n" + code + "```\n", "```cpp:kernel.cpp\n" + code + "```\n",
        "```cpp title=\"kernel.cpp\"\n" + code + "```\n",
        "**kernel.cpp**\n```cpp\n" + code + "```\n",
        "### `kernel.cpp`:\n\n```cpp\n" + code + "```\n",
        "File: kernel.cpp\n```\n" + code + "```\n"}) {
    EXPECT_THAT(Files(fence + header),
                ElementsAre(Pair("kernel.cpp", code), Pair("tile.h", "#pragma once\n")))
        << fence;
  }
}

TEST(CodeReplyTest, BareCode) {
  EXPECT_THAT(Files("\n" + std::string(kProgram)), ElementsAre(Pair("kernel.cpp", kProgram)));
}

TEST(CodeReplyTest, SaysWhatIsMissing) {
  const std::string whole = Block("<file path=\"kernel.cpp\">", kProgram);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "reply is empty"},
      {" \r\n\t", "reply is empty"},
      {"I cannot do that.", "holds no program"},
      {"Call ksearch_run and be happy.", "holds no program"},
      {"<file path=\"kernel.cpp\">\n#include <x>\n", "never closed"},
      {"<file path=\"a.h\">\n<file path=\"kernel.cpp\">\nx\n</file>", "not closed"},
      {"<file>\nint ksearch_run();\n</file>", "no path"},
      {"<file path=\"\">\nint ksearch_run();\n</file>", "no path"},
      {"```cpp\nint ksearch_run() {", "never closed"},
      {"```cpp\nint ksearch_run();\n```\n```cpp\nint ksearch_run();\n```", "2 fenced blocks"},
      {"<file path=\"kernel.cpp\">\nint run();\n</file>", "entry point"},
      {"<file path=\"notes.txt\">\nksearch_run\n</file>", "no file ends in .cpp"},
      {"<file path=\"kernel.cpp\">\n\n```\n```\n</file>", "is empty"},
      {whole + Block("<file path=\"../x.h\">", "x\n"), "plain names"},
      {whole + Block("<file path=\"/etc/passwd\">", "x\n"), "relative"},
      {whole + Block("<file path=\"a..b.h\">", "x\n"), "plain names"},
      {whole + Block("<file path=\"a//b.h\">", "x\n"), "plain names"},
      {whole + Block("<file path=\"a/.hidden\">", "x\n"), "plain names"},
      {whole + Block("<file path=\"-o.h\">", "x\n"), "plain names"},
      {whole + Block("<file path=\"a b.h\">", "x\n"), "letters, digits"},
      {whole + Block("<file path=\"a\\b.h\">", "x\n"), "letters, digits"},
      {whole + Block("<file path=\"" + std::string(130, 'a') + ".h\">", "x\n"), "longer than"},
      {Block("<file path=\"kernel.cpp\">", kProgram + std::string("\xFF\xFE\n")),
       "not valid UTF-8"},
      {Block("<file path=\"kernel.cpp\">", kProgram + std::string(1, '\0') + "\n"), "NUL"},
  };
  for (const auto& [reply, fault] : cases) {
    EXPECT_THAT(Fault(reply), HasSubstr(fault)) << reply.substr(0, 100);
  }
  EXPECT_THAT(Fault("<file path=\"kernel.cpp\">\nx ksearch_run\n</file>", v1::LANGUAGE_CUDA),
              HasSubstr("no file ends in .cu"));
}

TEST(CodeReplyTest, Limits) {
  std::string many = Block("<file path=\"kernel.cpp\">", kProgram);
  for (int i = 0; i < kMaxSourceFiles - 1; ++i) {
    many += Block("<file path=\"h" + std::to_string(i) + ".h\">", "x\n");
  }
  EXPECT_EQ(Files(many).size(), static_cast<size_t>(kMaxSourceFiles));
  EXPECT_THAT(Fault(many + Block("<file path=\"one_more.h\">", "x\n")), HasSubstr("more than 16"));
  const std::string big(kMaxSourceBytes, 'x');
  EXPECT_THAT(Fault(Block("<file path=\"kernel.cpp\">", kProgram + big)), HasSubstr("at most"));
  EXPECT_THAT(Fault(std::string(kMaxReplyBytes + 1, 'x')), HasSubstr("at most"));
}

TEST(CodeReplyTest, RenderedSourcesParseBack) {
  const absl::StatusOr<v1::Sources> sources =
      ParseCodeReply(Block("<file path=\"kernel.cpp\">", kProgram) +
                         Block("<file path=\"a/b.h\">", "\n// <file> & \"quotes\"\n"),
                     v1::LANGUAGE_CPP);
  ASSERT_TRUE(sources.ok()) << sources.status();
  const absl::StatusOr<v1::Sources> again =
      ParseCodeReply(RenderSources(*sources), v1::LANGUAGE_CPP);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->SerializeAsString(), sources->SerializeAsString());
}

TEST(CodeReplyTest, HostileTextTakesLinearTime) {
  std::string tags;
  while (tags.size() < (1 << 20)) tags += "<file path=\"a\" ";
  EXPECT_FALSE(ParseCodeReply(tags, v1::LANGUAGE_CPP).ok());
  std::string fences;
  while (fences.size() < (1 << 20)) fences += "```cpp\nx\n```\n";
  EXPECT_FALSE(ParseCodeReply(fences, v1::LANGUAGE_CPP).ok());
  std::string nested = "<file path=\"kernel.cpp\">\n";
  while (nested.size() < (1 << 20)) nested += "```\n";
  EXPECT_FALSE(ParseCodeReply(nested + "</file>", v1::LANGUAGE_CPP).ok());
}

}  // namespace
}  // namespace ksearch
