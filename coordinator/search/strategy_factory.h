#ifndef KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_
#define KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {

inline constexpr char kDefaultStrategy[] = "world_model";

// A role in which a strategy asks models.
struct StrategyRole {
  std::string name;      // AskModel.role, ModelUse.role
  bool writes_programs;  // else its replies are used whether they lead to a program or not
  // About how many calls a round has in it, for estimates; 0: the tree's, which depend on cycles.
  double calls_a_round;
};

// The roles of the strategy of that name (empty: the default one), in the order in which settings
// and estimates list them. An unknown name has those of the default one.
const std::vector<StrategyRole>& RolesOf(absl::string_view strategy);
// The same of a run, with its judge, and with what embeds, if it has them.
std::vector<StrategyRole> RolesOf(const v1::RunConfig& config);
// False also for a role that the strategy does not have.
bool WritesPrograms(absl::string_view strategy, absl::string_view role);

// Whether a run of the configuration's strategy may have programs embedded: the strategy has the
// setting `embeddings`, which nobody has set to false.
bool MayEmbed(const v1::RunConfig& config);
// Whether it does, in a configuration where that is filled in (engine/run_embedding.h).
bool Embeds(const v1::RunConfig& config);
bool HasEmbeds(const v1::RunConfig& config);
// The strategy has the setting. "shinka.embeddings": its name is returned.
std::string SetEmbeds(bool value, v1::RunConfig* config);

// Fills in the defaults of the strategy's own settings. Returns the faults, each beginning with the
// field's name: numbers out of range, and settings in `request` of another strategy. An unknown
// strategy has no faults; MakeStrategy refuses it.
std::vector<std::string> CompleteStrategySettings(const v1::RunConfig& request,
                                                  v1::RunConfig* config);

// Whether the baseline is timed before the first question, in a completed configuration.
void SetTimeBaselineFirst(bool value, v1::RunConfig* config);
// Whether `config` says so or otherwise.
bool HasTimeBaselineFirst(const v1::RunConfig& config);

// The strategy named by context.config.strategy (empty: the default one). INVALID_ARGUMENT for an
// unknown name lists those there are.
absl::StatusOr<std::unique_ptr<SearchStrategy>> MakeStrategy(const SearchContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_
