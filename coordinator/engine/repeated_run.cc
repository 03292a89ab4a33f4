#include "coordinator/engine/repeated_run.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {

namespace {

void TakeOverTree(const v1::WorldModelSettings& tree, const v1::RunConfig& request,
                  v1::RunConfig* config) {
  if (!request.world_model().has_learn_from_confirmations()) {
    config->mutable_world_model()->clear_learn_from_confirmations();
    if (tree.has_learn_from_confirmations()) {
      config->mutable_world_model()->set_learn_from_confirmations(tree.learn_from_confirmations());
    }
  }
  if (!request.world_model().has_dominated_ratio()) {
    config->mutable_world_model()->set_dominated_ratio(tree.dominated_ratio());
  }
  if (!request.world_model().has_time_baseline_first()) {
    config->mutable_world_model()->set_time_baseline_first(tree.time_baseline_first());
  }
  if (!request.world_model().has_examine_new_bests()) {
    config->mutable_world_model()->set_examine_new_bests(tree.examine_new_bests());
  }
}

}  // namespace

void TakeOver(const RunRow& earlier, const v1::RunConfig& request, v1::RunConfig* config) {
  // Settings that change the course of a search stay as recorded unless the request sets them.
  if (config->has_evaluation()) {
    const v1::EvaluationSettings& there = earlier.config.evaluation();
    v1::EvaluationSettings* here = config->mutable_evaluation();
    if (!request.evaluation().has_time_baseline_first()) {
      here->set_time_baseline_first(there.time_baseline_first());
    }
    if (!request.evaluation().has_examine_new_bests()) {
      here->set_examine_new_bests(there.examine_new_bests());
    }
  } else {
    TakeOverTree(earlier.config.world_model(), request, config);
  }
  // The recorded order contains only the profiles that the run had.
  if (request.profile() == v1::PROFILE_POLICY_UNSPECIFIED) {
    config->set_profile(earlier.config.profile() == v1::PROFILE_POLICY_UNSPECIFIED
                            ? v1::PROFILE_POLICY_NEVER
                            : earlier.config.profile());
  }
  if (!request.has_platform()) {
    *config->mutable_platform() = earlier.status.platform();
    config->set_any_device(request.any_device() || earlier.status.any_device());
  }
}

void TakeOverJobs(const std::vector<std::string>& recorded, const v1::RunConfig& request,
                  v1::RunConfig* config) {
  const bool timed = absl::c_linear_search(recorded, absl::StrCat("job/", kBaselineTag));
  const bool examined = absl::c_any_of(
      recorded, [](const std::string& key) { return absl::EndsWith(key, kExamineTagEnd); });
  if (config->has_evaluation()) {
    v1::EvaluationSettings* evaluation = config->mutable_evaluation();
    if (!request.evaluation().has_time_baseline_first()) {
      evaluation->set_time_baseline_first(timed);
    }
    if (!request.evaluation().has_examine_new_bests()) {
      evaluation->set_examine_new_bests(examined);
    }
    return;
  }
  v1::WorldModelSettings* tree = config->mutable_world_model();
  if (!request.world_model().has_time_baseline_first()) tree->set_time_baseline_first(timed);
  if (!request.world_model().has_examine_new_bests()) tree->set_examine_new_bests(examined);
}

}  // namespace ksearch
