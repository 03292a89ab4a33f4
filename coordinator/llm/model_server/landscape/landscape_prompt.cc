#include "coordinator/llm/model_server/landscape/landscape_prompt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/memory_words.h"
#include "nlohmann/json.hpp"

namespace ksearch {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kCurrentMark = "CURRENT: ";
constexpr absl::string_view kFileTag = "<file path=";
constexpr absl::string_view kFileEnd = "</file>";
constexpr int kMaxIndent = 200;

struct Section {
  std::string heading;  // in lower case; empty: the text before the first heading
  std::string text;
};

// Headings are lines "# ..." outside of programs.
std::vector<Section> SectionsOf(absl::string_view text) {
  std::vector<Section> sections(1);
  bool in_file = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, kFileTag)) in_file = true;
    if (absl::StartsWith(line, kFileEnd)) in_file = false;
    size_t marks = 0;
    while (marks < line.size() && line[marks] == '#') ++marks;
    if (!in_file && marks > 0 && marks < line.size() && line[marks] == ' ') {
      sections.push_back({absl::AsciiStrToLower(line.substr(marks + 1)), ""});
    } else {
      absl::StrAppend(&sections.back().text, line, "\n");
    }
  }
  return sections;
}

bool Names(const Section& section, std::initializer_list<absl::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](absl::string_view word) {
    return absl::StrContains(section.heading, word);
  });
}

// The programs in `text`, each in its own block <file path="...">.
std::vector<LandscapeCode> ProgramsIn(const Landscape& landscape, absl::string_view text) {
  std::vector<LandscapeCode> programs;
  while (true) {
    const size_t begin = text.find(kFileTag);
    if (begin == absl::string_view::npos) return programs;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find(kFileEnd), text.size());
    if (auto code = ReadProgram(landscape, text.substr(0, end)); code.has_value()) {
      programs.push_back(*std::move(code));
    }
    text.remove_prefix(end);
  }
}

// How likely a section's program is the one to be changed; 0: nothing says so.
int SubjectRank(const Section& section) {
  if (Names(section, {"other program"})) return 0;
  if (Names(section, {"does not work", "failed program", "to repair"})) return 4;
  if (Names(section, {"current program"})) return 3;
  if (Names(section, {"start from", "parent", "to change", "to improve"})) return 2;
  if (Names(section, {"base program", "best program of this cycle", "starting program", "program"}))
    return 1;
  return 0;
}

// "  - id [status] title (decision -> choice)", or nothing.
std::optional<ShownNode> NodeOfLine(const Landscape& landscape, absl::string_view line,
                                    size_t* indent) {
  *indent = line.find_first_not_of(' ');
  if (*indent == absl::string_view::npos || *indent > kMaxIndent) return std::nullopt;
  absl::string_view rest = line.substr(*indent);
  if (!absl::ConsumePrefix(&rest, "- ")) return std::nullopt;
  const size_t id_end = rest.find(" [");
  const size_t status_end = rest.find(']');
  if (id_end == absl::string_view::npos || status_end == absl::string_view::npos ||
      status_end < id_end) {
    return std::nullopt;
  }
  ShownNode node;
  node.id = std::string(rest.substr(0, id_end));
  absl::string_view status = rest.substr(id_end + 2, status_end - id_end - 2);
  node.open = absl::StartsWith(status, "open");
  if (absl::ConsumePrefix(&status, "SOLVED ")) {
    node.solved = true;
    const std::string number(status.substr(0, status.find('x')));
    if (!absl::SimpleAtod(number, &node.speedup)) node.speedup = 0;
  }
  node.change = ReadChange(landscape, rest.substr(status_end + 1));
  return node;
}

std::optional<LandscapePoint> PointInNotes(const Landscape& landscape, absl::string_view line) {
  const size_t at = line.find(kCurrentMark);
  if (at == absl::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kCurrentMark.size());
  return landscape.Read(line.substr(0, line.find_first_of(";\n")));
}

std::vector<ShownNode> NodesOfOutline(const Landscape& landscape, absl::string_view text) {
  std::vector<ShownNode> nodes;
  std::vector<std::pair<size_t, std::string>> path;  // indentation and id
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "Pruned")) break;  // pruned nodes have lines of the same form
    size_t indent = 0;
    std::optional<ShownNode> node = NodeOfLine(landscape, line, &indent);
    if (!node.has_value()) {
      if (!nodes.empty() && !nodes.back().point.has_value()) {
        nodes.back().point = PointInNotes(landscape, line);
      }
      continue;
    }
    while (!path.empty() && path.back().first >= indent) path.pop_back();
    if (!path.empty()) node->parent = path.back().second;
    path.emplace_back(indent, node->id);
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

std::string TextOf(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The published form: a JSON object, which may have been cut.
std::vector<ShownNode> NodesOfJson(const Landscape& landscape, absl::string_view text) {
  std::vector<ShownNode> nodes;
  const Json tree = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object() || !tree.contains("decision_tree")) return nodes;
  const Json& root = tree["decision_tree"];
  if (!root.is_object() || !root.contains("nodes") || !root["nodes"].is_array()) return nodes;
  for (const Json& each : root["nodes"]) {
    if (!each.is_object()) continue;
    ShownNode node;
    node.id = TextOf(each, "node_id");
    node.parent = TextOf(each, "parent_id");
    node.change = ReadChange(landscape, TextOf(each, "choice"));
    const auto solution = each.find("solution_ref");
    node.solved = solution != each.end() && solution->is_object();
    if (node.solved && solution->contains("eval") && (*solution)["eval"].is_object() &&
        (*solution)["eval"].contains("score") && (*solution)["eval"]["score"].is_number()) {
      node.speedup = (*solution)["eval"]["score"].get<double>();
    }
    node.open = !node.solved && each.contains("action");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// The word after `mark`.
std::string WordBehind(absl::string_view text, absl::string_view mark) {
  const size_t at = text.find(mark);
  if (at == absl::string_view::npos) return "";
  text.remove_prefix(at + mark.size());
  return std::string(text.substr(0, text.find_first_of(" \n")));
}

// The number after `mark`; 0: there is none.
double NumberBehind(absl::string_view text, absl::string_view mark) {
  double number = 0;
  const std::string word = WordBehind(text, mark);
  return absl::SimpleAtod(absl::StripSuffix(word, ","), &number) && std::isfinite(number) ? number
                                                                                          : 0;
}

// "- vectorize, of a program limited by memory bandwidth: tried 14, right 11, faster 9; the changed
// program's speed times 1.31 (...": each line on an intent counts as often as it was tried. Lines
// about new programs say nothing about a change.
void ReadPriors(absl::string_view text, LandscapePrompt* prompt) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, "- ") || absl::StrContains(line, ", in a new program"))
      continue;
    const std::optional<v1::IntentKind> intent =
        IntentNamed(line.substr(0, line.find_first_of(",:")));
    const double median = NumberBehind(line, "speed times ");
    const int tried = static_cast<int>(std::clamp(NumberBehind(line, ": tried "), 0.0, 1e6));
    if (!intent.has_value() || median <= 0 || tried == 0) continue;
    LandscapePrior& prior = prompt->priors[*intent];
    prior.log_gain =
        (prior.log_gain * prior.tried + std::log(median) * tried) / (prior.tried + tried);
    prior.tried += tried;
  }
}

// "... names one bottleneck: memory bandwidth. Method: ..."
v1::Bottleneck BottleneckIn(absl::string_view text) {
  constexpr absl::string_view kMark = "one bottleneck: ";
  const size_t at = text.find(kMark);
  if (at == absl::string_view::npos) return v1::BOTTLENECK_UNSPECIFIED;
  text.remove_prefix(at + kMark.size());
  return BottleneckNamed(text.substr(0, text.find('.'))).value_or(v1::BOTTLENECK_UNSPECIFIED);
}

void ReadDemand(absl::string_view request, LandscapePrompt* prompt) {
  if (prompt->node.empty()) prompt->node = WordBehind(request, "cycle of attempts on node ");
  prompt->gave_up = absl::StrContains(request, "ended without a program that passed");
  for (const absl::string_view mark : {"at most ", "up to\n", "up to "}) {
    int number = 0;
    if (absl::SimpleAtoi(WordBehind(request, mark), &number) && number > 0) {
      prompt->max_new_nodes = number;
      return;
    }
  }
}

}  // namespace

LandscapeChange ReadChange(const Landscape& landscape, absl::string_view text) {
  LandscapeChange change;
  for (absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \t\n,;:()\"'`[]{}<>|"), absl::SkipEmpty())) {
    word = absl::StripSuffix(word, ".");
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    const std::optional<int> parameter = landscape.FindParameter(parts.first);
    if (!parameter.has_value()) continue;
    const std::optional<int> value = landscape.FindValue(*parameter, parts.second);
    if (!value.has_value()) continue;
    const bool again = std::any_of(change.begin(), change.end(), [&](const LandscapeStep& step) {
      return step.parameter == *parameter;
    });
    if (!again) change.push_back({*parameter, *value});
  }
  std::sort(change.begin(), change.end());
  return change;
}

std::string WriteChange(const Landscape& landscape, const LandscapeChange& change) {
  return absl::StrJoin(change, " ", [&](std::string* out, const LandscapeStep& step) {
    const v1::LandscapeParameter& parameter = landscape.spec().parameters(step.parameter);
    absl::StrAppend(out, parameter.name(), "=", parameter.values(step.value).name());
  });
}

std::string IntentsOf(const Landscape& landscape, const LandscapeChange& change) {
  std::vector<std::string> words;
  for (const LandscapeStep& step : change) {
    const v1::IntentKind intent = landscape.spec().parameters(step.parameter).intent();
    if (intent != v1::INTENT_KIND_UNSPECIFIED) words.push_back(IntentWord(intent));
  }
  return words.empty() ? "" : absl::StrCat(" (", absl::StrJoin(words, ", "), ")");
}

std::string CurrentNote(const Landscape& landscape, const LandscapePoint& point) {
  return absl::StrCat(kCurrentMark, landscape.Write(point), ";");
}

LandscapePrompt ReadPrompt(const Landscape& landscape, absl::string_view system,
                           absl::string_view user) {
  LandscapePrompt prompt;
  const std::vector<Section> sections = SectionsOf(user);
  // The required form of the answer is in the rules, or in a separate section.
  std::string all(system);
  for (const Section& section : sections) {
    if (Names(section, {"answer"})) absl::StrAppend(&all, "\n", section.text);
  }
  if (absl::StrContains(all, "\"op\": \"insert_node\"")) {
    prompt.form = LandscapePrompt::Form::kEdits;
  } else if (absl::StrContains(all, "\"decision_tree\": {")) {
    prompt.form = LandscapePrompt::Form::kInitialTree;
    prompt.max_new_nodes = 12;
  } else if (absl::StrContains(all, "\nBOTTLENECK: ")) {
    prompt.form = LandscapePrompt::Form::kVerdict;
  } else if (absl::StrContains(all, kFileTag)) {
    prompt.form = LandscapePrompt::Form::kProgram;
  }
  int best_rank = -1;
  for (const Section& section : sections) {
    // The complaint quotes an earlier answer, which is not a program of the search.
    if (Names(section, {"complaint"})) continue;
    for (LandscapeCode& code : ProgramsIn(landscape, section.text)) {
      const int rank = SubjectRank(section);
      if (rank > best_rank || (rank == best_rank && rank == 0)) {
        prompt.subject = prompt.programs.size();
        best_rank = rank;
      }
      prompt.programs.push_back(std::move(code));
    }
    if (Names(section, {"chosen action", "direction"}) && prompt.plan.empty()) {
      prompt.plan = ReadChange(landscape, section.text);
      absl::string_view text = section.text;
      if (absl::ConsumePrefix(&text, "Node: ")) {
        prompt.node = std::string(text.substr(0, text.find_first_of(" \n")));
      }
    }
    if (Names(section, {"verdict of the judge"})) {
      prompt.verdict = ReadChange(landscape, section.text);
      if (prompt.verdict.empty()) prompt.bottleneck = BottleneckIn(section.text);
    }
    if (Names(section, {"what changes brought"})) ReadPriors(section.text, &prompt);
    if (Names(section, {"attempts and what came", "lessons of"})) {
      for (absl::string_view line : absl::StrSplit(section.text, '\n')) {
        for (const LandscapeStep& step : ReadChange(landscape, line)) prompt.tried.insert(step);
      }
    }
    if (Names(section, {"world model now"})) {
      prompt.nodes = NodesOfOutline(landscape, section.text);
      if (prompt.nodes.empty()) prompt.nodes = NodesOfJson(landscape, section.text);
    }
    if (Names(section, {"what to do now"})) ReadDemand(section.text, &prompt);
  }
  return prompt;
}

}  // namespace ksearch
