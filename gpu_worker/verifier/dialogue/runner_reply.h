#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_REPLY_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_REPLY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "proto/runner.pb.h"

namespace ksearch {

inline constexpr int64_t kMaxReplyBytes = int64_t{64} << 10;
inline constexpr int64_t kMaxErrorTextBytes = int64_t{8} << 10;

// The operation that the verifier is waiting for.
struct ExpectedReply {
  v1::RunnerReply::BodyCase body = v1::RunnerReply::BODY_NOT_SET;
  uint64_t nonce = 0;
  uint32_t step = 0;
  // For a batch: how many timings and host times the answer must contain.
  int timings = 0;
  int host_times = 0;
};

// Judges one packet of a hostile runner; PASSED fills *reply. An honest failure (RunnerError) is
// LOAD_ERROR, RUNTIME_ERROR or RESOURCE_LIMIT. After LOAD its message contains no text and no large
// number from the runner; the text of an exception is in Ending.words. Anything that the trusted
// part of a runner would never send is CHEAT. Pure; fuzzed.
Ending JudgeReply(absl::string_view packet, const ExpectedReply& expected, v1::RunnerReply* reply);

// Makes untrusted text safe to show to people and models: control characters become spaces, and
// text beyond `max_bytes` is cut, with a mark.
std::string CleanText(absl::string_view text, int64_t max_bytes);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_RUNNER_REPLY_H_
