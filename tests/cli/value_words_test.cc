#include "cli/value_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "cli/options.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string HelpOf(const std::string& command) {
  std::vector<std::string> words =
      absl::StrSplit("ksearch " + command + " --help", ' ', absl::SkipEmpty());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int exit_code = kExitUsage;
  testing::internal::CaptureStdout();
  EXPECT_FALSE(
      ParseOptions(static_cast<int>(arguments.size()), arguments.data(), &exit_code).has_value());
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, kExitOk) << command;
  return help;
}

TEST(NameValuesTest, SetsAWordForEveryKindOfOption) {
  CLI::App app;
  CLI::App* const below = app.add_subcommand("command");
  std::string text;
  int number = 0;
  bool flag = false;
  below->add_option("--out", text, "where")->check(CLI::IsMember({"here", "there"}));
  below->add_option("--ca-file", text, "which");
  below->add_option("--limit", number, "how many")->check(CLI::Range(1, 1000));
  below->add_option("--unheard-of", text, "what");
  below->add_option("--own", text, "why")->type_name("BECAUSE");
  below->add_option("place", text, "one of two")->check(CLI::IsMember({"a", "b"}));
  below->add_flag("--quiet", flag, "say nothing");
  NameValues(&app);
  EXPECT_THAT(
      below->help(),
      AllOf(ContainsRegex("--out here\\|there  +where"), ContainsRegex("--ca-file FILE  +which"),
            ContainsRegex("--limit NUMBER  +how many"), ContainsRegex("--unheard-of NAME  +what"),
            ContainsRegex("--own BECAUSE  +why"), ContainsRegex("place  +one of two"),
            ContainsRegex("--quiet  +say nothing")));
  // Validators still do their work.
  EXPECT_THROW(app.parse("command --limit 1001", false), CLI::ValidationError);
}

TEST(NameValuesTest, NoHelpOfACommandShowsALibrarysWords) {
  for (const std::string command : {"",
                                    "run",
                                    "eval",
                                    "export",
                                    "resume",
                                    "steer score",
                                    "steer add",
                                    "gc",
                                    "token create",
                                    "token revoke",
                                    "pki issue",
                                    "mailbox answer",
                                    "task new",
                                    "memory list",
                                    "results",
                                    "report",
                                    "config validate",
                                    "worker drain",
                                    "up",
                                    "down",
                                    "tree",
                                    "log"}) {
    EXPECT_THAT(HelpOf(command), AllOf(Not(ContainsRegex(" (INT|UINT|FLOAT)[: ]")),
                                       Not(HasSubstr("TEXT:")), Not(HasSubstr(":{"))))
        << command;
  }
  EXPECT_THAT(
      HelpOf("run"),
      AllOf(HasSubstr("--budget-usd DOLLARS"), ContainsRegex("--max-wall-time DURATION  +maximum"),
            ContainsRegex("--task NAME  +what"), HasSubstr("--profile all|auto|never")));
}

}  // namespace
}  // namespace ksearch
