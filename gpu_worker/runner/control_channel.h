#ifndef KSEARCH_GPU_WORKER_RUNNER_CONTROL_CHANNEL_H_
#define KSEARCH_GPU_WORKER_RUNNER_CONTROL_CHANNEL_H_

#include <string>
#include <vector>

#include "common/unique_fd.h"
#include "proto/runner.pb.h"

namespace ksearch {

// The runner's end of the dialogue: one message per packet on a SOCK_SEQPACKET socket, with
// descriptors. Thread-compatible.
class ControlChannel {
 public:
  explicit ControlChannel(int fd) : fd_(fd) {}

  // Waits for the next request. Returns false if the verifier closed the connection or sent
  // something else.
  bool Receive(v1::RunnerRequest* request, std::vector<UniqueFd>* fds);
  // Returns false if the verifier closed the connection.
  bool Send(const v1::RunnerReply& reply);
  // The next request is expected within microseconds: Receive polls for a while before it sleeps,
  // because waking up takes time.
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
