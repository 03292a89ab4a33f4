#include "coordinator/llm/http/curl_transport.h"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// Networks drop idle flows after 60 s (homes) to 350 s (AWS), a reasoning model is silent for
// longer.
constexpr long kKeepAliveIdleSeconds = 45;
constexpr long kKeepAliveIntervalSeconds = 30;
constexpr size_t kMaxHeaderBytes = 64 << 10;

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

// Sets `plain_http` if the URL is allowed as http.
absl::Status CheckUrl(const std::string& url, bool* plain_http) {
  CURLU* parsed = curl_url();
  const auto cleanup = absl::MakeCleanup([parsed] { curl_url_cleanup(parsed); });
  const CURLUcode rc = curl_url_set(parsed, CURLUPART_URL, url.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (!UrlPart(parsed, CURLUPART_USER).empty() || !UrlPart(parsed, CURLUPART_PASSWORD).empty()) {
    return absl::InvalidArgumentError(
        "the URL holds a user name or password; use api_key_env or api_key_file instead");
  }
  // The text itself is left out above, and where it may hold a secret that was not recognised.
  if (rc != CURLUE_OK) {
    return absl::InvalidArgumentError(
        absl::StrCat("the URL cannot be read (", curl_url_strerror(rc),
                     "); expected https://host/path, or http:// for a loopback address"));
  }
  if (!UrlPart(parsed, CURLUPART_QUERY).empty() || !UrlPart(parsed, CURLUPART_FRAGMENT).empty()) {
    return absl::InvalidArgumentError("the URL must have no '?' or '#' part");
  }
  const std::string scheme = UrlPart(parsed, CURLUPART_SCHEME);
  *plain_http = scheme == "http";
  if (scheme == "https" || (*plain_http && IsLoopback(UrlPart(parsed, CURLUPART_HOST)))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("URL ", url,
                   " is not allowed: use https, or http to a loopback address (localhost, "
                   "127.0.0.1, [::1]); for a plain server elsewhere, forward a local port to it"));
}

long Milliseconds(absl::Duration duration) {
  return static_cast<long>(std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 1, 1 << 30));
}

}  // namespace

struct CurlTransport::Transfer {
  ~Transfer() {
    curl_easy_cleanup(easy);
    curl_slist_free_all(header_list);
  }

  HttpRequest request;
  PostDone done;
  HttpResponse response;
  size_t header_bytes = 0;
  bool too_large = false;
  CURL* easy = nullptr;
  curl_slist* header_list = nullptr;
  char error[CURL_ERROR_SIZE] = {};

  static size_t OnBody(char* bytes, size_t, size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    std::string& body = transfer->response.body;
    if (static_cast<int64_t>(body.size() + count) > transfer->request.max_reply_bytes) {
      transfer->too_large = true;
      return 0;  // ends the transfer
    }
    body.append(bytes, count);
    return count;
  }

  static size_t OnHeader(char* bytes, size_t, size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    const absl::string_view line(bytes, count);
    if ((transfer->header_bytes += count) > kMaxHeaderBytes) {
      transfer->too_large = true;
      return 0;
    }
    const size_t colon = line.find(':');
    if (colon != absl::string_view::npos) {
      transfer->response.headers[absl::AsciiStrToLower(line.substr(0, colon))] =
          std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
    return count;
  }

  absl::Status Prepare();
  absl::Status StatusOf(CURLcode code) const;
};

absl::Status CurlTransport::Transfer::Prepare() {
  bool plain_http = false;
  RETURN_IF_ERROR(CheckUrl(request.url, &plain_http));
  easy = curl_easy_init();
  if (easy == nullptr) return absl::UnavailableError("curl_easy_init: out of memory");
  // "Expect: 100-continue" would cost a round trip, and some servers never answer it.
  header_list = curl_slist_append(header_list, "Expect:");
  for (const std::string& header : request.headers) {
    header_list = curl_slist_append(header_list, header.c_str());
  }
  CURLcode rc = CURLE_OK;
  const auto set = [&](CURLoption option, auto value) {
    if (rc == CURLE_OK) rc = curl_easy_setopt(easy, option, value);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, plain_http ? "http" : "https");
  if (plain_http) set(CURLOPT_PROXY, "");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_POST, 1L);
  set(CURLOPT_POSTFIELDS, request.body.c_str());
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set(CURLOPT_HTTPHEADER, header_list);
  set(CURLOPT_ACCEPT_ENCODING, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  set(CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(request.connect_timeout));
  set(CURLOPT_TIMEOUT_MS, Milliseconds(request.total_timeout));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set(CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);
  set(CURLOPT_ERRORBUFFER, error);
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  set(CURLOPT_HEADERDATA, this);
  if (rc != CURLE_OK) {
    return absl::InternalError(absl::StrCat("libcurl refused an option: ", curl_easy_strerror(rc)));
  }
  return absl::OkStatus();
}

absl::Status CurlTransport::Transfer::StatusOf(CURLcode code) const {
  const std::string& url = request.url;
  const std::string detail = error[0] != '\0' ? error : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OK:
      return absl::OkStatus();
    case CURLE_WRITE_ERROR:
      if (!too_large) break;
      return absl::DataLossError(absl::StrCat("the reply of ", url, " is larger than ",
                                              request.max_reply_bytes,
                                              " bytes (max_reply_bytes); dropped"));
    case CURLE_OPERATION_TIMEDOUT: {
      curl_off_t connected_us = 0;
      curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
      if (connected_us > 0) {
        return absl::DeadlineExceededError(absl::StrCat(url, " did not answer within ",
                                                        absl::FormatDuration(request.total_timeout),
                                                        " (total_timeout)"));
      }
      return absl::UnavailableError(absl::StrCat("cannot connect to ", url, " within ",
                                                 absl::FormatDuration(request.connect_timeout),
                                                 " (connect_timeout)"));
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return absl::PermissionDeniedError(
          absl::StrCat("the certificate of ", url, " is not trusted: ", detail,
                       "; if a proxy or private CA signs it, add that CA to the system's store"));
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return absl::UnavailableError(absl::StrCat("cannot connect to ", url, ": ", detail,
                                                 "; is the server running and base_url right?"));
    default:
      break;
  }
  return absl::UnavailableError(absl::StrCat("talking to ", url, ": ", detail));
}

absl::Status CheckUrlAllowed(const std::string& url) {
  bool plain_http = false;
  return CheckUrl(url, &plain_http);
}

absl::StatusOr<std::unique_ptr<CurlTransport>> CurlTransport::Create() {
  // Debian's libcurl does this safely from any thread; the first call wins.
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK) {
    return absl::InternalError(absl::StrCat("curl_global_init: ", curl_easy_strerror(global)));
  }
  CURLM* multi = curl_multi_init();
  if (multi == nullptr) return absl::UnavailableError("curl_multi_init: out of memory");
  return std::unique_ptr<CurlTransport>(new CurlTransport(multi));
}

CurlTransport::CurlTransport(void* multi) : multi_(multi), thread_([this] { Run(); }) {}

CurlTransport::~CurlTransport() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  curl_multi_cleanup(multi_);
}

void CurlTransport::Post(HttpRequest request, PostDone done) {
  auto transfer = std::make_unique<Transfer>();
  transfer->request = std::move(request);
  transfer->done = std::move(done);
  {
    MutexLock lock(&mu_);
    submitted_.push_back(std::move(transfer));
  }
  curl_multi_wakeup(multi_);
}

void CurlTransport::RunAfter(absl::Duration delay, TimerDone done) {
  const absl::Time due = Clock::Real().SteadyNow() + delay;
  {
    MutexLock lock(&mu_);
    submitted_timers_.emplace_back(due, std::move(done));
  }
  curl_multi_wakeup(multi_);
}

void CurlTransport::Run() {
  while (TakeSubmitted()) {
    FireDueTimers();
    int running = 0;
    curl_multi_perform(multi_, &running);
    CollectFinished();
    curl_multi_poll(multi_, nullptr, 0, PollTimeoutMilliseconds(), nullptr);
  }
  CancelAll();
}

bool CurlTransport::TakeSubmitted() {
  std::vector<std::unique_ptr<Transfer>> transfers;
  {
    MutexLock lock(&mu_);
    if (stopping_) return false;
    transfers.swap(submitted_);
    for (auto& [due, done] : submitted_timers_) timers_.emplace(due, std::move(done));
    submitted_timers_.clear();
  }
  for (auto& transfer : transfers) Begin(std::move(transfer));
  return true;
}

void CurlTransport::Begin(std::unique_ptr<Transfer> transfer) {
  absl::Status prepared = transfer->Prepare();
  if (!prepared.ok()) return std::move(transfer->done)(std::move(prepared));
  CHECK(curl_multi_add_handle(multi_, transfer->easy) == CURLM_OK);
  Transfer* const key = transfer.get();
  transfers_.emplace(key, std::move(transfer));
}

void CurlTransport::CollectFinished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;  // `message` dies with the handle
    Transfer* key = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &key);
    const auto found = transfers_.find(key);
    CHECK(found != transfers_.end());
    const std::unique_ptr<Transfer> transfer = std::move(found->second);
    transfers_.erase(found);
    long http_status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http_status);
    transfer->response.status = static_cast<int>(http_status);
    absl::Status status = transfer->StatusOf(code);
    curl_multi_remove_handle(multi_, easy);
    if (status.ok()) {
      std::move(transfer->done)(std::move(transfer->response));
    } else {
      std::move(transfer->done)(std::move(status));
    }
  }
}

void CurlTransport::FireDueTimers() {
  const absl::Time now = Clock::Real().SteadyNow();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    TimerDone done = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    std::move(done)(absl::OkStatus());
  }
}

void CurlTransport::CancelAll() {
  // A status of its own for each, since the receivers may be on different threads.
  const auto cancelled = [] { return absl::CancelledError("the model client is shutting down"); };
  for (auto& [key, transfer] : transfers_) {
    curl_multi_remove_handle(multi_, transfer->easy);
    std::move(transfer->done)(cancelled());
  }
  transfers_.clear();
  for (auto& [due, done] : timers_) std::move(done)(cancelled());
  timers_.clear();
  for (;;) {  // callbacks may submit more
    std::vector<std::unique_ptr<Transfer>> transfers;
    std::vector<std::pair<absl::Time, TimerDone>> timers;
    {
      MutexLock lock(&mu_);
      transfers.swap(submitted_);
      timers.swap(submitted_timers_);
    }
    if (transfers.empty() && timers.empty()) return;
    for (auto& transfer : transfers) std::move(transfer->done)(cancelled());
    for (auto& [due, done] : timers) std::move(done)(cancelled());
  }
}

int CurlTransport::PollTimeoutMilliseconds() const {
  // libcurl shortens this by its own timers.
  constexpr absl::Duration kLongest = absl::Seconds(60);
  if (timers_.empty()) return static_cast<int>(absl::ToInt64Milliseconds(kLongest));
  const absl::Duration left = timers_.begin()->first - Clock::Real().SteadyNow();
  // Rounded up: a timer must not be due a moment after the poll returned.
  return static_cast<int>(absl::ToInt64Milliseconds(
      std::clamp(left + absl::Milliseconds(1), absl::ZeroDuration(), kLongest)));
}

}  // namespace ksearch
