#include "coordinator/dashboard/http/request_guard.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ksearch::dashboard {
namespace {

constexpr size_t kMaxShown = 100;

// The part of a header that may be quoted in an error.
std::string Shown(absl::string_view text) {
  std::string shown;
  for (const char each : text.substr(0, kMaxShown)) {
    shown.push_back(absl::ascii_isprint(static_cast<unsigned char>(each)) ? each : '?');
  }
  return shown;
}

}  // namespace

RequestGuard::RequestGuard(const std::vector<std::string>& also)
    : hosts_({"localhost", "127.0.0.1", "[::1]"}) {
  for (const std::string& host : also) hosts_.insert(absl::AsciiStrToLower(host));
}

bool RequestGuard::IsOurs(absl::string_view authority) const {
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != absl::string_view::npos && (bracket == absl::string_view::npos || colon > bracket)) {
    for (const char digit : authority.substr(colon + 1)) {
      if (!absl::ascii_isdigit(static_cast<unsigned char>(digit))) return false;
    }
    authority = authority.substr(0, colon);
  }
  return hosts_.count(absl::AsciiStrToLower(authority)) > 0;
}

absl::Status RequestGuard::Check(const HttpRequest& request) const {
  const std::string& host = request.Header("host");
  if (!IsOurs(host)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the page is not served as '", Shown(host),
        "': open it as localhost or 127.0.0.1 (through ssh -L from elsewhere), or give "
        "the name as --dashboard-host"));
  }
  const std::string& origin = request.Header("origin");
  if (!origin.empty()) {
    absl::string_view authority = origin;
    const bool http =
        absl::ConsumePrefix(&authority, "http://") || absl::ConsumePrefix(&authority, "https://");
    if (!http || !absl::EqualsIgnoreCase(authority, host)) {
      return absl::PermissionDeniedError(
          absl::StrCat("a page of another origin, '", Shown(origin), "', may not use this server"));
    }
  }
  // Modern browsers say here where a request without an Origin comes from. Following a link to the
  // page itself is allowed.
  const std::string& site = request.Header("sec-fetch-site");
  const bool link = request.method == "GET" && request.Header("sec-fetch-mode") == "navigate" &&
                    request.Header("sec-fetch-dest") == "document";
  if ((site == "cross-site" || site == "same-site") && !link) {
    return absl::PermissionDeniedError("a page of another origin may not use this server");
  }
  if (request.method != "GET" && request.Header("x-ksearch") != "1") {
    return absl::PermissionDeniedError(
        absl::StrCat(request.method,
                     " needs the header 'X-Ksearch: 1', which pages of other "
                     "sites cannot send"));
  }
  return absl::OkStatus();
}

}  // namespace ksearch::dashboard
