#include "coordinator/suites/suite_mode.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ksearch {

absl::Status SetOnlyMode(absl::string_view evaluator, const std::string& mode,
                         v1::EvaluateRequest* request) {
  if (mode != kBenchmarkMode) return NoSuchMode(evaluator, mode, kBenchmarkMode);
  request->mutable_plan()->set_suite_clock(true);
  return absl::OkStatus();
}

absl::Status NoSuchMode(absl::string_view evaluator, const std::string& mode,
                        absl::string_view modes) {
  return absl::InvalidArgumentError(absl::StrCat("suite_mode: ", evaluator, " has no mode '",
                                                 absl::CEscape(mode), "' (--compat); it has ",
                                                 modes));
}

}  // namespace ksearch
