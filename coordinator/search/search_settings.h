#ifndef KSEARCH_COORDINATOR_SEARCH_SEARCH_SETTINGS_H_
#define KSEARCH_COORDINATOR_SEARCH_SEARCH_SETTINGS_H_

#include <algorithm>
#include <string>

#include "coordinator/search/evaluation_rules.h"
#include "coordinator/search/search_strategy.h"
#include "coordinator/world_model/edit.h"
#include "coordinator/world_model/selection.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {

// The numbers that steer a world-model search, from a run's configuration; a field left at zero has
// the default documented in proto/config.proto. Constant for a run (rounds may grow on a resume).
struct SearchSettings {
  explicit SearchSettings(const SearchContext& context) {
    const v1::RunConfig& config = context.config;
    const v1::WorldModelSettings& model = config.world_model();
    const auto or_default = [](auto value, auto fallback) { return value > 0 ? value : fallback; };
    preset = model.preset() == v1::PRESET_PAPER ? v1::PRESET_PAPER : v1::PRESET_DEFAULT;
    paper = preset == v1::PRESET_PAPER;
    rounds = or_default(config.rounds(), 20);
    parallel = or_default(config.parallel(), 1);
    stagnation_window = or_default(model.stagnation_window(), 7);
    too_hard_limit = or_default(model.too_hard_limit(), 2);
    too_hard_decay = model.has_too_hard_decay() ? model.too_hard_decay() : 0.5;
    max_new_nodes = or_default(model.max_new_nodes(), 3);
    edit_attempts = or_default(model.max_edit_retries(), 3);
    selection.paper = paper;
    selection.max_difficulty = or_default(model.max_difficulty(), 4);
    selection.virtual_loss = model.has_virtual_loss() ? model.virtual_loss() : 0.15;
    wanted_frontier = paper ? 3 : parallel + 2;
    task = context.task.name();
    learn_from_confirmations = !paper && model.learn_from_confirmations();
    revised_rules = !paper && model.has_learn_from_confirmations();
    dominated_ratio = paper ? 0 : model.dominated_ratio();
    const auto& baselines = context.task.baselines();
    time_baseline_first =
        !paper && model.time_baseline_first() &&
        std::any_of(baselines.begin(), baselines.end(), [&](const v1::Sources& sources) {
          return sources.language() == config.language();
        });
    evaluation.preset = preset;
    evaluation.on_gpu = context.task.device() == v1::DEVICE_CLASS_CUDA;
    evaluation.profile = config.profile();
    evaluation.shows_profiles = !paper;  // the published system shows none
    evaluation.examine_new_bests =
        learn_from_confirmations && evaluation.on_gpu && model.examine_new_bests();
    evaluation.keeps_results = true;
    evaluation.seed_node = kRootId;
  }

  v1::Preset preset;
  bool paper;
  int rounds;
  int parallel;
  int stagnation_window;  // W
  int too_hard_limit;
  double too_hard_decay;
  int max_new_nodes;
  int init_max_new_nodes = 12;
  int edit_attempts;  // per revision, the first one included
  int wanted_frontier;
  SelectionOptions selection;
  std::string task;
  // Absent, and so off, in runs that began before there were such.
  bool learn_from_confirmations;
  // Valid edits of a faulty script are kept, and no intents are asked for before the first result
  // while every slot has one. Runs that began before keep the rules they began with.
  bool revised_rules;
  double dominated_ratio;
  // Off in runs that began before there was such.
  bool time_baseline_first;
  // Runs that began before there were profiles or examinations have none.
  EvaluationRules evaluation;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SEARCH_SETTINGS_H_
