#include "coordinator/engine/continued_run.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/search/continued_tree.h"
#include "coordinator/search/step_parts.h"

namespace ksearch {
namespace {

constexpr char kFromSolution[] = "continue_from_solution";

// `field` holds a name of the run, and becomes the run's full id.
absl::StatusOr<RunRow> FindRun(Store& store, const v1::RunConfig& config, const std::string& field,
                               std::string* run_id) {
  absl::StatusOr<std::string> resolved = store.ResolveRun(*run_id);
  if (absl::IsNotFound(resolved.status()) && field == kFromSolution) {
    // Clients hand on what is not the name of a file.
    return absl::NotFoundError(absl::StrCat(field, ": ", resolved.status().message(),
                                            ", and no file or folder of this name"));
  }
  if (!resolved.ok()) return Annotate(resolved.status(), field);
  *run_id = *resolved;
  ASSIGN_OR_RETURN(RunRow run, store.ReadRun(*run_id));
  if (run.status.task() != config.task()) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": run ", *run_id, " is on task '",
                                                   run.status.task(), "', not on '", config.task(),
                                                   "'"));
  }
  if (run.status.language() != config.language()) {
    return absl::InvalidArgumentError(absl::StrCat(field, ": the programs of run ", *run_id,
                                                   " are in ", LanguageName(run.status.language()),
                                                   ", not in ", LanguageName(config.language())));
  }
  if (!run.status.has_best()) {
    return absl::NotFoundError(
        absl::StrCat(field, ": run ", *run_id, " has no confirmed program to start from"));
  }
  return run;
}

// Programs that the run was given, or took over from an earlier run, may not be its candidates.
absl::StatusOr<v1::Sources> ProgramOf(Store& store, const RunRow& run, const std::string& id) {
  absl::StatusOr<CandidateRow> candidate = store.ReadCandidate(run.run_id, id);
  if (candidate.ok()) return std::move(candidate->sources);
  if (!absl::IsNotFound(candidate.status())) return candidate.status();
  for (const v1::Sources& given : GivenSources(run.config)) {
    if (CandidateId(given) == id) return given;
  }
  const auto& earlier = run.config.initial_tree().programs();
  const auto known = earlier.find(id);
  return known == earlier.end() ? absl::StatusOr<v1::Sources>(candidate.status()) : known->second;
}

absl::Status TakeBest(Store& store, const RunRow& run, v1::RunConfig* config) {
  ASSIGN_OR_RETURN(v1::Sources best, ProgramOf(store, run, run.status.best().candidate_id()));
  *config->mutable_seed_solution() = std::move(*best.mutable_files());
  return absl::OkStatus();
}

absl::Status TakeTree(Store& store, const RunRow& run, v1::RunConfig* config) {
  v1::InitialTree* const tree = config->mutable_initial_tree();
  tree->set_run_id(run.run_id);
  ASSIGN_OR_RETURN(*tree->mutable_world_model(), store.ReadWorldModel(run.run_id, 0));
  for (const v1::Node& node : tree->world_model().nodes()) {
    const std::string& id = node.solution().candidate_id();
    if (id.empty() || tree->programs().contains(id)) continue;
    ASSIGN_OR_RETURN((*tree->mutable_programs())[id], ProgramOf(store, run, id));
  }
  return CheckInitialTree(*config);
}

}  // namespace

absl::Status ContinueFromRun(Store& store, v1::RunConfig* config) {
  const bool from_tree = !config->continue_from_world_model().empty();
  const bool from_solution = !config->continue_from_solution().empty();
  if (!from_tree && !from_solution) return absl::OkStatus();
  if (from_tree && from_solution) {
    return absl::InvalidArgumentError(
        "continue_from_solution: continue_from_world_model begins with its run's best program "
        "already; give one of them");
  }
  const std::string field = from_tree ? "continue_from_world_model" : kFromSolution;
  if (config->seed_solution_size() > 0 || config->seeds_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": a program to start from is given besides; give one of them"));
  }
  if (config->has_initial_tree()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": an initial_tree is given besides; give one of them"));
  }
  if (from_tree) RETURN_IF_ERROR(Annotate(CheckKeepsTree(config->strategy()), field));
  ASSIGN_OR_RETURN(const RunRow run, FindRun(store, *config, field,
                                             from_tree ? config->mutable_continue_from_world_model()
                                                       : config->mutable_continue_from_solution()));
  RETURN_IF_ERROR(Annotate(TakeBest(store, run, config), field));
  return from_tree ? Annotate(TakeTree(store, run, config), field) : absl::OkStatus();
}

}  // namespace ksearch
