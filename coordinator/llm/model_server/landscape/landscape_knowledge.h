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

// What earlier searches are said to have gained by changes of one intent.
struct LandscapePrior {
  double log_gain = 0;  // of the median
  int tried = 0;
};

// What one question adds to what the model knows.
struct LandscapeView {
  bool judges = false;  // it is asked as a judge
  std::map<v1::IntentKind, LandscapePrior> priors;
  // Unless unspecified, parameters of this bottleneck alone are thought of.
  v1::Bottleneck bottleneck = v1::BOTTLENECK_UNSPECIFIED;
};

// What the model believes of changes, and which it would make. The planner and the writer of
// programs share it. Borrows the landscape. Immutable.
class LandscapeKnowledge {
 public:
  explicit LandscapeKnowledge(const Landscape& landscape, LandscapeView view = {})
      : landscape_(landscape), view_(std::move(view)) {}

  // The believed gain of the change: ln(latency before / latency after). Always the same for the
  // same program, change and view.
  double Belief(const LandscapePoint& point, const LandscapeChange& change) const;

  // Every change of one step that is thought of for the program.
  std::vector<LandscapeStep> Steps(const LandscapePoint& point) const;

  // A change of `count` steps, the likelier the more is believed of it, that leads to none of
  // `avoid`; steps in `tired` are taken a third as readily. nullopt: there is none.
  std::optional<LandscapeChange> Draw(const LandscapePoint& point, int count,
                                      const std::set<LandscapePoint>& avoid,
                                      const std::set<LandscapeStep>& tired, Rng* rng) const;

 private:
  double skill() const;
  // Without priors.
  double OwnBelief(const LandscapePoint& point, const LandscapeChange& change) const;

  const Landscape& landscape_;
  const LandscapeView view_;
};

// How many changes are made where their mean is `mean`: one and more, geometrically.
int DrawCount(double mean, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_
