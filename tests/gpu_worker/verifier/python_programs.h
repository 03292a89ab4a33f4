#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_PROGRAMS_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_PROGRAMS_H_

#include <memory>
#include <string>

#include "gpu_worker/sandbox/sandbox.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/runner.pb.h"

namespace ksearch {

// Programs in Python for the matmul task, judged under the real sandbox with its tight filter. For
// tests that are linked with unprivileged_main.cc. Thread-compatible.
class PythonPrograms {
 public:
  PythonPrograms();

  // The folder where the verifier keeps what programs compile in their warm stage.
  static std::string WarmFolder();
  // The program folders of runners that are started in advance; two may wait.
  static std::string SlotFolder();

  RunnerStarter& starter() { return *starter_; }

  // Returns a folder artifact with this text as its main file, program.py.
  v1::Artifact Program(const std::string& text);
  // Returns a ScreenRequest or ConfirmRequest with this candidate; a CHECK has no baseline, and a
  // CONFIRM has the rival `rival`, an artifact of Program.
  v1::VerifierRequest Request(v1::JobKind kind, const std::string& text);
  v1::VerifierRequest Confirmation(const std::string& text, const v1::Artifact& rival);
  // An infrastructure error fails the test; the verdict is empty then.
  v1::Verdict Verify(const v1::VerifierRequest& request);

 private:
  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<RunnerStarter> starter_;
  std::unique_ptr<WarmFolders> warm_folders_;
  std::unique_ptr<Bench> bench_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_PROGRAMS_H_
