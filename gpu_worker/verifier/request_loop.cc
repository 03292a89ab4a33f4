#include "gpu_worker/verifier/request_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "proto/runner.pb.h"

namespace ksearch {
namespace {

// Bytes read; less than asked for only at the end of the stream.
absl::StatusOr<size_t> ReadBytes(int fd, char* out, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::read(fd, out + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "read a frame");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace

absl::Status WriteFrame(int fd, const google::protobuf::MessageLite& message) {
  const std::string body = message.SerializeAsString();
  if (body.size() > kMaxFrameBytes) return absl::ResourceExhaustedError("frame too long");
  const uint32_t length = static_cast<uint32_t>(body.size());
  std::string frame(sizeof length, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  frame += body;
  for (size_t done = 0; done < frame.size();) {
    const ssize_t n = ::send(fd, frame.data() + done, frame.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::UnavailableError(absl::StrCat("write: ", std::strerror(errno)));
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ReadFrame(int fd, google::protobuf::MessageLite* message) {
  uint32_t length = 0;
  ASSIGN_OR_RETURN(size_t n, ReadBytes(fd, reinterpret_cast<char*>(&length), sizeof length));
  if (n == 0) return false;
  if (n < sizeof length) return absl::DataLossError("a frame's length was cut short");
  if (length > kMaxFrameBytes) {
    return absl::DataLossError(absl::StrCat("a frame of ", length, " bytes is too long"));
  }
  std::string body(length, '\0');
  ASSIGN_OR_RETURN(n, ReadBytes(fd, body.data(), body.size()));
  if (n < body.size()) return absl::DataLossError("a frame was cut short");
  if (!message->ParseFromString(body)) return absl::DataLossError("a frame is no such message");
  return true;
}

absl::Status ServeRequests(int fd, Bench& bench) {
  v1::VerifierRequest request;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, ReadFrame(fd, &request));
    if (!more) return absl::OkStatus();
    v1::VerifierReply reply;
    reply.set_request_id(request.request_id());
    JobVerifier verifier(bench, [&](const v1::VerifierReply::Progress& progress) {
      v1::VerifierReply update;
      update.set_request_id(request.request_id());
      *update.mutable_progress() = progress;
      // A worker that hung up is noticed when the verdict is written.
      (void)WriteFrame(fd, update);
    });
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    if (verdict.ok()) {
      *reply.mutable_verdict() = *std::move(verdict);
    } else {
      LOG(WARNING) << "msg=\"request failed\" request=" << request.request_id() << " error=\""
                   << verdict.status().message() << "\"";
      reply.set_infrastructure_error(std::string(verdict.status().message()));
    }
    RETURN_IF_ERROR(WriteFrame(fd, reply));
  }
}

}  // namespace ksearch
