#include "coordinator/engine/run_settings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/language.h"
#include "common/measure_defaults.h"
#include "common/run_priority.h"
#include "common/textproto.h"
#include "coordinator/engine/run_memory.h"
#include "coordinator/engine/trial.h"
#include "coordinator/ledger/run_caps.h"
#include "coordinator/search/continued_tree.h"
#include "coordinator/search/setting_faults.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

constexpr int kMaxSeeds = 16;
constexpr size_t kMaxOriginBytes = 200;

constexpr size_t kMaxDeviceModelBytes = 128;
// With less memory no runner starts, whatever the candidate.
constexpr double kLeastMemoryBytes = 64 << 20;

absl::Status StatusOf(const SettingFaults& faults) {
  if (faults.all().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrJoin(faults.all(), "; "));
}

double Seconds(const google::protobuf::Duration& duration) {
  return absl::ToDoubleSeconds(FromProto(duration));
}

void CheckMeasurement(const v1::MeasurePlan& plan, const v1::Limits& limits,
                      SettingFaults* faults) {
  faults->Range("measure.target_half_width", plan.target_half_width(), 1e-5, 0.5);
  faults->Range("measure.min_calls", plan.min_calls(), 1, 1e6);
  faults->Range("measure.max_calls", plan.max_calls(), plan.min_calls(), 1e7);
  faults->Range("measure.launches", plan.launches(), 2, 100);
  faults->Range("measure.blocks_per_launch", plan.blocks_per_launch(), 2, 10000);
  faults->Range("measure.min_effect", plan.min_effect(), 0, 10);
  faults->Range("measure.early_stop_ratio", plan.early_stop_ratio(), 0, 1e9);
  faults->Range("measure.confidence", plan.confidence(), 0.5, 0.99999);
  // Seconds and bytes. The upper limits keep a typing error from holding a device for days.
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

// Returns true if the strategy has the role; whether a run embeds is decided once its provider is
// known.
bool HasRole(const v1::RunConfig& config, const std::string& role) {
  if (role == kEmbeddingRole) return MayEmbed(config);
  const std::vector<StrategyRole> roles = RolesOf(config);
  return role.empty() || std::any_of(roles.begin(), roles.end(),
                                     [&](const StrategyRole& known) { return known.name == role; });
}

// The coordinator's defaults name models for the roles of all strategies.
void DropModelsWithoutRole(v1::RunConfig* config) {
  auto* models = config->mutable_models();
  models->erase(
      std::remove_if(models->begin(), models->end(),
                     [&](const v1::ModelUse& use) { return !HasRole(*config, use.role()); }),
      models->end());
}

// Returns true if the run begins with something of another run.
bool NamesAnotherRun(const v1::RunConfig& config) {
  return !config.continue_from_solution().empty() || !config.continue_from_world_model().empty();
}

void CheckSeeds(const v1::RunConfig& config, SettingFaults* faults) {
  const int given = config.seeds_size() + (config.seed_solution_size() > 0 ? 1 : 0);
  faults->Require(
      given <= kMaxSeeds,
      absl::StrCat("seeds: ", given, " programs are given, at most ", kMaxSeeds, " are allowed"));
  const LanguageFacts& language = FactsOf(config.language());
  const auto check = [&](const std::string& field,
                         const google::protobuf::RepeatedPtrField<v1::SourceFile>& files) {
    faults->Require(files.empty() || HasMainFile(files, language),
                    absl::StrCat(field, " has no file that ends in ",
                                 absl::StrJoin(language.main_extensions, " or "),
                                 ", as programs in the run's language do"));
  };
  check("seed_solution", config.seed_solution());
  for (int i = 0; i < config.seeds_size(); ++i) {
    const std::string field = absl::StrCat("seeds[", i, "]");
    faults->Require(config.seeds(i).files_size() > 0, absl::StrCat(field, ".files is missing"));
    faults->Require(config.seeds(i).origin().size() <= kMaxOriginBytes,
                    absl::StrCat(field, ".origin is longer than ", kMaxOriginBytes, " bytes"));
    check(absl::StrCat(field, ".files"), config.seeds(i).files());
  }
}

void CheckModels(const v1::RunConfig& config, SettingFaults* faults) {
  for (int i = 0; i < config.models_size(); ++i) {
    const v1::ModelUse& use = config.models(i);
    const std::string field = absl::StrCat("models[", i, "]");
    std::string roles;
    for (const StrategyRole& role : RolesOf(config)) {
      absl::StrAppend(&roles, role.name, ", ");
    }
    if (MayEmbed(config) && !Embeds(config)) absl::StrAppend(&roles, kEmbeddingRole, ", ");
    faults->Require(HasRole(config, use.role()),
                    absl::StrCat(field, ".role is '", use.role(), "', must be ", roles,
                                 "or empty, which is all of them"));
    faults->Range(field + ".weight", use.weight(), 0, 1e6);
    if (use.max_output_tokens() != 0) {
      faults->Range(field + ".max_output_tokens", use.max_output_tokens(), 16, 1e6);
    }
  }
  const auto embeds = [](const v1::ModelUse& use) { return use.role() == kEmbeddingRole; };
  faults->Require(std::count_if(config.models().begin(), config.models().end(), embeds) <= 1,
                  "models has two entries with the role 'embedding'; embeddings of two models "
                  "cannot be compared");
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
  SettingFaults faults;
  CheckMeasurement(plan, limits, &faults);
  return StatusOf(faults);
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
  // Lists replace those of the defaults; budgets merge cap by cap.
  if (request.models_size() > 0) config.clear_models();
  if (request.seed_solution_size() > 0) config.clear_seed_solution();
  if (request.seeds_size() > 0) config.clear_seeds();
  if (request.feedback_workloads_size() > 0) config.clear_feedback_workloads();
  if (NamesAnotherRun(request)) {
    config.clear_seed_solution();
    config.clear_seeds();
  } else if (request.seed_solution_size() > 0 || request.seeds_size() > 0) {
    config.clear_continue_from_solution();
    config.clear_continue_from_world_model();
  }
  const v1::Budget budget = MergedBudget(defaults.budget(), request.budget());
  config.MergeFrom(request);
  if (defaults.has_budget() || request.has_budget()) *config.mutable_budget() = budget;
  config.clear_resolved_prices();
  for (const v1::ModelUse& use : config.models()) {
    if (!config.provider().empty()) break;
    if (use.role() != kEmbeddingRole) config.set_provider(use.provider());
  }
  if (config.model_choice() == v1::MODEL_CHOICE_UNSPECIFIED) {
    config.set_model_choice(v1::MODEL_CHOICE_WEIGHTS);
  }
  if (config.language() == v1::LANGUAGE_UNSPECIFIED) config.set_language(DefaultLanguage().id);
  if (config.strategy().empty()) config.set_strategy(kDefaultStrategy);
  if (request.models_size() == 0) DropModelsWithoutRole(&config);
  if (config.profile() == v1::PROFILE_POLICY_UNSPECIFIED) {
    config.set_profile(v1::PROFILE_POLICY_AUTO);
  }
  if (!config.has_rounds()) config.set_rounds(20);
  if (!config.has_parallel()) config.set_parallel(1);
  if (!config.has_seed()) config.set_seed(1);
  if (!config.has_priority()) config.set_priority(kDefaultPriority);
  if (!config.has_max_output_tokens()) config.set_max_output_tokens(32000);
  CompleteMemoryUse(request, &config);
  const std::vector<std::string> unfit = CompleteStrategySettings(request, &config);
  const bool launches_given = config.measure().has_launches();
  *config.mutable_measure() = WithDefaults(config.measure());
  if (UsedDevice(config.language(), device) == v1::DEVICE_CLASS_CUDA &&
      config.measure().early_stop_ratio() == 0) {
    config.mutable_measure()->set_early_stop_ratio(kSearchEarlyStopRatio);
  }
  *config.mutable_limits() = WithDefaults(config.limits());

  SettingFaults faults;
  faults.Require(!config.task().empty(), "task is missing");
  faults.Require(!config.provider().empty(),
                 "provider is missing: name one of the coordinator's config, or set "
                 "run_defaults.provider there");
  faults.Require(v1::ProfilePolicy_IsValid(config.profile()),
                 absl::StrCat("profile is ", static_cast<int>(config.profile()),
                              ", must be PROFILE_POLICY_AUTO, _ALL or _NEVER"));
  faults.Require(v1::MemoryMode_IsValid(config.memory().mode()),
                 absl::StrCat("memory.mode is ", static_cast<int>(config.memory().mode()),
                              ", must be MEMORY_MODE_OFF, _READ or _READ_WRITE"));
  faults.Range("rounds", config.rounds(), 1, kMaxRounds);
  faults.Range("parallel", config.parallel(), 1, 256);
  if (config.floor_share() != 0) faults.Range("floor_share", config.floor_share(), 0.1, 1);
  faults.Range("priority", config.priority(), kLeastPriority, kMostPriority);
  faults.Require(config.seed() > 0, "seed is 0, must be a whole number from 1");
  faults.Range("max_output_tokens", config.max_output_tokens(), 16, 1e6);
  for (const std::string& fault : unfit) faults.Require(false, fault);
  CheckMeasurement(config.measure(), config.limits(), &faults);
  // The default depends on the task's device: JobSpecs fills it in.
  if (!launches_given) config.mutable_measure()->clear_launches();
  CheckSeeds(config, &faults);
  const absl::Status tree = CheckInitialTree(config);
  faults.Require(tree.ok(), tree.message());
  CheckModels(config, &faults);
  const absl::Status trial = CheckTrial(config);
  faults.Require(trial.ok(), trial.message());
  const absl::Status model = CheckDeviceModel(config.platform().device_model());
  faults.Require(model.ok(), absl::StrCat("platform.", model.message()));
  if (absl::Status status = StatusOf(faults); !status.ok()) return status;
  return config;
}

absl::Status CheckRunDefaults(const v1::RunConfig& defaults,
                              const std::vector<std::string>& providers) {
  SettingFaults faults;
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
  faults.Require(!defaults.has_trial(), "trial is set; only `ksearch compare` sets it, of one run");
  v1::RunConfig request;
  if (defaults.task().empty()) request.set_task("any");
  if (defaults.provider().empty()) request.set_provider("any");
  const absl::Status ranges = CompleteRunConfig(request, defaults).status();
  faults.Require(ranges.ok(), ranges.message());
  const absl::Status status = StatusOf(faults);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("run_defaults: ", status.message()));
}

}  // namespace ksearch
