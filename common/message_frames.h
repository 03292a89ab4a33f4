#ifndef KSEARCH_COMMON_MESSAGE_FRAMES_H_
#define KSEARCH_COMMON_MESSAGE_FRAMES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"

namespace ksearch {

// Messages on a stream socket: a little-endian uint32 length, then that many bytes.
inline constexpr uint32_t kMaxMessageFrameBytes = uint32_t{64} << 20;

// Errors of both: DEADLINE_EXCEEDED after `deadline` (Clock::Real().SteadyNow() scale); UNAVAILABLE
// if the other side is gone, also if it closed the stream between frames; DATA_LOSS for a frame
// that is too long, truncated, or not a message of this type. After any of these the stream is
// unusable.
absl::Status SendMessage(int fd, const google::protobuf::MessageLite& message, absl::Time deadline);
absl::Status ReceiveMessage(int fd, absl::Time deadline, google::protobuf::MessageLite* message);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MESSAGE_FRAMES_H_
