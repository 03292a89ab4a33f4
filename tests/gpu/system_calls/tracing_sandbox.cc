#include "tests/gpu/system_calls/tracing_sandbox.h"

namespace ksearch {
namespace {

// The control socket is 3 and an instrument's report is 4.
constexpr int kReportFd = 5;

}  // namespace

absl::StatusOr<std::unique_ptr<SandboxedProcess>> TracingSandbox::Launch(const SandboxSpec& spec) {
  SandboxSpec traced = spec;
  const std::string words[] = {tracer_, std::to_string(kReportFd), list_};
  traced.argv.insert(traced.argv.begin(), std::begin(words), std::end(words));
  traced.binds.push_back({tracer_, tracer_, false, false});
  traced.inherited_fds.emplace_back(report_.get(), kReportFd);
  ++traced.max_processes;
  return inner_->Launch(traced);
}

}  // namespace ksearch
