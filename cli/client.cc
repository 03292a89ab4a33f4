#include "cli/client.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace ksearch {

Client::Client(const std::string& address, const ClientAccess& access)
    : address_(address), stub_(v1::SearchService::NewStub(MakeChannel(address, access))) {}

absl::Status Client::Explain(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kUnavailable) return status;
  return absl::UnavailableError(
      absl::StrCat("no coordinator answers at ", address_,
                   " (start ksearch-coordinator, or give --coordinator or KSEARCH_COORDINATOR): ",
                   status.message()));
}

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
      return kExitConfig;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return kExitAuth;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return kExitUnavailable;
    default:
      return kExitOther;
  }
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "ksearch: %s\n", std::string(status.message()).c_str());
  return ExitCodeFor(status);
}

}  // namespace ksearch
