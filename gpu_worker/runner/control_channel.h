#ifndef KSEARCH_GPU_WORKER_RUNNER_CONTROL_CHANNEL_H_
#define KSEARCH_GPU_WORKER_RUNNER_CONTROL_CHANNEL_H_

#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The runner's end of the dialogue: one message a packet on a SOCK_SEQPACKET socket, descriptors
// beside it. Thread-compatible.
class ControlChannel {
 public:
  explicit ControlChannel(int fd) : fd_(fd) {}

  // Waits for the next request. False when the verifier hung up or sent no request.
  bool Receive(v1::RunnerRequest* request, std::vector<UniqueFd>* fds);
  // False when the verifier hung up.
  bool Send(const v1::RunnerReply& reply);
  // The next request is expected within microseconds: Receive looks for it for a while before it
  // sleeps, since waking up takes a time of its own.
  void StayAwake() { awake_ = true; }

 private:
  void WaitAwake() const;

  const int fd_;
  std::vector<char> packet_;
  std::string out_;
  bool awake_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_CONTROL_CHANNEL_H_
