#ifndef KSEARCH_TESTS_GPU_SYSTEM_CALLS_TRACING_SANDBOX_H_
#define KSEARCH_TESTS_GPU_SYSTEM_CALLS_TRACING_SANDBOX_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/unique_fd.h"
#include "gpu_worker/sandbox/sandbox.h"

namespace ksearch {

// Wraps another sandbox so that ksearch-system-call-tracer watches every program; all lines go to
// one file. The programs' times mean nothing then.
class TracingSandbox final : public Sandbox {
 public:
  // `tracer` is its absolute path, `list` its argument. `report` is open for appending.
  TracingSandbox(std::unique_ptr<Sandbox> inner, std::string tracer, std::string list,
                 UniqueFd report)
      : inner_(std::move(inner)),
        tracer_(std::move(tracer)),
        list_(std::move(list)),
        report_(std::move(report)) {}

  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override;
  v1::IsolationLevel isolation() const override { return inner_->isolation(); }

 private:
  const std::unique_ptr<Sandbox> inner_;
  const std::string tracer_;
  const std::string list_;
  const UniqueFd report_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_SYSTEM_CALLS_TRACING_SANDBOX_H_
