#include "cli/value_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

struct ValueWord {
  absl::string_view word;
  std::vector<absl::string_view> options;  // without their dashes
};

const std::vector<ValueWord>& ValueWords() {
  static const auto* const kWords = new std::vector<ValueWord>{
      {"ADDRESS", {"coordinator"}},
      {"HOST", {"server", "server-name"}},
      {"DATE", {"before"}},
      {"DAYS", {"days", "older-than"}},
      {"DOLLARS", {"budget-usd"}},
      {"MODEL=DOLLARS", {"model-budget-usd"}},
      {"MODEL=INPUT,OUTPUT[,CACHE_READ]", {"price"}},
      {"KEY=VALUE,...", {"use"}},
      {"LEVEL", {"effort"}},
      {"AXIS=VALUES", {"shapes"}},
      {"DURATION",
       {"build-time", "grace", "max-gpu-seconds", "max-wall-time", "progress", "wait",
        "wait-for-workers"}},
      {"FILE",
       {"access-file", "archive", "baseline-file", "ca-file", "cassette", "cert-file", "config",
        "html", "interpreter", "key-file", "like-cassette", "rival", "token-db", "token-file"}},
      {"FILE[:FUNCTION]", {"from-torch"}},
      {"FILE|RUN", {"continue-from-solution"}},
      {"FILE|FOLDER|run:ID", {"seed-solution"}},
      {"FOLDER", {"ca-dir", "dir", "output", "run-folder", "state-dir"}},
      {"PATH", {"out"}},
      {"KIND[:FOLDER]", {"sink"}},
      {"RUN", {"run", "replay-order", "continue-from-world-model"}},
      {"NODE", {"under"}},
      {"WORKLOAD", {"feedback-workloads"}},
      {"TEXT", {"description", "reason", "title"}},
  };
  return *kWords;
}

// What is printed for an option that takes any other word or number.
constexpr char kAnyName[] = "NAME";
constexpr char kAnyNumber[] = "NUMBER";

// "a|b" for a set of words as the library describes it, "{a,b}"; empty for anything else.
std::string ChoicesIn(absl::string_view description) {
  if (!absl::ConsumePrefix(&description, "{") || !absl::ConsumeSuffix(&description, "}")) return "";
  return absl::StrReplaceAll(description, {{",", "|"}});
}

std::string WordFor(const CLI::Option& option, absl::string_view type) {
  for (const ValueWord& each : ValueWords()) {
    for (const std::string& name : option.get_lnames()) {
      const auto at = std::find(each.options.begin(), each.options.end(), name);
      if (at != each.options.end()) return std::string(each.word);
    }
  }
  return type == "TEXT" ? kAnyName : kAnyNumber;
}

// The first validator's description, which is removed: the library appends it to the type.
std::string RemoveDescription(CLI::Option* option) {
  try {
    CLI::Validator* const first = option->get_validator();
    std::string description = first->get_description();
    first->description("");
    return description;
  } catch (const CLI::OptionNotFound&) {  // CLI11 throws this if the option has no validator.
    return "";
  }
}

void NameValue(CLI::Option* option) {
  const std::string described = option->get_type_name();
  const std::string type = described.substr(0, described.find(':'));
  // Anything else is a word that was set for this option, or nothing for a flag.
  if (type != "TEXT" && type != "INT" && type != "UINT" && type != "FLOAT") return;
  const std::string choices = ChoicesIn(RemoveDescription(option));
  if (option->get_positional()) {
    option->type_name("");  // its own name says what it is
  } else {
    option->type_name(choices.empty() ? WordFor(*option, type) : choices);
  }
}

}  // namespace

void NameValues(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) NameValue(option);
  for (CLI::App* below : app->get_subcommands(nullptr)) NameValues(below);
}

}  // namespace ksearch
