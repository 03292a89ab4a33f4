#include "coordinator/llm/http/url_check.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

std::string UrlPart(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  std::string result(text);
  curl_free(text);
  return result;
}

bool IsLoopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace

absl::StatusOr<UrlScheme> CheckUrl(const std::string& url) {
  CURLU* parsed = curl_url();
  const auto cleanup = absl::MakeCleanup([parsed] { curl_url_cleanup(parsed); });
  const CURLUcode rc = curl_url_set(parsed, CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (!UrlPart(parsed, CURLUPART_USER).empty() || !UrlPart(parsed, CURLUPART_PASSWORD).empty()) {
    return absl::InvalidArgumentError(
        "the URL holds a user name or password; use api_key_env or api_key_file instead");
  }
  // Messages quote the text only if it cannot contain an unrecognized secret.
  if (rc != CURLUE_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat("the URL cannot be read (", curl_url_strerror(rc),
                     "); expected https://host/path, or http:// for a loopback address"));
  }
  if (!UrlPart(parsed, CURLUPART_QUERY).empty() || !UrlPart(parsed, CURLUPART_FRAGMENT).empty()) {
    return absl::InvalidArgumentError("the URL must have no '?' or '#' part");
  }
  const std::string scheme = UrlPart(parsed, CURLUPART_SCHEME);
  if (scheme == "https") return UrlScheme::kHttps;
  if (scheme == "http" && IsLoopback(UrlPart(parsed, CURLUPART_HOST))) {
    return UrlScheme::kLoopbackHttp;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("URL ", url,
                   " is not allowed: use https, or http to a loopback address (localhost, "
                   "127.0.0.1, [::1]); for a plain server elsewhere, forward a local port to it"));
}

}  // namespace ksearch
