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

// Where programs compile that do so as they are called first (Triton, torch.compile): such an
// Artifact has RunnerCommand.compiled_folders.
//
// It happens here, in the verifier of the device that the program will be measured on, since it
// takes the device, and inputs of the workloads' shapes. Neither coordinator nor worker knows of
// it: the verifier turns each such Artifact of a request into one whose folder holds what was
// compiled, and then judges that as any other. The stage is one process: the program's own runner
// (--warm) in the same sandbox, network and other processes as far away as ever, but without the
// tight filter, so that compilers can be started, with more memory, and with the folders that
// compilers write to. It is called once for each of the job's workloads, on inputs of a seed that
// nothing else uses, and nothing it answers is looked at: what it learns there is worth nothing,
// and its messages may be shown. Runners that are checked and timed see the folder read-only under
// the tight filter, at the same path and with the same environment, so what was compiled is found,
// what autotuners chose stays chosen, and nothing else can be compiled.
class WarmStage {
 public:
  struct Warmed {
    // Not PASSED: its ending, and `artifact` is not set. Its messages may be shown where the
    // shapes of the job's workloads may.
    Ending ending;
    std::string workload_uuid;  // of the call that ended so; empty: there was none yet
    v1::Artifact artifact;      // to be judged in place of the one that was given
    std::vector<v1::KernelFacts> kernels;
  };

  // Both borrowed. `folders` null: there is nowhere to keep what is compiled.
  WarmStage(Bench& bench, WarmFolders* folders) : bench_(bench), folders_(folders) {}

  static bool Wanted(const v1::Artifact& artifact) {
    return !artifact.runner().compiled_folders().empty();
  }
  // How the runners of `artifact` are started in and after its warm stage.
  static v1::RunnerCommand RunnerOf(const v1::Artifact& artifact);

  // Warms `artifact`, which is Wanted, on the workloads of the request's job, or finds what was
  // kept of it. It has `time` from when its runner has started. Non-OK is trouble of the machine or
  // the request, FAILED_PRECONDITION without folders.
  absl::StatusOr<Warmed> Warm(const v1::VerifierRequest& request, const v1::Artifact& artifact,
                              const v1::Limits& limits, absl::Duration time);

 private:
  // Sets the ending and its workload.
  absl::Status CallOnce(const v1::VerifierRequest& request, const v1::Artifact& artifact,
                        const v1::Limits& limits, absl::Duration time, Warmed* warmed);

  Bench& bench_;
  WarmFolders* const folders_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_WARM_WARM_STAGE_H_
