#ifndef KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_
#define KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "gpu_worker/verifier/bench.h"

namespace ksearch {

// Frames on a stream socket: a little-endian uint32 length, then that many bytes of one message.
inline constexpr uint32_t kMaxFrameBytes = uint32_t{64} << 20;

// UNAVAILABLE if the other side hung up.
absl::Status WriteFrame(int fd, const google::protobuf::MessageLite& message);
// False at a clean end of the stream. DATA_LOSS for a frame cut short, too long or no such message.
absl::StatusOr<bool> ReadFrame(int fd, google::protobuf::MessageLite* message);

// Reads VerifierRequests from `fd`, one at a time, and answers each with progress and then a
// verdict or an infrastructure_error. Returns OK when the worker hangs up between requests.
absl::Status ServeRequests(int fd, Bench& bench);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_REQUEST_LOOP_H_
