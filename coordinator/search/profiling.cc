#include "coordinator/search/profiling.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/run_facts.h"

namespace ksearch {
namespace {

// Prompts show three; a kept one is written with every step.
constexpr int kKeptKernels = 4;
constexpr int64_t kBest = 4;  // the best quarter of passed candidates is profiled

bool StaysSo(v1::Profile::Absence absence) {
  return absence == v1::Profile::NOT_PERMITTED || absence == v1::Profile::NO_PROFILER ||
         absence == v1::Profile::NOT_SUPPORTED;
}

}  // namespace

bool WantsProfile(const EvaluationRules& rules, const v1::EvaluationLogState& log,
                  const v1::ScreenedProgram& program, bool shown) {
  if (!program.passed() || !log.profiling_refused().empty()) return false;
  if (SlowestWorkload(program.result()).empty()) return false;
  if (rules.profile == v1::PROFILE_POLICY_ALL) return true;
  if (rules.profile != v1::PROFILE_POLICY_AUTO || !rules.on_gpu || !rules.shows_profiles ||
      !shown) {
    return false;
  }
  int64_t passed = 0;
  int64_t better = 0;
  for (const auto& [id, other] : log.screened()) {
    if (!other.passed()) continue;
    ++passed;
    if (other.score() > program.score()) ++better;
  }
  return kBest * better < passed;
}

ProfileCandidate ProfilingOf(const EvaluationRules& rules, const v1::ScreenedProgram& program,
                             const std::string& screen_tag) {
  ProfileCandidate profiling;
  profiling.tag = absl::StrCat(screen_tag, kProfileTagEnd);
  profiling.sources = program.sources();
  profiling.candidate_id = program.candidate_id();
  profiling.workload_uuid = SlowestWorkload(program.result());
  if (rules.on_gpu) profiling.architecture = program.result().device().architecture();
  return profiling;
}

std::string TakeProfile(const EvaluationRules& rules, const v1::JobResult& result,
                        v1::ScreenedProgram* program, v1::EvaluationLogState* log) {
  v1::Profile profile = ProfileIn(result);
  std::string line;
  if (profile.kernels_size() > 0) {
    line = absl::StrFormat("profiled: %d kernel(s), %s takes %.0f %% of their time",
                           int64_t{profile.kernels_size()} + profile.other_kernels(),
                           profile.kernels(0).name(), 100 * profile.kernels(0).share());
  } else {
    line = absl::StrCat("not profiled: ", profile.note());
    if (StaysSo(profile.absence())) {
      log->set_profiling_refused(profile.note());
      absl::StrAppend(&line, "; not asked for again in this run");
    }
  }
  if (const int more = profile.kernels_size() - kKeptKernels; more > 0) {
    profile.mutable_kernels()->DeleteSubrange(kKeptKernels, more);
    profile.set_other_kernels(profile.other_kernels() + more);
  }
  const auto remembered = log->mutable_screened()->find(program->candidate_id());
  if (remembered != log->mutable_screened()->end()) {
    if (rules.keeps_results) {
      *remembered->second.mutable_result()->mutable_profile() = profile;
    } else if (profile.kernels_size() > 0) {
      remembered->second.set_profile_job_id(result.job_id());
    }
  }
  *program->mutable_result()->mutable_profile() = std::move(profile);
  return line;
}

}  // namespace ksearch
