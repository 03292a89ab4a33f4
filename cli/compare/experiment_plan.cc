#include "cli/compare/experiment_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/seed_programs.h"
#include "common/digest.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/message_differencer.h"

namespace ksearch {
namespace {

using google::protobuf::FieldDescriptor;

constexpr int64_t kMaxBytes = int64_t{1} << 20;
constexpr int kMostSeeds = 1000;
constexpr int kMostTrials = 10000;
constexpr int kMostAtOnce = 256;
constexpr int kMostTop = 20;
constexpr int kMostSessions = 20;

// What an experiment may compare besides strategies. Budgets and measuring are not included: arms
// that differ in them cannot be compared.
constexpr const char* kComparable[] = {
    "provider",          "model",    "models",  "model_choice", "ucb",   "reasoning_effort",
    "max_output_tokens", "parallel", "profile", "memory",       "judge", "floor_share"};
// Fields of each run, set here.
constexpr const char* kOfRuns[] = {"task", "seed", "trial"};
// Fields that belong to one task.
constexpr const char* kOfTasks[] = {"seed_solution", "seeds", "continue_from_solution",
                                    "continue_from_world_model"};
constexpr char kWorkloadsOfOneTask[] = "feedback_workloads";
// What a run finds out when it starts, or what only it has; not part of what was requested.
constexpr const char* kFoundOut[] = {"seed",           "trial",           "resolved_prices",
                                     "platform",       "target_hardware", "initial_tree",
                                     "memory_snapshot"};

template <size_t kSize>
bool Contains(const char* const (&names)[kSize], absl::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// A strategy's settings are a message XSettings; the other fields concern all strategies.
bool IsStrategyField(const FieldDescriptor& field) {
  if (field.name() == "strategy") return true;
  return field.message_type() != nullptr &&
         absl::EndsWith(field.message_type()->name(), "Settings") && field.name() != "ucb" &&
         field.name() != "evaluation";
}

std::vector<const FieldDescriptor*> FieldsSet(const v1::RunConfig& config) {
  std::vector<const FieldDescriptor*> fields;
  config.GetReflection()->ListFields(config, &fields);
  return fields;
}

// Fills in defaults; every fault found goes to `faults`.
class Reader {
 public:
  Reader(v1::Experiment* experiment, std::vector<std::string>* faults)
      : experiment_(experiment), faults_(faults) {}

  void Read() {
    CheckName("name", experiment_->name());
    if (experiment_->tasks().empty()) Fault("tasks is empty");
    std::set<std::string> tasks;
    for (const std::string& task : experiment_->tasks()) {
      if (task.empty()) Fault("tasks has an empty name");
      if (!tasks.insert(task).second) Fault(absl::StrCat("tasks names '", task, "' twice"));
    }
    if (experiment_->seeds() == 0) experiment_->set_seeds(5);
    Range("seeds", experiment_->seeds(), 1, kMostSeeds);
    ReadComparedFields();
    ReadCommon();
    ReadSeedSolutions();
    ReadArms();
    if (experiment_->reference_arm().empty() && experiment_->arms_size() > 0) {
      experiment_->set_reference_arm(experiment_->arms(0).name());
    }
    const bool known = std::any_of(
        experiment_->arms().begin(), experiment_->arms().end(),
        [&](const v1::ExperimentArm& arm) { return arm.name() == experiment_->reference_arm(); });
    if (!known) {
      Fault(absl::StrCat("reference_arm is '", absl::CEscape(experiment_->reference_arm()),
                         "', which is not one of the arms"));
    }
    v1::Remeasuring* remeasuring = experiment_->mutable_remeasuring();
    if (!remeasuring->has_top()) remeasuring->set_top(3);
    if (!remeasuring->has_sessions()) remeasuring->set_sessions(3);
    Range("remeasuring.top", remeasuring->top(), 0, kMostTop);
    Range("remeasuring.sessions", remeasuring->sessions(), 2, kMostSessions);
    if (experiment_->confidence() == 0) experiment_->set_confidence(0.95);
    if (!(experiment_->confidence() > 0.5 && experiment_->confidence() < 1)) {
      Fault(absl::StrCat("confidence is ", experiment_->confidence(),
                         ", must be above 0.5 and below 1"));
    }
    if (experiment_->bootstrap_samples() == 0) experiment_->set_bootstrap_samples(10000);
    Range("bootstrap_samples", experiment_->bootstrap_samples(), 100, 1'000'000);
    if (experiment_->runs_at_once() == 0) {
      experiment_->set_runs_at_once(std::min(kMostAtOnce, 2 * experiment_->arms_size()));
    }
    Range("runs_at_once", experiment_->runs_at_once(),
          std::min(experiment_->arms_size(), kMostAtOnce), kMostAtOnce);
    const int64_t trials = int64_t{experiment_->tasks_size()} * experiment_->arms_size() *
                           std::max(1, experiment_->seeds());
    if (trials > kMostTrials) {
      Fault(absl::StrCat("tasks x arms x seeds is ", trials, " runs, at most ", kMostTrials,
                         " are allowed"));
    }
    double dollars = 0;
    if (!experiment_->max_usd().empty() &&
        (!absl::SimpleAtod(experiment_->max_usd(), &dollars) || !(dollars >= 0))) {
      Fault(absl::StrCat("max_usd is '", absl::CEscape(experiment_->max_usd()),
                         "', must be dollars such as \"20\" or \"0.5\""));
    }
    if (experiment_->has_max_device_time() &&
        FromProto(experiment_->max_device_time()) <= absl::ZeroDuration()) {
      Fault("max_device_time must be above 0");
    }
  }

 private:
  void Fault(std::string what) { faults_->push_back(std::move(what)); }

  void Range(absl::string_view field, int value, int low, int high) {
    if (value >= low && value <= high) return;
    Fault(absl::StrCat(field, " is ", value, ", must be from ", low, " to ", high));
  }

  void CheckName(absl::string_view field, absl::string_view name) {
    if (IsTrialName(name)) return;
    Fault(absl::StrCat(field, " is '", absl::CEscape(name), "', must be 1 to ", kMaxTrialNameBytes,
                       " of letters, digits, '_', '.' and '-'"));
  }

  void ReadComparedFields() {
    for (int i = 0; i < experiment_->compared_fields_size(); ++i) {
      const std::string& name = experiment_->compared_fields(i);
      if (Contains(kComparable, name)) continue;
      Fault(absl::StrCat("compared_fields[", i, "] is '", absl::CEscape(name), "', must be ",
                         absl::StrJoin(kComparable, ", ")));
    }
  }

  bool IsCompared(absl::string_view name) const {
    return std::find(experiment_->compared_fields().begin(), experiment_->compared_fields().end(),
                     name) != experiment_->compared_fields().end();
  }

  void ReadCommon() {
    const v1::RunConfig& common = experiment_->common();
    for (const FieldDescriptor* field : FieldsSet(common)) {
      const std::string at = absl::StrCat("common.", field->name());
      if (Contains(kOfRuns, field->name())) {
        Fault(absl::StrCat(at, " is set; it follows from tasks, arms and seeds for each run"));
      } else if (Contains(kOfTasks, field->name())) {
        Fault(
            absl::StrCat(at, " is set; a program belongs to one task: name it in seed_solutions"));
      } else if (field->name() == kWorkloadsOfOneTask) {
        Fault(absl::StrCat(at,
                           " is set; workloads belong to one task, and each task chooses its own"));
      } else if (IsStrategyField(*field)) {
        Fault(absl::StrCat(at, " is set; arms differ in it, so it belongs into arms"));
      } else if (Contains(kFoundOut, field->name()) && field->name() != "platform" &&
                 field->name() != "target_hardware") {
        Fault(absl::StrCat(at, " is set; only the coordinator sets it"));
      }
    }
    if (!common.has_rounds()) {
      Fault("common.rounds is missing: how many evaluations each run may use");
    }
    if (!common.replay_order_of().empty()) {
      Fault("common.replay_order_of is set; what is replayed compares nothing");
    }
    if (common.budget().has_wall_time()) {
      Fault(
          "common.budget.wall_time is set; runs share workers and models, so that equal time would "
          "not be equal means: cap rounds, tokens, usd or gpu_time");
    }
  }

  void ReadSeedSolutions() {
    std::set<std::string> seen;
    for (int i = 0; i < experiment_->seed_solutions_size(); ++i) {
      const v1::ExperimentSeeds& seeds = experiment_->seed_solutions(i);
      const std::string at = absl::StrCat("seed_solutions[", i, "]");
      const bool known = std::find(experiment_->tasks().begin(), experiment_->tasks().end(),
                                   seeds.task()) != experiment_->tasks().end();
      if (!known) {
        Fault(absl::StrCat(at, ".task is '", absl::CEscape(seeds.task()),
                           "', which is not among tasks"));
      } else if (!seen.insert(seeds.task()).second) {
        Fault(absl::StrCat(at, ".task '", seeds.task(), "' is given twice"));
      }
      if (seeds.programs().empty()) Fault(absl::StrCat(at, ".programs is empty"));
    }
  }

  void ReadArms() {
    if (experiment_->arms_size() < 2) Fault("arms needs at least two entries");
    std::set<std::string> names;
    for (int i = 0; i < experiment_->arms_size(); ++i) {
      const v1::ExperimentArm& arm = experiment_->arms(i);
      const std::string at = absl::StrCat("arms[", i, "]");
      CheckName(at + ".name", arm.name());
      if (!names.insert(arm.name()).second) {
        Fault(absl::StrCat(at, ".name '", absl::CEscape(arm.name()), "' is given twice"));
      }
      for (const FieldDescriptor* field : FieldsSet(arm.config())) {
        if (IsStrategyField(*field) || IsCompared(field->name())) continue;
        const std::string name = absl::StrCat(at, ".config.", field->name());
        if (Contains(kOfRuns, field->name())) {
          Fault(absl::StrCat(name, " is set; it follows from tasks, arms and seeds for each run"));
        } else {
          Fault(absl::StrCat(name, " is set; it must be equal for all arms: set common.",
                             field->name(),
                             Contains(kComparable, field->name())
                                 ? ", or name it in compared_fields if it is what is compared"
                                 : ""));
        }
      }
    }
  }

  v1::Experiment* const experiment_;
  std::vector<std::string>* const faults_;
};

}  // namespace

absl::StatusOr<v1::Experiment> ReadExperiment(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxBytes));
  return ParseExperiment(text, path);
}

absl::StatusOr<v1::Experiment> ParseExperiment(absl::string_view text, absl::string_view name) {
  v1::Experiment experiment;
  RETURN_IF_ERROR(ParseTextproto(text, name, &experiment));
  std::vector<std::string> faults;
  Reader(&experiment, &faults).Read();
  if (faults.empty()) return experiment;
  for (std::string& fault : faults) fault = absl::StrCat(name, ": ", fault);
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

std::vector<PlannedTrial> TrialsOf(const v1::Experiment& experiment, const SeedsByTask& seeds) {
  std::vector<PlannedTrial> trials;
  for (int seed = 1; seed <= experiment.seeds(); ++seed) {
    for (const std::string& task : experiment.tasks()) {
      for (int arm = 0; arm < experiment.arms_size(); ++arm) {
        PlannedTrial trial;
        trial.task = task;
        trial.arm = arm;
        trial.seed = static_cast<uint64_t>(seed);
        trial.config = experiment.common();
        const v1::RunConfig& own = experiment.arms(arm).config();
        // An arm's lists replace the common ones.
        if (own.models_size() > 0) trial.config.clear_models();
        trial.config.MergeFrom(own);
        if (const auto given = seeds.find(task); given != seeds.end()) {
          SetSeedPrograms(given->second, &trial.config);
        }
        trial.config.set_task(task);
        trial.config.set_seed(trial.seed);
        v1::Trial* of = trial.config.mutable_trial();
        of->set_experiment(experiment.name());
        of->set_arm(experiment.arms(arm).name());
        of->set_seed(trial.seed);
        trial.request_id = absl::StrCat("trial-", CanonicalBytes()
                                                      .Add(of->experiment())
                                                      .Add(of->arm())
                                                      .Add(task)
                                                      .Add(static_cast<int64_t>(trial.seed))
                                                      .Sha256()
                                                      .substr(0, 32));
        trials.push_back(std::move(trial));
      }
    }
  }
  return trials;
}

std::vector<std::string> StrategyFields() {
  std::vector<std::string> names;
  const auto* descriptor = v1::RunConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    if (IsStrategyField(*descriptor->field(i))) names.push_back(descriptor->field(i)->name());
  }
  return names;
}

std::vector<std::string> DifferingFields(const v1::RunConfig& planned,
                                         const v1::RunConfig& recorded) {
  std::vector<std::string> fields;
  const auto* descriptor = v1::RunConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (Contains(kFoundOut, field->name())) continue;
    google::protobuf::util::MessageDifferencer differencer;
    const auto same = [&](const v1::RunConfig& a, const v1::RunConfig& b) {
      return differencer.CompareWithFields(a, b, {field}, {field});
    };
    v1::RunConfig a = planned, b = recorded;
    // Whether the baseline can be timed first is found out at the start.
    a.mutable_evaluation()->clear_time_baseline_first();
    b.mutable_evaluation()->clear_time_baseline_first();
    a.mutable_world_model()->clear_time_baseline_first();
    b.mutable_world_model()->clear_time_baseline_first();
    // Runs that are older than the memory have none.
    if (!b.has_memory() && a.memory().mode() == v1::MEMORY_MODE_OFF) a.clear_memory();
    if (!same(a, b)) fields.push_back(field->name());
  }
  return fields;
}

}  // namespace ksearch
