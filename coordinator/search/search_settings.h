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

// The settings of a world-model search; constant for a run (rounds may grow on a resume).
struct SearchSettings {
  // Fills in the settings common to all presets from the run's configuration; a field left at zero
  // gets the default documented in proto/config.proto. TreePolicy::Settle fills in the rest.
  explicit SearchSettings(const SearchContext& context) {
    const v1::RunConfig& config = context.config;
    const v1::WorldModelSettings& model = config.world_model();
    const auto or_default = [](auto value, auto fallback) { return value > 0 ? value : fallback; };
    rounds = or_default(config.rounds(), 20);
    parallel = or_default(config.parallel(), 1);
    stagnation_window = or_default(model.stagnation_window(), 7);
    too_hard_limit = or_default(model.too_hard_limit(), 2);
    too_hard_decay = model.has_too_hard_decay() ? model.too_hard_decay() : 0.5;
    max_new_nodes = or_default(model.max_new_nodes(), 3);
    edit_attempts = or_default(model.max_edit_retries(), 3);
    selection.max_difficulty = or_default(model.max_difficulty(), 4);
    selection.virtual_loss = model.has_virtual_loss() ? model.virtual_loss() : 0.15;
    task = context.task.name();
    evaluation.on_gpu = context.task.device() == v1::DEVICE_CLASS_CUDA;
    evaluation.profile = config.profile();
    evaluation.floor_share = config.floor_share();
    evaluation.keeps_results = true;
    evaluation.seed_node = kRootId;
  }

  int rounds;
  int parallel;
  int stagnation_window;  // W
  int too_hard_limit;
  double too_hard_decay;
  int max_new_nodes;
  int init_max_new_nodes = 12;
  int edit_attempts;  // per revision, including the first one
  SelectionOptions selection;
  std::string task;
  // Runs started by versions without profiles or examinations have none.
  EvaluationRules evaluation;

  // ---- by preset
  v1::Preset preset = v1::PRESET_DEFAULT;
  EditMode edit_mode = EditMode::kTransactional;
  int init_attempts = 0;
  int wanted_frontier = 0;
  // Absent, and so off, in runs started by versions without it.
  bool learn_from_confirmations = false;
  // Valid edits of a faulty script are kept, and no intents are asked for before the first result
  // while every slot has one. Older runs keep their rules.
  bool revised_rules = false;
  double dominated_ratio = 0;
  // Off in runs started by versions without it.
  bool time_baseline_first = false;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SEARCH_SETTINGS_H_
