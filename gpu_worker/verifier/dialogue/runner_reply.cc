#include "gpu_worker/verifier/dialogue/runner_reply.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

Ending Cheat(absl::string_view what) {
  return {v1::OUTCOME_CHEAT,
          absl::StrCat("forged dialogue: ", what, "; only the runner may use its control socket")};
}

// Numbers of CUresult, which this library does not include: errors of the device or its driver that
// no program can bring about.
constexpr int kDeviceErrors[] = {
    46,   // DEVICE_UNAVAILABLE
    100,  // NO_DEVICE
    214,  // ECC_UNCORRECTABLE
    220,  // NVLINK_UNCORRECTABLE
    721,  // CONTAINED
    802,  // SYSTEM_NOT_READY
    803,  // SYSTEM_DRIVER_MISMATCH
};
constexpr int kCudaOutOfMemory = 2;

Ending FromCudaError(int value, const std::string& text) {
  Ending ending;
  ending.outcome =
      value == kCudaOutOfMemory ? v1::OUTCOME_RESOURCE_LIMIT : v1::OUTCOME_RUNTIME_ERROR;
  ending.message = text;
  ending.device_failed = std::find(std::begin(kDeviceErrors), std::end(kDeviceErrors), value) !=
                         std::end(kDeviceErrors);
  return ending;
}

Ending FromError(const v1::RunnerReply::RunnerError& error) {
  const std::string text = CleanText(error.text(), kMaxErrorTextBytes);
  switch (error.code()) {
    case v1::RunnerReply::RunnerError::LOAD_FAILED:
      return {v1::OUTCOME_LOAD_ERROR, text};
    case v1::RunnerReply::RunnerError::CALL_RETURNED_NONZERO:
      return {v1::OUTCOME_RUNTIME_ERROR,
              absl::StrCat("ksearch_run returned ", error.value(), " (0 means success)",
                           text.empty() ? "" : "; among CUDA errors that is ", text)};
    case v1::RunnerReply::RunnerError::RAISED:
      return {v1::OUTCOME_RUNTIME_ERROR, text};
    case v1::RunnerReply::RunnerError::CUDA_ERROR:
      return FromCudaError(error.value(), text);
    case v1::RunnerReply::RunnerError::OUT_OF_MEMORY:
      return {v1::OUTCOME_RESOURCE_LIMIT, text};
    case v1::RunnerReply::RunnerError::MAP_FAILED:
      return {v1::OUTCOME_RESOURCE_LIMIT, absl::StrCat("mapping the buffers failed: ", text)};
    default:
      return Cheat("an error code out of turn");
  }
}

}  // namespace

Ending JudgeReply(absl::string_view packet, const ExpectedReply& expected, v1::RunnerReply* reply) {
  if (static_cast<int64_t>(packet.size()) > kMaxReplyBytes) return Cheat("an oversized packet");
  if (!reply->ParseFromArray(packet.data(), static_cast<int>(packet.size()))) {
    return Cheat("a packet that is no message");
  }
  if (reply->nonce() != expected.nonce) return Cheat("a wrong nonce");
  if (reply->step() != expected.step) return Cheat("a wrong step number");
  if (reply->body_case() == v1::RunnerReply::kError) return FromError(reply->error());
  if (reply->body_case() != expected.body) return Cheat("an unexpected message");
  if (expected.body == v1::RunnerReply::kDone &&
      (reply->done().inner_ns_size() != expected.timings ||
       reply->done().host_ns_size() != expected.host_times)) {
    return Cheat("a wrong number of timings");
  }
  return {};
}

std::string CleanText(absl::string_view text, int64_t max_bytes) {
  constexpr absl::string_view kMark = " [...]";
  std::string clean;
  for (const char c : text) {
    if (static_cast<int64_t>(clean.size() + kMark.size()) >= max_bytes) {
      absl::StrAppend(&clean, kMark);
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    // Protobuf strings must be UTF-8; what a candidate prints need not be.
    clean.push_back(byte == '\n' || (byte >= 0x20 && byte < 0x7F) ? c : (byte < 0x20 ? ' ' : '?'));
  }
  return clean;
}

}  // namespace ksearch
