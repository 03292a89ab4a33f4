#include "cli/examples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "cli/options.h"

namespace ksearch {
namespace {

TEST(ExamplesTest, EveryExampleIsACommandLineOfItsCommand) {
  int examples = 0;
  for (const std::string command : {"", "run", "eval", "watch", "log", "feed", "diff", "best",
                                    "show", "recheck", "resume", "steer", "export", "completion"}) {
    EXPECT_FALSE(ExamplesOf(command).empty()) << command;
    for (const Example& example : ExamplesOf(command)) {
      ++examples;
      // Without the shell's part.
      std::string line = example.line.substr(example.line.find("ksearch"));
      line = line.substr(0, line.find(" > "));
      if (line.back() == ')') line.pop_back();
      std::vector<std::string> words = absl::StrSplit(line, ' ');
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      int exit_code = 0;
      const auto options =
          ParseOptions(static_cast<int>(arguments.size()), arguments.data(), &exit_code);
      ASSERT_TRUE(options.has_value()) << example.line;
      if (!command.empty()) {
        EXPECT_EQ(options->command, command) << example.line;
      }
    }
  }
  EXPECT_GT(examples, 20);
  EXPECT_TRUE(ExamplesOf("no such command").empty());
}

TEST(ExamplesTest, HelpShowsThem) {
  EXPECT_THAT(ExamplesText("watch"),
              testing::AllOf(testing::HasSubstr("Examples:"),
                             testing::HasSubstr("  ksearch watch last\n      follow")));
  testing::internal::CaptureStdout();
  std::string program = "ksearch", command = "watch", help = "--help";
  char* arguments[] = {program.data(), command.data(), help.data()};
  int exit_code = 1;
  EXPECT_FALSE(ParseOptions(3, arguments, &exit_code).has_value());
  EXPECT_EQ(exit_code, kExitOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("ksearch watch last"));
}

}  // namespace
}  // namespace ksearch
