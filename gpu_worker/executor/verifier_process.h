#ifndef KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_PROCESS_H_
#define KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_PROCESS_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/mutex.h"
#include "common/subprocess.h"
#include "common/unique_fd.h"
#include "gpu_worker/executor/verifier.h"
#include "gpu_worker/sandbox/spawner.h"

namespace ksearch {

// Keeps a ksearch-verifier process, which is started at the first request and restarted whenever it
// has ended: it keeps inputs, oracles and baseline times between jobs. Cancelling a job kills the
// process and with it the runner. If the process dies during a request, a new one gets the request,
// once.
class VerifierProcess : public Verifier {
 public:
  struct Options {
    std::string binary_path;
    std::string config_path;    // textproto WorkerConfig
    std::string gpu_uuid = {};  // the one GPU that it can access; empty: none
  };
  explicit VerifierProcess(Options options) : options_(std::move(options)) {}

  absl::StatusOr<v1::Verdict> Judge(v1::VerifierRequest request, absl::Time deadline,
                                    std::stop_token stop) override;
  absl::Status Probe(absl::Time deadline, std::stop_token stop) override;

 private:
  absl::Status EnsureStarted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(turn_);
  absl::StatusOr<v1::Verdict> Ask(const v1::VerifierRequest& request, absl::Time deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(turn_);
  // Ends the process if it is still running. Returns how it ended, as text.
  std::string End() ABSL_EXCLUSIVE_LOCKS_REQUIRED(turn_);

  const Options options_;
  Spawner spawner_;
  // Held during a whole request: it serializes requests and does not guard fields.
  Mutex turn_;
  UniqueFd socket_ ABSL_GUARDED_BY(turn_);
  std::unique_ptr<Subprocess> process_ ABSL_GUARDED_BY(turn_);
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_EXECUTOR_VERIFIER_PROCESS_H_
