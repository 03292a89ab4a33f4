#include "common/task_fault.h"

#include "absl/strings/cord.h"

namespace ksearch {
namespace {

constexpr absl::string_view kPayload = "ksearch.dev/task_fault";
constexpr absl::string_view kUnexplained = "unexplained";
constexpr absl::string_view kRivalPayload = "ksearch.dev/rival_at_fault";

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

absl::Status FaultOfRival(const absl::Status& fault, absl::string_view rival_id) {
  absl::Status of_rival = fault;
  of_rival.SetPayload(kRivalPayload, absl::Cord(rival_id));
  return of_rival;
}

bool IsTaskFault(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

bool IsUnexplained(const absl::Status& fault) {
  const auto payload = fault.GetPayload(kPayload);
  return payload.has_value() && *payload == kUnexplained;
}

std::string AtFault(const absl::Status& fault) {
  const auto rival = fault.GetPayload(kRivalPayload);
  return rival.has_value() ? std::string(*rival) : std::string(kTaskAtFault);
}

}  // namespace ksearch
