#include "coordinator/engine/run_settings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/textproto.h"
#include "coordinator/ledger/run_caps.h"

namespace ksearch {
namespace {

constexpr size_t kMaxDeviceModelBytes = 128;
// Below it no runner starts, whatever the candidate.
constexpr double kLeastMemoryBytes = 64 << 20;

void FillWorldModel(v1::WorldModelSettings* settings) {
  if (settings->preset() == v1::PRESET_UNSPECIFIED) settings->set_preset(v1::PRESET_DEFAULT);
  if (!settings->has_stagnation_window()) settings->set_stagnation_window(7);
  if (!settings->has_max_difficulty()) settings->set_max_difficulty(4);
  if (!settings->has_too_hard_limit()) settings->set_too_hard_limit(2);
  if (!settings->has_too_hard_decay()) settings->set_too_hard_decay(0.5);
  if (!settings->has_virtual_loss()) settings->set_virtual_loss(0.15);
  if (!settings->has_max_new_nodes()) settings->set_max_new_nodes(3);
  if (!settings->has_max_edit_retries()) settings->set_max_edit_retries(3);
  if (!settings->has_learn_from_confirmations()) settings->set_learn_from_confirmations(true);
  if (!settings->has_dominated_ratio()) settings->set_dominated_ratio(0.2);
  if (!settings->has_time_baseline_first()) settings->set_time_baseline_first(true);
  if (!settings->has_examine_new_bests()) settings->set_examine_new_bests(true);
}

class Faults {
 public:
  void Range(absl::string_view field, double value, double low, double high) {
    if (!(value >= low && value <= high)) {  // so that NaN is outside, too
      faults_.push_back(absl::StrCat(field, " is ", value, ", must be in [", low, ", ", high, "]"));
    }
  }
  void Require(bool condition, absl::string_view fault) {
    if (!condition) faults_.emplace_back(fault);
  }
  absl::Status status() const {
    if (faults_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(faults_, "; "));
  }

 private:
  std::vector<std::string> faults_;
};

double Seconds(const google::protobuf::Duration& duration) {
  return absl::ToDoubleSeconds(FromProto(duration));
}

void CheckMeasurement(const v1::MeasurePlan& plan, const v1::Limits& limits, Faults* faults) {
  faults->Range("measure.target_half_width", plan.target_half_width(), 1e-5, 0.5);
  faults->Range("measure.min_calls", plan.min_calls(), 1, 1e6);
  faults->Range("measure.max_calls", plan.max_calls(), plan.min_calls(), 1e7);
  faults->Range("measure.launches", plan.launches(), 2, 100);
  faults->Range("measure.blocks_per_launch", plan.blocks_per_launch(), 2, 10000);
  faults->Range("measure.min_effect", plan.min_effect(), 0, 10);
  faults->Range("measure.early_stop_ratio", plan.early_stop_ratio(), 0, 1e9);
  faults->Range("measure.confidence", plan.confidence(), 0.5, 0.99999);
  // Seconds and bytes. The upper ends keep a slip of the pen from holding a device for days.
  faults->Range("measure.max_time_per_workload", Seconds(plan.max_time_per_workload()), 1e-3, 3600);
  faults->Range("measure.min_block_time", Seconds(plan.min_block_time()), 1e-6, 60);
  faults->Range("limits.build_time", Seconds(limits.build_time()), 1, 3600);
  faults->Range("limits.call_time", Seconds(limits.call_time()), 1e-3, 3600);
  faults->Range("limits.total_time", Seconds(limits.total_time()), 1, 86400);
  faults->Range("limits.memory_bytes", static_cast<double>(limits.memory_bytes()),
                kLeastMemoryBytes, 1e13);
  faults->Range("limits.source_bytes", static_cast<double>(limits.source_bytes()), 1, 16 << 20);
  faults->Range("limits.artifact_bytes", static_cast<double>(limits.artifact_bytes()), 1, 1 << 30);
}

void CheckModels(const v1::RunConfig& config, Faults* faults) {
  for (int i = 0; i < config.models_size(); ++i) {
    const v1::ModelUse& use = config.models(i);
    const std::string field = absl::StrCat("models[", i, "]");
    faults->Require(
        use.role().empty() || use.role() == "world_model" || use.role() == "code",
        absl::StrCat(field, ".role is '", use.role(), "', must be world_model, code or empty"));
    faults->Range(field + ".weight", use.weight(), 0, 1e6);
    if (use.max_output_tokens() != 0) {
      faults->Range(field + ".max_output_tokens", use.max_output_tokens(), 16, 1e6);
    }
  }
  const v1::UcbSettings& ucb = config.ucb();
  faults->Range("ucb.cost_weight", ucb.cost_weight(), 0, 1);
  faults->Range("ucb.exploration", ucb.exploration(), 0, 100);
  faults->Range("ucb.epsilon", ucb.epsilon(), 0, 1);
  faults->Range("ucb.decay", ucb.has_decay() ? ucb.decay() : 1, 0.01, 1);
  const auto caps = ReadCaps(config.budget());
  faults->Require(caps.ok(), std::string(caps.status().message()));
}

}  // namespace

absl::Status CheckMeasurement(const v1::MeasurePlan& plan, const v1::Limits& limits) {
  Faults faults;
  CheckMeasurement(plan, limits, &faults);
  return faults.status();
}

absl::Status CheckDeviceModel(const std::string& device_model) {
  if (device_model.size() <= kMaxDeviceModelBytes &&
      std::all_of(device_model.begin(), device_model.end(),
                  [](unsigned char c) { return c >= 0x20 && c != 0x7f; })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("device_model must be at most ", kMaxDeviceModelBytes,
                   " printable bytes, as `ksearch workers` lists devices"));
}

absl::StatusOr<v1::RunConfig> CompleteRunConfig(const v1::RunConfig& request,
                                                const v1::RunConfig& defaults,
                                                v1::DeviceClass device) {
  v1::RunConfig config = defaults;
  // Lists replace; budgets merge cap by cap.
  if (request.models_size() > 0) config.clear_models();
  if (request.seed_solution_size() > 0) config.clear_seed_solution();
  const v1::Budget budget = MergedBudget(defaults.budget(), request.budget());
  config.MergeFrom(request);
  if (defaults.has_budget() || request.has_budget()) *config.mutable_budget() = budget;
  config.clear_resolved_prices();
  if (config.provider().empty() && config.models_size() > 0) {
    config.set_provider(config.models(0).provider());
  }
  if (config.model_choice() == v1::MODEL_CHOICE_UNSPECIFIED) {
    config.set_model_choice(v1::MODEL_CHOICE_WEIGHTS);
  }
  if (config.language() == v1::LANGUAGE_UNSPECIFIED) config.set_language(DefaultLanguage().id);
  if (config.strategy().empty()) config.set_strategy("world_model");
  if (config.profile() == v1::PROFILE_POLICY_UNSPECIFIED) {
    config.set_profile(v1::PROFILE_POLICY_AUTO);
  }
  if (!config.has_rounds()) config.set_rounds(20);
  if (!config.has_parallel()) config.set_parallel(1);
  if (!config.has_seed()) config.set_seed(1);
  if (!config.has_max_output_tokens()) config.set_max_output_tokens(32000);
  FillWorldModel(config.mutable_world_model());
  const bool launches_given = config.measure().has_launches();
  *config.mutable_measure() = WithDefaults(config.measure());
  if (UsedDevice(config.language(), device) == v1::DEVICE_CLASS_CUDA &&
      config.measure().early_stop_ratio() == 0) {
    config.mutable_measure()->set_early_stop_ratio(kSearchEarlyStopRatio);
  }
  *config.mutable_limits() = WithDefaults(config.limits());

  Faults faults;
  faults.Require(!config.task().empty(), "task is missing");
  faults.Require(!config.provider().empty(),
                 "provider is missing: name one of the coordinator's config, or set "
                 "run_defaults.provider there");
  faults.Require(v1::ProfilePolicy_IsValid(config.profile()),
                 absl::StrCat("profile is ", static_cast<int>(config.profile()),
                              ", must be PROFILE_POLICY_AUTO, _ALL or _NEVER"));
  faults.Range("rounds", config.rounds(), 1, kMaxRounds);
  faults.Range("parallel", config.parallel(), 1, 256);
  faults.Require(config.seed() > 0, "seed is 0, must be a whole number from 1");
  faults.Range("max_output_tokens", config.max_output_tokens(), 16, 1e6);
  const v1::WorldModelSettings& tree = config.world_model();
  faults.Range("world_model.stagnation_window", tree.stagnation_window(), 1, 1000);
  faults.Range("world_model.max_difficulty", tree.max_difficulty(), 1, 5);
  faults.Range("world_model.too_hard_limit", tree.too_hard_limit(), 1, 1000);
  faults.Range("world_model.too_hard_decay", tree.too_hard_decay(), 0, 1);
  faults.Range("world_model.virtual_loss", tree.virtual_loss(), 0, 1);
  faults.Range("world_model.max_new_nodes", tree.max_new_nodes(), 1, 100);
  faults.Range("world_model.max_edit_retries", tree.max_edit_retries(), 1, 20);
  faults.Range("world_model.dominated_ratio", tree.dominated_ratio(), -1, 1);
  CheckMeasurement(config.measure(), config.limits(), &faults);
  // Their default is that of a device, which the task names: JobSpecs fills it in.
  if (!launches_given) config.mutable_measure()->clear_launches();
  CheckModels(config, &faults);
  const absl::Status model = CheckDeviceModel(config.platform().device_model());
  faults.Require(model.ok(), absl::StrCat("platform.", model.message()));
  if (absl::Status status = faults.status(); !status.ok()) return status;
  return config;
}

absl::Status CheckRunDefaults(const v1::RunConfig& defaults,
                              const std::vector<std::string>& providers) {
  Faults faults;
  const auto known = [&](const std::string& field, const std::string& provider) {
    if (provider.empty()) return;
    faults.Require(std::find(providers.begin(), providers.end(), provider) != providers.end(),
                   absl::StrCat(field, " is '", provider, "', which is not among providers (",
                                providers.empty() ? "none" : absl::StrJoin(providers, ", "), ")"));
  };
  known("provider", defaults.provider());
  for (int i = 0; i < defaults.models_size(); ++i) {
    known(absl::StrCat("models[", i, "].provider"), defaults.models(i).provider());
  }
  v1::RunConfig request;
  if (defaults.task().empty()) request.set_task("any");
  if (defaults.provider().empty()) request.set_provider("any");
  const absl::Status ranges = CompleteRunConfig(request, defaults).status();
  faults.Require(ranges.ok(), ranges.message());
  const absl::Status status = faults.status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("run_defaults: ", status.message()));
}

}  // namespace ksearch
