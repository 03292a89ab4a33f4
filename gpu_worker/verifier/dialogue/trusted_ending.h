#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_TRUSTED_ENDING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_TRUSTED_ENDING_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/dialogue/ending.h"

namespace ksearch {

// A trusted program (reference, baseline, rival) has this long to load and make one call before its
// task is called faulty: long enough for references that are written for clarity, short enough that
// one that hangs gives its device back soon.
inline constexpr absl::Duration kTrustedCallTime = absl::Seconds(15);

// All work of trusted programs for a job, before its candidate is loaded, must start within this
// time. It is well below the time after which a verifier is considered hung.
inline constexpr absl::Duration kTrustedTime = absl::Minutes(5);

// UNAVAILABLE: no program is at fault.
inline absl::Status MachineFailure(const Ending& ending) {
  return absl::UnavailableError(absl::StrCat("this machine failed: ", ending.message));
}

// The status for a trusted program that ended this way: a TaskFault, which is an unexplained one if
// something else may have killed the program, or MachineFailure if the machine failed.
inline absl::Status TaskFaultOf(const Ending& ending, absl::string_view message) {
  if (ending.machine_failed) return MachineFailure(ending);
  return ending.killed || ending.device_failed ? UnexplainedTaskFault(message) : TaskFault(message);
}

// The message to show for one of the task's own programs (reference, baseline) that ended this way:
// its exception's message, if there was one. Not for rivals, which are earlier candidates.
inline const std::string& OwnWords(const Ending& ending) {
  return ending.words.empty() ? ending.message : ending.words;
}

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_TRUSTED_ENDING_H_
