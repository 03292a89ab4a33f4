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

// One request of CurlTransport, with its libcurl handle. Used by the I/O thread only, once
// prepared; libcurl refers to it, so it stays where it is.
class CurlTransfer {
 public:
  CurlTransfer(HttpRequest request, HttpTransport::SendDone done)
      : request_(std::move(request)), done_(std::move(done)) {}
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  // Makes the handle; its CURLOPT_PRIVATE is this object. Starts the clocks.
  absl::Status Prepare();
  CURL* easy() const { return easy_; }

  // When the clock that runs now (first byte, or idle) runs out; libcurl itself watches the others.
  absl::Time deadline() const;
  // Ends the request, exactly once, by libcurl's verdict, by the clock of deadline(), or otherwise.
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
  absl::Time last_byte_ = absl::InfinitePast();  // past: none yet
  size_t header_bytes_ = 0;
  int64_t body_bytes_ = 0;
  absl::Status refused_;  // why the reply was not read on
  CURL* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_HTTP_CURL_TRANSFER_H_
