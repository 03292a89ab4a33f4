// ksearch-lying-runner device-error|killed|ended: simulates a runner that a candidate has taken
// over. Loads nothing and answers a call by reporting a device error or by killing itself.
#include <csignal>
#include <string_view>
#include <vector>

#include "common/unique_fd.h"
#include "gpu_worker/runner/control_channel.h"

int main(int argc, char** argv) {
  const std::string_view lie = argc > 1 ? argv[1] : "";
  ksearch::ControlChannel channel(3);
  ksearch::v1::RunnerReply hello;
  hello.mutable_hello()->set_version(1);
  if (!channel.Send(hello)) return 1;
  ksearch::v1::RunnerRequest request;
  std::vector<ksearch::UniqueFd> fds;
  while (channel.Receive(&request, &fds)) {
    ksearch::v1::RunnerReply reply;
    reply.set_nonce(request.nonce());
    reply.set_step(request.step());
    if (request.has_load()) {
      reply.mutable_loaded();
    } else if (request.has_map()) {
      reply.mutable_mapped();
    } else if (request.has_batch()) {
      if (lie == "killed") ::raise(SIGKILL);
      if (lie == "ended") ::raise(SIGTERM);
      ksearch::v1::RunnerReply::RunnerError* const error = reply.mutable_error();
      error->set_code(ksearch::v1::RunnerReply::RunnerError::CUDA_ERROR);
      error->set_value(214);
      error->set_text("CUDA_ERROR_ECC_UNCORRECTABLE");
    } else {
      return 0;
    }
    if (!channel.Send(reply)) return 1;
  }
  return 0;
}
