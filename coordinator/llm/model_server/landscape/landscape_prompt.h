#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROMPT_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROMPT_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/llm/model_server/landscape/landscape_knowledge.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"

namespace ksearch {

// A node of the world model as the prompt's digest of the tree shows it.
struct ShownNode {
  std::string id;
  std::string parent;  // empty for the root
  bool solved = false;
  bool open = false;                    // an action without a passing program yet
  double speedup = 0;                   // of a solved node, over the baseline
  LandscapeChange change;               // the change that its action makes
  std::optional<LandscapePoint> point;  // the choices of its program, if its notes contain them
};

// What the simulated model finds in a prompt. It reads only the text, as any model must.
struct LandscapePrompt {
  enum class Form {
    kProgram,      // asks for a program
    kInitialTree,  // asks for the first world model
    kEdits,        // asks for an edit script of the world model
    kVerdict,      // asks a judge for bottleneck, method and plan
    kWords,        // asks for anything else, such as notes, plans and advice
  };
  Form form = Form::kWords;
  // Programs of this landscape in the order in which the prompt shows them.
  std::vector<LandscapeCode> programs;
  // Index of the program to change: the one under the heading that says so, otherwise the last one.
  std::optional<size_t> subject;
  // The change that the chosen action or a plan makes; empty if the prompt names none.
  LandscapeChange plan;
  // The judge's change, which comes after the action's. Empty if the judge names only a bottleneck.
  LandscapeChange verdict;
  v1::Bottleneck bottleneck = v1::BOTTLENECK_UNSPECIFIED;
  // The gains that earlier searches are said to have had from changes, by intent.
  std::map<v1::IntentKind, LandscapePrior> priors;
  // Steps that earlier attempts are said to have tried.
  std::set<LandscapeStep> tried;

  // Only in prompts about the world model; parents before children, the root first.
  std::vector<ShownNode> nodes;  // parents before children; the root first
  std::string node;              // the node concerned; empty: none
  bool gave_up = false;          // `node` was given up
  int max_new_nodes = 3;
};

LandscapePrompt ReadPrompt(const Landscape& landscape, absl::string_view system,
                           absl::string_view user);

// Parses a change or the choices of a program from the form in which trees contain them, "tile=8
// layout=rows": every word NAME=VALUE of `text` that is a step of this landscape, the first one of
// each parameter.
LandscapeChange ReadChange(const Landscape& landscape, absl::string_view text);
std::string WriteChange(const Landscape& landscape, const LandscapeChange& change);

// Returns the intents of the change's parameters as " (vectorize, tile)"; empty if the landscape
// names none.
std::string IntentsOf(const Landscape& landscape, const LandscapeChange& change);

// Returns the notes of a solved node: the choices of its program.
std::string CurrentNote(const Landscape& landscape, const LandscapePoint& point);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROMPT_H_
