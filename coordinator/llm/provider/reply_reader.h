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

// What the body of a 200 turned out to hold: a reply, or an error that the server found later.
struct ReplyOutcome {
  LlmReply reply;  // meaningless if `error` is set
  std::optional<ProviderError> error;
};

// Reads one reply of a provider, as an event stream that comes in pieces or as a whole body. Takes
// any bytes; strings that come out are UTF-8. Not thread-safe.
class ReplyReader {
 public:
  // `max_event_bytes` bounds one event; the transport bounds the sum.
  explicit ReplyReader(size_t max_event_bytes) : parser_(max_event_bytes) {}
  virtual ~ReplyReader() = default;

  // The next piece of the stream. DATA_LOSS: no stream of this provider, whatever follows.
  absl::Status Push(absl::string_view bytes);

  // True once the stream has delivered the reply, perhaps without its usage: how the connection
  // ended then does not matter.
  virtual bool complete() const = 0;

  // After the last byte. `body` is what did not come by Push: empty, or all of it if the server
  // answered with no stream, or with one under another name. DATA_LOSS says what is missing.
  absl::StatusOr<ReplyOutcome> Finish(absl::string_view body);

  // The error in the body of a response that is no 200, if it has this provider's form.
  virtual std::optional<ProviderError> ParseError(absl::string_view body) const = 0;

 protected:
  virtual absl::Status OnEvent(const SseEvent& event) = 0;
  virtual absl::StatusOr<ReplyOutcome> EndOfStream() = 0;
  // A body that begins like JSON and holds no error.
  virtual absl::StatusOr<ReplyOutcome> ReadWhole(absl::string_view body) = 0;

 private:
  SseParser parser_;
  bool any_event_ = false;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_REPLY_READER_H_
