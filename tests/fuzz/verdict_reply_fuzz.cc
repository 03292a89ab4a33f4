// Any text a model may send instead of a judge's verdict: words of closed vocabularies and one
// short line come of it, or a complaint.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/proposer/judge_prompt.h"
#include "coordinator/proposer/text_safety.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ksearch;  // NOLINT: a test's main function
  const absl::string_view reply(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<v1::JudgeVerdict> verdict = ParseVerdictReply(reply);
  if (verdict.ok()) {
    CHECK(verdict->bottleneck() != v1::BOTTLENECK_UNSPECIFIED);
    CHECK(verdict->method() != v1::INTENT_KIND_UNSPECIFIED);
    CHECK(!verdict->plan().empty() && verdict->plan().size() <= 600);
    CHECK(!absl::StrContains(verdict->plan(), "\n") && IsValidUtf8(verdict->plan()));
  } else {
    CHECK(verdict.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(!verdict.status().message().empty() && verdict.status().message().size() < 1000);
  }
  return 0;
}
