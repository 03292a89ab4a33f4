#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "cli/options.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The output of `ksearch completion SHELL`.
std::string ScriptOf(const std::string& shell) {
  std::string program = "ksearch", command = "completion", word = shell;
  char* arguments[] = {program.data(), command.data(), word.data()};
  int exit_code = 0;
  const auto options = ParseOptions(3, arguments, &exit_code);
  EXPECT_TRUE(options.has_value()) << exit_code;
  return options.has_value() ? options->completion : "";
}

// Returns bash's completions of the words, the last of which is being typed.
std::string Offered(const std::string& words, int cursor) {
  const std::string script =
      absl::StrCat(ScriptOf("bash"), "COMP_WORDS=(", words, ")\nCOMP_CWORD=", cursor,
                   "\n_ksearch\necho \" ${COMPREPLY[*]} \"\n");
  SubprocessOptions bash;
  bash.argv = {"/bin/bash", "-c", script};
  const auto output = RunCommand(std::move(bash), absl::Seconds(30));
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? output->out + output->err : "";
}

TEST(CompletionTest, BashOffersCommandsOfThePlace) {
  EXPECT_THAT(Offered("ksearch ''", 1), AllOf(HasSubstr(" run "), HasSubstr(" doctor ")));
  EXPECT_EQ(Offered("ksearch wor", 1), " workers worker \n");
  EXPECT_THAT(Offered("ksearch task ''", 2),
              AllOf(HasSubstr(" new "), HasSubstr(" check "), Not(HasSubstr(" doctor "))));
  EXPECT_EQ(Offered("ksearch --json task ne", 3), " new \n");
}

TEST(CompletionTest, BashOffersFlagsOfTheCommandAndOfAll) {
  EXPECT_EQ(Offered("ksearch eval --confi", 2), " --confirm \n");
  EXPECT_EQ(Offered("ksearch run --confi", 2), " --config \n");
  EXPECT_EQ(Offered("ksearch eval --coordi", 2), " --coordinator \n");
}

TEST(CompletionTest, OtherShellsHaveTheSameWords) {
  EXPECT_THAT(ScriptOf("zsh"), AllOf(HasSubstr("#compdef ksearch"), HasSubstr("'task|new'"),
                                     HasSubstr("'--confirm:compare with the baseline")));
  EXPECT_THAT(ScriptOf("fish"),
              AllOf(HasSubstr("'task|new'"),
                    HasSubstr("-n \"test (__ksearch_path) = 'eval'\" -l confirm -d 'compare")));
}

TEST(CompletionTest, QuotesInTextsDoNotEndThem) {
  const CommandWords program = {"p", "", {{{"--flag"}, "don't; never"}}, {}};
  EXPECT_THAT(CompletionScript("zsh", program), HasSubstr("'--flag:don'\\''t'"));
  EXPECT_THAT(CompletionScript("fish", program), HasSubstr("-l flag -d 'don'\\''t'"));
}

}  // namespace
}  // namespace ksearch
