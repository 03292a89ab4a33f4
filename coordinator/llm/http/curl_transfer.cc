#include "coordinator/llm/http/curl_transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_macros.h"
#include "coordinator/llm/failure/billed_tries.h"
#include "coordinator/llm/http/url_check.h"

namespace ksearch {
namespace {

// Networks drop idle flows after 60 s (homes) to 350 s (AWS), a reasoning model is silent for
// longer. A peer that is gone is noticed 45 + 5 * 30 s after its last sign of life.
constexpr long kKeepAliveIdleSeconds = 45;
constexpr long kKeepAliveIntervalSeconds = 30;
constexpr int kKeepAliveProbes = 5;
constexpr size_t kMaxHeaderBytes = 64 << 10;
// libcurl's defaults are 64 and 16 KiB per connection, for larger transfers than these.
constexpr long kUploadBufferBytes = 16 << 10;
constexpr long kDownloadBufferBytes = 16 << 10;

long Milliseconds(absl::Duration duration) {
  return static_cast<long>(std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 1, 1 << 30));
}

// libcurl 7.88 has no option for the number of probes.
int SetKeepAliveProbes(void*, curl_socket_t socket, curlsocktype) {
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof(kKeepAliveProbes));
  return CURL_SOCKOPT_OK;
}

}  // namespace

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(header_list_);
}

absl::Status CurlTransfer::Prepare() {
  ASSIGN_OR_RETURN(const UrlScheme scheme, CheckUrl(request_.url));
  const bool plain_http = scheme == UrlScheme::kLoopbackHttp;
  started_ = Clock::Real().SteadyNow();
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return absl::UnavailableError("curl_easy_init: out of memory");
  // "Expect: 100-continue" would cost a round trip, and some servers never answer it.
  header_list_ = curl_slist_append(header_list_, "Expect:");
  for (const std::string& header : request_.headers) {
    header_list_ = curl_slist_append(header_list_, header.c_str());
  }
  CURLcode rc = CURLE_OK;
  const auto set = [&](CURLoption option, auto value) {
    if (rc == CURLE_OK) rc = curl_easy_setopt(easy_, option, value);
  };
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, plain_http ? "http" : "https");
  if (plain_http) set(CURLOPT_PROXY, "");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  if (request_.method == HttpRequest::Method::kPost) {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, request_.body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  }
  set(CURLOPT_HTTPHEADER, header_list_);
  // A compressed stream may be held back until a block of it is full.
  if (request_.on_event_stream == nullptr) set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!request_.ca_file.empty()) set(CURLOPT_CAINFO, request_.ca_file.c_str());
  // With a folder of authorities, too, libcurl reads the file again for every connection: 0.1 s
  // and 0.9 MB each with Debian's, which has the same content in both. Alone, it is read once.
  if (!request_.ca_file.empty() || curl_version_info(CURLVERSION_NOW)->cainfo != nullptr) {
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  set(CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(request_.timeouts.connect));
  set(CURLOPT_TIMEOUT_MS, Milliseconds(request_.timeouts.total));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set(CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set(CURLOPT_SOCKOPTFUNCTION, &SetKeepAliveProbes);
  set(CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
  set(CURLOPT_BUFFERSIZE, kDownloadBufferBytes);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::OnBody);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::OnHeader);
  set(CURLOPT_HEADERDATA, this);
  if (rc != CURLE_OK) {
    return absl::InternalError(absl::StrCat("libcurl refused an option: ", curl_easy_strerror(rc)));
  }
  return absl::OkStatus();
}

absl::Time CurlTransfer::deadline() const {
  return last_byte_ == absl::InfinitePast() ? started_ + request_.timeouts.first_byte
                                            : last_byte_ + request_.timeouts.idle;
}

size_t CurlTransfer::OnBody(char* bytes, size_t, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->TakeBody(absl::string_view(bytes, count));
}

size_t CurlTransfer::OnHeader(char* bytes, size_t, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->TakeHeader(absl::string_view(bytes, count));
}

// Returning less than the given size aborts the transfer.
size_t CurlTransfer::TakeBody(absl::string_view bytes) {
  last_byte_ = Clock::Real().SteadyNow();
  body_bytes_ += static_cast<int64_t>(bytes.size());
  if (body_bytes_ > request_.max_reply_bytes) {
    refused_ = absl::DataLossError(absl::StrCat("the reply of ", request_.url, " is larger than ",
                                                request_.max_reply_bytes,
                                                " bytes (max_reply_bytes); dropped"));
    return 0;
  }
  if (request_.on_event_stream != nullptr && IsEventStream()) {
    refused_ = request_.on_event_stream(bytes);
    return refused_.ok() ? bytes.size() : 0;
  }
  response_.body.append(bytes.data(), bytes.size());
  return bytes.size();
}

size_t CurlTransfer::TakeHeader(absl::string_view line) {
  last_byte_ = Clock::Real().SteadyNow();
  if ((header_bytes_ += line.size()) > kMaxHeaderBytes) {
    refused_ = absl::DataLossError(absl::StrCat("the reply of ", request_.url, " has more than ",
                                                kMaxHeaderBytes, " bytes of headers; dropped"));
    return 0;
  }
  const size_t colon = line.find(':');
  if (colon != absl::string_view::npos) {
    response_.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return line.size();
}

bool CurlTransfer::IsEventStream() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  const auto type = response_.headers.find("content-type");
  return status == 200 && type != response_.headers.end() &&
         absl::StartsWithIgnoreCase(type->second, "text/event-stream");
}

void CurlTransfer::Finish(CURLcode code) {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  absl::Status failure = StatusOf(code);
  if (!failure.ok()) return Finish(std::move(failure));
  std::move(done_)(std::move(response_));
}

void CurlTransfer::FinishLate() {
  if (last_byte_ == absl::InfinitePast()) {
    return Finish(absl::DeadlineExceededError(
        absl::StrCat(request_.url, " did not begin to answer within ",
                     absl::FormatDuration(request_.timeouts.first_byte), " (first_byte_timeout)")));
  }
  Finish(absl::DeadlineExceededError(absl::StrCat(
      "the reply of ", request_.url, " stopped after ", body_bytes_, " bytes; nothing came for ",
      absl::FormatDuration(request_.timeouts.idle), " (idle_timeout)")));
}

absl::Status CurlTransfer::StatusOf(CURLcode code) const {
  const std::string& url = request_.url;
  const std::string detail = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OK:
      return absl::OkStatus();
    case CURLE_WRITE_ERROR:
      if (refused_.ok()) break;
      return refused_;
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t connected_us = 0;
      curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
      if (connected_us > 0) {
        return absl::DeadlineExceededError(
            absl::StrCat(url, " did not answer within ",
                         absl::FormatDuration(request_.timeouts.total), " (total_timeout)"));
      }
      return absl::UnavailableError(absl::StrCat("cannot connect to ", url, " within ",
                                                 absl::FormatDuration(request_.timeouts.connect),
                                                 " (connect_timeout)"));
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return absl::FailedPreconditionError(
          absl::StrCat("the certificate of ", url, " is not trusted: ", detail,
                       "; if a proxy or private CA signs it, name that CA's file as ca_file, or "
                       "add it to the system's store"));
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return absl::UnavailableError(absl::StrCat("cannot connect to ", url, ": ", detail,
                                                 "; is the server running and base_url right?"));
    default:
      break;
  }
  if (last_byte_ == absl::InfinitePast()) {
    absl::Status status = absl::UnavailableError(absl::StrCat("talking to ", url, ": ", detail));
    curl_off_t connected_us = 0;
    curl_easy_getinfo(easy_, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    // The request may have reached the model, whose reply may be billed although it never arrives.
    if (connected_us > 0) SetBilledTries(&status, 1);
    return status;
  }
  return absl::DataLossError(
      absl::StrCat("the reply of ", url, " was cut off after ", body_bytes_, " bytes: ", detail));
}

}  // namespace ksearch
