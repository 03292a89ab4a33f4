#include "gpu_worker/runner/control_channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace ksearch {
namespace {

constexpr size_t kMaxRequestBytes = size_t{1} << 20;
// SCM_MAX_FD of Linux.
constexpr size_t kMaxFds = 253;

}  // namespace

bool ControlChannel::Receive(v1::RunnerRequest* request, std::vector<UniqueFd>* fds) {
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
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return false;
  return request->ParseFromArray(packet_.data(), static_cast<int>(n));
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
