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
  bool writes_programs;  // else its replies count as used, whether or not they lead to a program
  // The approximate number of calls per round in this role, for estimates; 0 for calls about the
  // tree, whose number depends on cycles.
  double calls_a_round;
};

// The roles of the strategy of that name (empty: the default one), in the order in which settings
// and estimates list them. An unknown name has those of the default one.
const std::vector<StrategyRole>& RolesOf(absl::string_view strategy);
// The same for a run, including the roles of its judge and of its embeddings if it has them.
std::vector<StrategyRole> RolesOf(const v1::RunConfig& config);
// Also false for a role that the strategy does not have.
bool WritesPrograms(absl::string_view strategy, absl::string_view role);

// Returns true if a run with this configuration may embed programs: its strategy has the setting
// `embeddings`, which is not set to false.
bool MayEmbed(const v1::RunConfig& config);
// Returns true if a run embeds programs, by a configuration in which that has been decided
// (engine/run_embedding.h).
bool Embeds(const v1::RunConfig& config);
bool HasEmbeds(const v1::RunConfig& config);
// Sets it for a strategy that has the setting, and returns the setting's name, e.g.
// "shinka.embeddings".
std::string SetEmbeds(bool value, v1::RunConfig* config);

// Fills in the defaults of the strategy's own settings. Returns the errors, each beginning with the
// field's name: numbers out of range, and settings in `request` that belong to another strategy.
// Returns none for an unknown strategy, which MakeStrategy refuses.
std::vector<std::string> CompleteStrategySettings(const v1::RunConfig& request,
                                                  v1::RunConfig* config);

// Sets whether the baseline is timed before the first prompt, in a complete configuration.
void SetTimeBaselineFirst(bool value, v1::RunConfig* config);
// Returns true if `config` says whether the baseline is timed first.
bool HasTimeBaselineFirst(const v1::RunConfig& config);

// The strategy named by context.config.strategy (empty: the default one). INVALID_ARGUMENT for an
// unknown name lists all strategies.
absl::StatusOr<std::unique_ptr<SearchStrategy>> MakeStrategy(const SearchContext& context);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_STRATEGY_FACTORY_H_
