#include "coordinator/engine/repeated_run.h"

namespace ksearch {

void TakeOver(const RunRow& earlier, const v1::RunConfig& request, v1::RunConfig* config) {
  // What changes the course of a search is as it was there, if nothing else is asked for.
  const v1::WorldModelSettings& tree = earlier.config.world_model();
  if (!request.world_model().has_learn_from_confirmations()) {
    config->mutable_world_model()->clear_learn_from_confirmations();
    if (tree.has_learn_from_confirmations()) {
      config->mutable_world_model()->set_learn_from_confirmations(tree.learn_from_confirmations());
    }
  }
  if (!request.world_model().has_dominated_ratio()) {
    config->mutable_world_model()->set_dominated_ratio(tree.dominated_ratio());
  }
  // Its order holds the profiles that it had, and no others.
  if (request.profile() == v1::PROFILE_POLICY_UNSPECIFIED) {
    config->set_profile(earlier.config.profile() == v1::PROFILE_POLICY_UNSPECIFIED
                            ? v1::PROFILE_POLICY_NEVER
                            : earlier.config.profile());
  }
  if (!request.has_platform()) {
    *config->mutable_platform() = earlier.status.platform();
    config->set_any_device(earlier.status.any_device());
  }
}

}  // namespace ksearch
