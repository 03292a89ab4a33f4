#include "cli/client.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/worker_pages.h"

namespace ksearch {

Client::Client(const std::string& address, const ClientAccess& access)
    : address_(address),
      tls_(!access.ca.empty()),
      stub_(v1::SearchService::NewStub(MakeChannel(address, access))) {}

absl::StatusOr<v1::ListWorkersReply> Client::ListWorkers(bool gone, absl::Duration deadline) {
  v1::ListWorkersRequest first;
  first.set_gone(gone);
  return AllWorkers(std::move(first), [&](const v1::ListWorkersRequest& request) {
    return Call<v1::ListWorkersRequest, v1::ListWorkersReply>(&v1::SearchService::Stub::ListWorkers,
                                                              request, deadline);
  });
}

absl::Status Client::Explain(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kUnavailable) return status;
  // A server that speaks TLS ends a plain connection at its first bytes.
  if (!tls_ && absl::StrContains(status.message(), "Socket closed")) {
    return absl::UnavailableError(
        absl::StrCat(address_,
                     " closed the connection: if the coordinator there uses TLS, give --ca-file or "
                     "KSEARCH_CA_FILE; else it was just stopped (",
                     status.message(), ")"));
  }
  const std::string said = absl::AsciiStrToLower(status.message());
  if (tls_ && (absl::StrContains(said, "handshake") || absl::StrContains(said, "certificate"))) {
    return absl::UnavailableError(absl::StrCat("no TLS connection to ", address_,
                                               ": is its certificate of the authority in "
                                               "--ca-file, made for this address (--server-name), "
                                               "and does the coordinator use TLS at all? (",
                                               status.message(), ")"));
  }
  return absl::UnavailableError(
      absl::StrCat("no coordinator answers at ", address_,
                   " (add --local to use a coordinator of your own on this machine, or give "
                   "--coordinator or KSEARCH_COORDINATOR): ",
                   status.message()));
}

absl::Status CheckAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:") && address.size() > 5) return absl::OkStatus();
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, std::min(colon, address.size()));
  const bool whole_host =
      !host.empty() && (host[0] == '[' ? host.back() == ']' : !absl::StrContains(host, ":"));
  int port = 0;
  if (colon == std::string::npos || !whole_host ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "address '", address,
        "' must be HOST:PORT with a port from 1 to 65535, e.g. 127.0.0.1:7400, or unix:PATH"));
  }
  return absl::OkStatus();
}

ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
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
