// Packets of a hostile runner: the first byte picks what the verifier waits for, the rest is the
// packet.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  ksearch::ExpectedReply expected;
  const ksearch::v1::RunnerReply::BodyCase bodies[] = {
      ksearch::v1::RunnerReply::kHello, ksearch::v1::RunnerReply::kLoaded,
      ksearch::v1::RunnerReply::kMapped, ksearch::v1::RunnerReply::kDone};
  expected.body = bodies[data[0] % 4];
  expected.timings = data[0] / 4 % 8;
  ksearch::v1::RunnerReply reply;
  const ksearch::Ending ending = ksearch::JudgeReply(
      absl::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), expected, &reply);
  if (ending.passed()) {
    CHECK(reply.body_case() == expected.body);
    CHECK(reply.nonce() == 0 && reply.step() == 0);
    CHECK(expected.body != ksearch::v1::RunnerReply::kDone ||
          reply.done().inner_ns_size() == expected.timings);
  } else {
    CHECK(!ending.message.empty() || reply.has_error());
    CHECK(ending.message.size() <= 2 * static_cast<size_t>(ksearch::kMaxErrorTextBytes));
  }
  return 0;
}
