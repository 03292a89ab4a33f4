#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_REPLY_READER_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_REPLY_READER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/http/sse_parser.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

// The content of the body of a 200 response: a reply, or an error that occurred after the status
// was sent.
struct ReplyOutcome {
  LlmReply reply;  // meaningless if `error` is set
  std::optional<ProviderError> error;
};

// Reads one reply of a provider, as an event stream that arrives in pieces or as a whole body.
// Accepts any bytes; returned strings are UTF-8. Not thread-safe.
class ReplyReader {
 public:
  // `max_event_bytes` limits one event; the transport limits the sum.
  explicit ReplyReader(size_t max_event_bytes) : parser_(max_event_bytes) {}
  virtual ~ReplyReader() = default;

  // Reads the next piece of the stream. DATA_LOSS: this is not a stream of this provider.
  absl::Status Push(absl::string_view bytes);

  // Returns true once the stream has delivered the reply, possibly without its usage: how the
  // connection ends no longer matters.
  virtual bool complete() const = 0;

  // Called after the last byte. `body` is the part that Push did not get: empty, or all of it if
  // the response was not a stream or had another type. DATA_LOSS says what is missing.
  absl::StatusOr<ReplyOutcome> Finish(absl::string_view body);

  // Returns the error in the body of a response other than 200, if it has this provider's form.
  virtual std::optional<ProviderError> ParseError(absl::string_view body) const = 0;

 protected:
  virtual absl::Status OnEvent(const SseEvent& event) = 0;
  virtual absl::StatusOr<ReplyOutcome> EndOfStream() = 0;
  // Reads a body that begins like JSON and contains no error.
  virtual absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) = 0;

 private:
  SseParser parser_;
  bool any_event_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_REPLY_READER_H_
