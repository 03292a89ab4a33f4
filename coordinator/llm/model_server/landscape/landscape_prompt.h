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

// A node of the world model, as a prompt's digest of the tree shows it.
struct ShownNode {
  std::string id;
  std::string parent;  // empty: the root
  bool solved = false;
  bool open = false;                    // an action that no program passed for yet
  double speedup = 0;                   // of a solved one, over the baseline
  LandscapeChange change;               // what its action is
  std::optional<LandscapePoint> point;  // of its program, where its notes say so
};

// What the model finds in a prompt. It reads the text alone, as any model has to.
struct LandscapePrompt {
  enum class Form {
    kProgram,      // a program is asked for
    kInitialTree,  // the first world model
    kEdits,        // an edit script of the world model
    kVerdict,      // a judge's bottleneck, method and plan
    kWords,        // anything else, such as notes, plans and advice
  };
  Form form = Form::kWords;
  // Programs of this landscape, in the order in which they are shown.
  std::vector<LandscapeCode> programs;
  // Which of them is to be changed: the one under the heading that says so, or else the last one.
  std::optional<size_t> subject;
  // The chosen action's, or a plan's; empty: nothing says what to change.
  LandscapeChange plan;
  // A judge's; the action comes first. It names a change, or else a bottleneck.
  LandscapeChange verdict;
  v1::Bottleneck bottleneck = v1::BOTTLENECK_UNSPECIFIED;
  // What earlier searches gained by changes of a program, by what they were meant to do.
  std::map<v1::IntentKind, LandscapePrior> priors;
  // What earlier attempts are said to have tried.
  std::set<LandscapeStep> tried;

  // In prompts about the world model.
  std::vector<ShownNode> nodes;  // parents before children; the root first
  std::string node;              // the one concerned; empty: none
  bool gave_up = false;          // on `node`
  int max_new_nodes = 3;
};

LandscapePrompt ReadPrompt(const Landscape& landscape, absl::string_view system,
                           absl::string_view user);

// How a change and a program's choices are written into a tree: "tile=8 layout=rows". Every word
// NAME=VALUE in `text` that is a step of this landscape, the first one of each parameter.
LandscapeChange ReadChange(const Landscape& landscape, absl::string_view text);
std::string WriteChange(const Landscape& landscape, const LandscapeChange& change);

// " (vectorize, tile)": what the change's parameters are for; empty: the landscape does not say.
std::string IntentsOf(const Landscape& landscape, const LandscapeChange& change);

// Notes of a solved node: what its program chooses.
std::string CurrentNote(const Landscape& landscape, const LandscapePoint& point);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROMPT_H_
