#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "proto/memory.pb.h"

namespace ksearch {

// One parameter's new value.
struct LandscapeStep {
  int parameter = 0;
  int value = 0;

  friend auto operator<=>(const LandscapeStep&, const LandscapeStep&) = default;
};
// Steps of different parameters, to be made together.
using LandscapeChange = std::vector<LandscapeStep>;

LandscapePoint Changed(LandscapePoint point, const LandscapeChange& change);

// The gain that earlier searches are said to have had from changes of one intent.
struct LandscapePrior {
  double log_gain = 0;  // median
  int tried = 0;
};

// What a question adds to the model's knowledge.
struct LandscapeView {
  bool judges = false;  // the model is asked as a judge
  std::map<v1::IntentKind, LandscapePrior> priors;
  // Unless unspecified, only parameters of this bottleneck are considered.
  v1::Bottleneck bottleneck = v1::BOTTLENECK_UNSPECIFIED;
};

// The model's beliefs about changes and its choice among them. Shared by the planner and the writer
// of programs. Borrows the landscape. Immutable.
class LandscapeKnowledge {
 public:
  explicit LandscapeKnowledge(const Landscape& landscape, LandscapeView view = {})
      : landscape_(landscape), view_(std::move(view)) {}

  // Returns the believed gain of the change: ln(latency before / latency after). Always the same
  // for the same program, change and view.
  double Belief(const LandscapePoint& point, const LandscapeChange& change) const;

  // Returns every change of one step that is considered for the program.
  std::vector<LandscapeStep> Steps(const LandscapePoint& point) const;

  // Draws a change of `count` steps that leads to none of `avoid`; a change is likelier the higher
  // its believed gain. Steps in `tired` have a third of their weight. nullopt if there is none.
  std::optional<LandscapeChange> Draw(const LandscapePoint& point, int count,
                                      const std::set<LandscapePoint>& avoid,
                                      const std::set<LandscapeStep>& tired, Rng* rng) const;

 private:
  double skill() const;
  // The belief without priors.
  double OwnBelief(const LandscapePoint& point, const LandscapeChange& change) const;

  const Landscape& landscape_;
  const LandscapeView view_;
};

// Draws a number of changes, at least one, from the geometric distribution with mean `mean`.
int DrawCount(double mean, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_
