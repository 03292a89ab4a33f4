#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/rng.h"
#include "coordinator/llm/model_server/landscape/landscape.h"

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

// What the model believes of changes, and which it would make. The planner and the writer of
// programs share it. Borrows the landscape. Immutable.
class LandscapeKnowledge {
 public:
  explicit LandscapeKnowledge(const Landscape& landscape) : landscape_(landscape) {}

  // The believed gain of the change: ln(latency before / latency after). Always the same for the
  // same program and change.
  double Belief(const LandscapePoint& point, const LandscapeChange& change) const;

  // Every change of one step that can be made to the program.
  std::vector<LandscapeStep> Steps(const LandscapePoint& point) const;

  // A change of `count` steps, the likelier the more is believed of it, that leads to none of
  // `avoid`; steps in `tired` are taken a third as readily. nullopt: there is none.
  std::optional<LandscapeChange> Draw(const LandscapePoint& point, int count,
                                      const std::set<LandscapePoint>& avoid,
                                      const std::set<LandscapeStep>& tired, Rng* rng) const;

 private:
  const Landscape& landscape_;
};

// How many changes are made where their mean is `mean`: one and more, geometrically.
int DrawCount(double mean, Rng* rng);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_KNOWLEDGE_H_
