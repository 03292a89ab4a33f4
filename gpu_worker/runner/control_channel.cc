#include "gpu_worker/runner/control_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace ksearch {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// SCM_MAX_FD of Linux.
constexpr size_t kMaxFds = 253;
// The request after a lead-in comes within some tens of microseconds.
constexpr std::chrono::milliseconds kAwakeTime(2);

}  // namespace

bool ControlChannel::Receive(v1::RunnerRequest* request, std::vector<UniqueFd>* fds) {
  if (std::exchange(awake_, false)) WaitAwake();
  packet_.resize(kMaxRequestBytes);
  fds->clear();
  struct iovec part = {packet_.data(), packet_.size()};
  alignas(struct cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t n;
  do {
    n = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  for (struct cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      fds->emplace_back(fd);
    }
  }
  // Not MSG_CTRUNC: where the program has left no room for descriptors, they are missing, which
  // whoever wants them says.
  if ((message.msg_flags & MSG_TRUNC) != 0) return false;
  return request->ParseFromArray(packet_.data(), static_cast<int>(n));
}

void ControlChannel::WaitAwake() const {
  const auto asleep_from = std::chrono::steady_clock::now() + kAwakeTime;
  do {
    struct pollfd ready = {fd_, POLLIN, 0};
    if (::poll(&ready, 1, 0) != 0) return;
  } while (std::chrono::steady_clock::now() < asleep_from);
}

bool ControlChannel::Send(const v1::RunnerReply& reply) {
  if (!reply.SerializeToString(&out_)) return false;
  ssize_t n;
  do {
    n = ::send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(out_.size());
}

}  // namespace ksearch
