#include "autoscaler/fleet/api_client.h"

#include <curl/curl.h>

#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "autoscaler/fleet/program_call.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr size_t kMaxReplyBytes = 16 << 20;
constexpr size_t kMaxTokenBytes = 64 << 10;
constexpr long kTimeoutMilliseconds = 30'000;
constexpr long kConnectMilliseconds = 10'000;

size_t TakeBody(char* bytes, size_t size, size_t count, void* into) {
  std::string& body = *static_cast<std::string*>(into);
  if (body.size() + size * count > kMaxReplyBytes) return 0;
  body.append(bytes, size * count);
  return size * count;
}

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

}  // namespace

ApiClient::ApiClient(Options options) : options_(std::move(options)) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

absl::StatusOr<nlohmann::json> ApiClient::Call(const std::string& method, const std::string& path,
                                               const nlohmann::json& body,
                                               const std::string& content_type) {
  const std::string url = options_.server + path;
  const std::unique_ptr<CURL, FreeEasy> easy(curl_easy_init());
  if (easy == nullptr) return absl::UnavailableError("curl_easy_init: out of memory");
  curl_slist* lines = nullptr;
  lines = curl_slist_append(lines, "Accept: application/json");
  std::string text;
  if (!body.is_null()) {
    text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    lines = curl_slist_append(lines, absl::StrCat("Content-Type: ", content_type).c_str());
  }
  if (!options_.token_file.empty()) {
    const auto token = ReadFile(options_.token_file, kMaxTokenBytes);
    if (!token.ok()) {
      curl_slist_free_all(lines);
      return absl::UnavailableError(absl::StrCat("token_file: ", token.status().message()));
    }
    lines = curl_slist_append(
        lines, absl::StrCat("Authorization: Bearer ", absl::StripAsciiWhitespace(*token)).c_str());
  }
  const std::unique_ptr<curl_slist, FreeList> headers(lines);
  const bool plain = absl::StartsWith(url, "http://");
  std::string reply;
  char error[CURL_ERROR_SIZE] = {};
  CURLcode rc = CURLE_OK;
  const auto set = [&](CURLoption option, auto value) {
    if (rc == CURLE_OK) rc = curl_easy_setopt(easy.get(), option, value);
  };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
  if (plain) set(CURLOPT_PROXY, "");
  set(CURLOPT_CUSTOMREQUEST, method.c_str());
  if (!body.is_null()) {
    set(CURLOPT_POSTFIELDS, text.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(text.size()));
  }
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_FOLLOWLOCATION, 0L);
  if (!options_.ca_file.empty()) set(CURLOPT_CAINFO, options_.ca_file.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, kTimeoutMilliseconds);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error);
  set(CURLOPT_WRITEFUNCTION, &TakeBody);
  set(CURLOPT_WRITEDATA, &reply);
  if (rc == CURLE_OK) rc = curl_easy_perform(easy.get());
  if (rc != CURLE_OK) {
    return absl::UnavailableError(absl::StrCat(
        options_.server, ": ", OneLine(error[0] != '\0' ? error : curl_easy_strerror(rc))));
  }
  long code = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &code);
  nlohmann::json document = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
  if (code >= 200 && code < 300) {
    if (document.is_object()) return document;
    return absl::UnavailableError(absl::StrCat(method, " ", path, ": the reply is no JSON object"));
  }
  std::string said;
  if (document.is_object() && document.contains("message") && document["message"].is_string()) {
    said = OneLine(document["message"].get<std::string>());
  }
  const std::string what =
      absl::StrCat(method, " ", path, ": ", code, said.empty() ? "" : ", ", said);
  if (code == 404) return absl::NotFoundError(what);
  if (code == 409) return absl::AbortedError(what);
  return absl::UnavailableError(what);
}

}  // namespace ksearch
