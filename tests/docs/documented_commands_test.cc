// ksearch accepts every ksearch command line in the documents: no command, argument or flag is
// unknown, and none is missing. Marked blocks are run as well (run_documents.py). The others need
// a GPU, a key or a cluster: this is the only check of
// their commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/options.h"

namespace ksearch {
namespace {

struct Command {
  std::string place;  // "docs/cli.md:12"
  std::string line;   // from "ksearch " on
  bool fenced = false;
};

// The words of a shell's line up to a comment, a pipe, a redirection or the like.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool any = false;
  const auto end = [&] {
    if (any) words.push_back(word);
    word.clear();
    any = false;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char each = line[i];
    if (quote != 0) {
      if (each == quote) {
        quote = 0;
      } else {
        word.push_back(each);
      }
    } else if (each == '"' || each == '\'') {
      quote = each;
      any = true;
    } else if (absl::ascii_isspace(static_cast<unsigned char>(each))) {
      end();
    } else if (absl::StrContains("|;&<>()", std::string(1, each)) || (each == '#' && !any)) {
      break;
    } else {
      word.push_back(each);
      any = true;
    }
  }
  end();
  return words;
}

void ReadPage(const std::filesystem::path& root, const std::filesystem::path& path,
              std::vector<Command>* commands) {
  std::ifstream file(path);
  const std::string page = std::filesystem::relative(path, root).string();
  bool fenced = false;
  int number = 0;
  std::string begun;  // a line that continues in the next one
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string place = absl::StrCat(page, ":", number);
    if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "```")) {
      fenced = !fenced;
      continue;
    }
    if (fenced) {
      line = begun + line;
      begun.clear();
      if (absl::EndsWith(line, "\\")) {
        begun = line.substr(0, line.size() - 1);
        continue;
      }
      absl::string_view text = absl::StripLeadingAsciiWhitespace(line);
      absl::ConsumePrefix(&text, "$ ");
      if (absl::StartsWith(text, "ksearch ") && !absl::StartsWith(text, "ksearch (")) {
        commands->push_back({place, std::string(text), true});
      }
      continue;
    }
    const std::vector<std::string> parts = absl::StrSplit(line, '`');
    for (size_t i = 1; i + 1 < parts.size(); i += 2) {
      if (absl::StartsWith(parts[i], "ksearch ")) commands->push_back({place, parts[i], false});
    }
  }
}

std::vector<Command> Documented() {
  const std::filesystem::path root = std::getenv("KSEARCH_SOURCE_DIR");
  std::vector<Command> commands;
  ReadPage(root, root / "README.md", &commands);
  ReadPage(root, root / "results/README.md", &commands);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") ReadPage(root, entry.path(), &commands);
  }
  return commands;
}

// The error of ksearch for these words; empty: none.
std::string Complaint(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int exit_code = 0;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const auto options =
      ParseOptions(static_cast<int>(arguments.size()), arguments.data(), &exit_code);
  testing::internal::GetCapturedStdout();
  const std::string said = testing::internal::GetCapturedStderr();
  return options.has_value() || exit_code == kExitOk ? "" : said + "(exit code 2)";
}

TEST(DocumentedCommandsTest, KsearchTakesThem) {
  int checked = 0;
  for (const Command& command : Documented()) {
    // "..." and brackets are placeholders.
    if (absl::StrContains(command.line, "...") || absl::StrContains(command.line, "[") ||
        absl::StrContains(command.line, "COMMAND")) {
      continue;
    }
    ++checked;
    const std::string complaint = Complaint(WordsOf(command.line));
    // A sentence may name a command without its arguments.
    const bool names_it = !command.fenced && (absl::StrContains(complaint, "is required") ||
                                              absl::StrContains(complaint, "is missing") ||
                                              absl::StrContains(complaint, ": 1 required ") ||
                                              absl::StrContains(complaint, " requires "));
    EXPECT_TRUE(complaint.empty() || names_it) << command.place << ": " << command.line << "\n"
                                               << complaint;
  }
  EXPECT_GT(checked, 150);
}

TEST(DocumentedCommandsTest, AWrongOneWouldBeSeen) {
  EXPECT_THAT(Complaint(WordsOf("ksearch status --no-such-flag 3")),
              testing::HasSubstr("no-such-flag"));
  EXPECT_THAT(Complaint(WordsOf("ksearch nosuch")), testing::HasSubstr("nosuch"));
  EXPECT_EQ(Complaint(WordsOf("ksearch eval --task T kernel.cpp > out.txt  # a remark")), "");
  EXPECT_THAT(WordsOf("a 'b c' \"d\"#e | f"), testing::ElementsAre("a", "b c", "d#e"));
}

}  // namespace
}  // namespace ksearch
