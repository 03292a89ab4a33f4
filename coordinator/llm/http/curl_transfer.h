#ifndef KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSFER_H_
#define KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSFER_H_

#include <curl/curl.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "coordinator/llm/http/http_transport.h"

namespace ksearch {

// One request of CurlTransport with its libcurl handle. After preparation it is used only by the
// I/O thread. It must not move, because libcurl holds a pointer to it.
class CurlTransfer {
 public:
  CurlTransfer(HttpRequest request, HttpTransport::SendDone done)
      : request_(std::move(request)), done_(std::move(done)) {}
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Creates the handle, whose CURLOPT_PRIVATE is this object, and starts the timeouts.
  absl::Status Prepare();
  CURL* easy() const { return easy_; }

  // When the current timeout (first byte or idle) expires; libcurl itself enforces the others.
  absl::Time deadline() const;
  // Ends the request, exactly once, with libcurl's result, the timeout of deadline(), or another
  // reason.
  void Finish(CURLcode code);
  void FinishLate();
  void Finish(absl::Status status) { std::move(done_)(std::move(status)); }

 private:
  static size_t OnBody(char* bytes, size_t, size_t count, void* self);
  static size_t OnHeader(char* bytes, size_t, size_t count, void* self);

  size_t TakeBody(absl::string_view bytes);
  size_t TakeHeader(absl::string_view line);
  absl::Status StatusOf(CURLcode code) const;
  bool IsEventStream() const;

  HttpRequest request_;
  HttpTransport::SendDone done_;
  HttpResponse response_;
  absl::Time started_;                           // SteadyNow scale, as all times here
  absl::Time last_byte_ = absl::InfinitePast();  // infinite past: none yet
  size_t header_bytes_ = 0;
  int64_t body_bytes_ = 0;
  absl::Status refused_;  // why reading the reply was stopped
  CURL* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSFER_H_
