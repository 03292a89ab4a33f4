#ifndef KSEARCH_TESTS_FAKES_PLAIN_SANDBOX_H_
#define KSEARCH_TESTS_FAKES_PLAIN_SANDBOX_H_

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// Starts programs as plain children, without any containment; output is dropped. For tests of what
// happens around a sandbox.
class PlainSandbox final : public Sandbox {
 public:
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override;
  v1::IsolationLevel isolation() const override;
  pid_t last_pid() const { return last_pid_; }  // of the program launched last; 0: none

 private:
  pid_t last_pid_ = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_PLAIN_SANDBOX_H_
