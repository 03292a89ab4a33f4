#ifndef KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_STAGE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_STAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "gpu_worker/verifier/warm/warm_folders.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"
#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// The stage in which programs compile that do so when they are first called (Triton,
// torch.compile). Such an Artifact has RunnerCommand.compiled_folders.
//
// It runs in the verifier of the device on which the program will be measured, because it needs the
// device and inputs of the workloads' shapes. Coordinator and worker do not know about it: the
// verifier turns each such Artifact of a request into one whose folder contains the compiled code,
// and then judges that like any other. The stage is one process: the program's own runner (--warm)
// in the same sandbox, still without network or other processes, but without the tight filter, so
// that compilers can be started, with more memory, and with the folders that compilers write to. It
// is called once for each of the job's workloads, on inputs of a seed that nothing else uses, and
// its outputs are ignored, so nothing that it learns there helps it, and its messages may be shown.
// Runners that are checked and timed see the folder read-only under the tight filter, at the same
// path and with the same environment. So they find the compiled code and the autotuners' choices,
// and cannot compile anything else.
class WarmStage {
 public:
  struct Warmed {
    // How the stage ended. If it is not PASSED, `artifact` is not set. Its messages may be shown
    // wherever the shapes of the job's workloads may be shown.
    Ending ending;
    std::string workload_uuid;  // of the call that ended it; empty: no call was made yet
    v1::Artifact artifact;      // to be judged in place of the original one
    std::vector<v1::KernelFacts> kernels;
  };

  // Borrows both. `folders` may be null: then there is nowhere to keep what is compiled.
  WarmStage(Bench& bench, WarmFolders* folders) : bench_(bench), folders_(folders) {}

  static bool Wanted(const v1::Artifact& artifact) {
    return !artifact.runner().compiled_folders().empty();
  }
  // How the runners of `artifact` are started in and after its warm stage.
  static v1::RunnerCommand RunnerOf(const v1::Artifact& artifact);

  // Warms `artifact`, for which Wanted must be true, on the workloads of the request's job, or
  // finds the entry that was kept for it. It has `time` after its runner has started. Non-OK is an
  // error of the machine or the request; FAILED_PRECONDITION without folders.
  absl::StatusOr<Warmed> Warm(const v1::VerifierRequest& request, const v1::Artifact& artifact,
                              const v1::Limits& limits, absl::Duration time);

 private:
  // Calls the program once; sets the ending and its workload.
  absl::Status CallOnce(const v1::VerifierRequest& request, const v1::Artifact& artifact,
                        const v1::Limits& limits, absl::Duration time, Warmed* warmed);

  Bench& bench_;
  WarmFolders* const folders_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_STAGE_H_
