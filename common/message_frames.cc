#include "common/message_frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

absl::Status AwaitReady(int fd, short events, absl::Time deadline) {
  while (true) {
    const absl::Duration left = deadline - Clock::Real().SteadyNow();
    if (left <= absl::ZeroDuration()) return absl::DeadlineExceededError("no answer in time");
    const int64_t milliseconds = absl::ToInt64Milliseconds(std::min(left, absl::Minutes(1))) + 1;
    struct pollfd poll_fd = {fd, events, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(milliseconds));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
  }
}

// `frame_begun`: earlier bytes of the frame have arrived.
absl::Status ReceiveBytes(int fd, absl::Time deadline, bool frame_begun, char* out, size_t bytes) {
  while (bytes > 0) {
    RETURN_IF_ERROR(AwaitReady(fd, POLLIN, deadline));
    const ssize_t n = ::recv(fd, out, bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0 && frame_begun) return absl::DataLossError("a frame was cut short");
    if (n <= 0) return absl::UnavailableError("the other side is gone");
    frame_begun = true;
    out += n;
    bytes -= static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SendMessage(int fd, const google::protobuf::MessageLite& message,
                         absl::Time deadline) {
  const std::string body = message.SerializeAsString();
  if (body.size() > kMaxMessageFrameBytes) {
    return absl::DataLossError(absl::StrCat("a message of ", body.size(), " bytes is too long"));
  }
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8) {
    frame.push_back(static_cast<char>((body.size() >> shift) & 0xFF));
  }
  frame += body;
  for (size_t done = 0; done < frame.size();) {
    RETURN_IF_ERROR(AwaitReady(fd, POLLOUT, deadline));
    const ssize_t n =
        ::send(fd, frame.data() + done, frame.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return absl::UnavailableError("the other side is gone");
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status ReceiveMessage(int fd, absl::Time deadline, google::protobuf::MessageLite* message) {
  unsigned char head[4];
  RETURN_IF_ERROR(ReceiveBytes(fd, deadline, false, reinterpret_cast<char*>(head), sizeof head));
  uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = (length << 8) | head[i];
  if (length > kMaxMessageFrameBytes) {
    return absl::DataLossError(absl::StrCat("a frame of ", length, " bytes is too long"));
  }
  std::string body(length, '\0');
  RETURN_IF_ERROR(ReceiveBytes(fd, deadline, true, body.data(), body.size()));
  if (!message->ParseFromString(body)) return absl::DataLossError("a frame is not such a message");
  return absl::OkStatus();
}

}  // namespace ksearch
