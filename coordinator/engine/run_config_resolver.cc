#include "coordinator/engine/run_config_resolver.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/engine/budget_gate.h"
#include "coordinator/engine/continued_run.h"
#include "coordinator/engine/repeated_run.h"
#include "coordinator/engine/run_embedding.h"
#include "coordinator/engine/run_memory.h"
#include "coordinator/engine/run_settings.h"
#include "coordinator/ledger/run_caps.h"

namespace ksearch {

absl::StatusOr<v1::RunConfig> RunConfigResolver::Complete(const v1::RunConfig& request) const {
  v1::RunConfig wanted = request;
  // Errors of the task are reported when the task is needed.
  const auto task = parts_.tasks->Load(request.task());
  if (request.language() == v1::LANGUAGE_UNSPECIFIED &&
      parts_.defaults.language() == v1::LANGUAGE_UNSPECIFIED) {
    // The default for a task that can be written in only one language.
    if (task.ok() && task->references_size() == 1) {
      wanted.set_language(task->references(0).language());
    }
  }
  const v1::DeviceClass device = task.ok() ? task->device() : v1::DEVICE_CLASS_UNSPECIFIED;
  ASSIGN_OR_RETURN(v1::RunConfig config, CompleteRunConfig(wanted, parts_.defaults, device));
  RETURN_IF_ERROR(ResolveEmbedding(&config));
  RETURN_IF_ERROR(ResolveModels(&config));
  ASSIGN_OR_RETURN(const bool repeats, Repeat(request, device, &config));
  if (!repeats && task.ok()) {
    RETURN_IF_ERROR(ReadMemory(parts_.store, *task, parts_.clock->Now(), &config));
  }
  RETURN_IF_ERROR(ContinueFromRun(*parts_.store, &config));
  if (config.target_hardware().empty()) {
    config.set_target_hardware(parts_.target_hardware(UsedDevice(config.language(), device),
                                                      config.platform().device_model()));
    if (FactsOf(config.language()).toolkit_is_told && !config.platform().toolkit().empty()) {
      absl::StrAppend(config.mutable_target_hardware(), "; ", config.platform().toolkit());
    }
  }
  return config;
}

absl::Status RunConfigResolver::ResolveEmbedding(v1::RunConfig* config) const {
  if (config->replay_order_of().empty()) return ChooseEmbedding(*parts_.models, nullptr, config);
  ASSIGN_OR_RETURN(const std::string run_id, parts_.store->ResolveRun(config->replay_order_of()));
  ASSIGN_OR_RETURN(const RunRow earlier, parts_.store->ReadRun(run_id));
  return ChooseEmbedding(*parts_.models, &earlier.config, config);
}

absl::Status RunConfigResolver::ResolveModels(v1::RunConfig* config) const {
  if (config->model().empty()) {
    // Needed only if some role falls back to it.
    const auto model = parts_.models->DefaultModel(config->provider());
    if (!model.ok()) return model.status();
    config->set_model(*model);
  }
  for (int i = 0; i < config->models_size(); ++i) {
    v1::ModelUse* use = config->mutable_models(i);
    if (use->provider().empty()) use->set_provider(config->provider());
    ASSIGN_OR_RETURN(const std::string model, parts_.models->DefaultModel(use->provider()));
    if (use->model().empty()) use->set_model(model);
  }
  ASSIGN_OR_RETURN(const RunCaps caps, ReadCaps(config->budget()));
  config->clear_resolved_prices();
  v1::ResolvedPrices* prices = config->mutable_resolved_prices();
  std::set<std::string> names;
  for (const v1::ModelUse& use : AllUses(*config)) {
    RETURN_IF_ERROR(parts_.models->DefaultModel(use.provider()).status());
    if (use.model().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("model is missing: give --model, or default_model of provider '",
                       use.provider(), "' in the coordinator's config"));
    }
    names.insert(use.model());
    const auto& known = prices->prices();
    const bool found = std::any_of(known.begin(), known.end(), [&](const v1::ResolvedPrice& price) {
      return price.provider() == use.provider() && price.model() == use.model();
    });
    if (found) continue;
    ASSIGN_OR_RETURN(
        *prices->add_prices(),
        parts_.prices->Find(use.provider(), use.model(), config->prices(), parts_.clock->Now()));
    const bool capped = caps.run.nano_usd.has_value() ||
                        caps.ForModel(use.provider(), use.model()).nano_usd.has_value();
    if (capped && prices->prices().rbegin()->basis() == "unknown") {
      return parts_.prices->UnknownPrice(use.provider(), use.model());
    }
  }
  for (const RunCaps::Model& capped : caps.models) {
    if (names.contains(capped.model)) continue;
    return absl::InvalidArgumentError(absl::StrCat("budget.models names '", capped.model,
                                                   "', but the run asks only ",
                                                   absl::StrJoin(names, ", ")));
  }
  SealPrices(prices);
  return absl::OkStatus();
}

absl::StatusOr<bool> RunConfigResolver::Repeat(const v1::RunConfig& request, v1::DeviceClass device,
                                               v1::RunConfig* config) const {
  bool repeats = false;
  if (!config->replay_order_of().empty()) {
    ASSIGN_OR_RETURN(*config->mutable_replay_order_of(),
                     parts_.store->ResolveRun(config->replay_order_of()));
    ASSIGN_OR_RETURN(const RunRow earlier, parts_.store->ReadRun(config->replay_order_of()));
    TakeOver(earlier, request, config);
    RepeatMemory(earlier.config.memory_snapshot(), config);
    repeats = true;
  }
  if (const std::vector<std::string> recorded = parts_.models->RecordedOrder(config->provider());
      !recorded.empty()) {
    TakeOverJobs(recorded, request, config);
    *config->mutable_platform() = parts_.models->RecordedPlatform(config->provider());
    RepeatMemory(parts_.models->RecordedMemory(config->provider()), config);
    repeats = true;
  } else if (const auto platform = ChoosePlatform(*config, device, parts_.platforms);
             platform.has_value()) {
    *config->mutable_platform() = *platform;
  }
  return repeats;
}

}  // namespace ksearch
