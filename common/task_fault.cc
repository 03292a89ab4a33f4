#include "common/task_fault.h"

#include "absl/strings/cord.h"

namespace ksearch {
namespace {

constexpr absl::string_view kPayload = "ksearch.dev/task_fault";
constexpr absl::string_view kUnexplained = "unexplained";

absl::Status WithPayload(absl::string_view message, absl::string_view payload) {
  absl::Status status = absl::FailedPreconditionError(message);
  status.SetPayload(kPayload, absl::Cord(payload));
  return status;
}

}  // namespace

absl::Status TaskFault(absl::string_view message) { return WithPayload(message, "explained"); }

absl::Status UnexplainedTaskFault(absl::string_view message) {
  return WithPayload(message, kUnexplained);
}

bool IsTaskFault(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

bool IsUnexplained(const absl::Status& fault) {
  const auto payload = fault.GetPayload(kPayload);
  return payload.has_value() && *payload == kUnexplained;
}

}  // namespace ksearch
