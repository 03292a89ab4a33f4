#ifndef KSEARCH_TESTS_FAKES_FAULT_SERVER_H_
#define KSEARCH_TESTS_FAKES_FAULT_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// A server's behavior on one connection after it has read a request.
struct Fault {
  absl::Duration silence;     // before the first byte
  std::string bytes;          // sent as they are
  int64_t padding_bytes = 0;  // zeros sent after that
  bool hold = false;          // keeps the connection open until the server ends, instead of closing
};

// A response that closes its connection.
std::string HttpReply(int status, absl::string_view body,
                      const std::vector<std::string>& headers = {});
// An event stream with one chunk per piece, without the last, empty chunk if `cut`.
std::string ChunkedStream(const std::vector<std::string>& pieces, bool cut = false);

// A TCP or TLS server on a loopback port that sends whatever the test wants, byte by byte. One
// thread per connection.
class FaultServer {
 public:
  // Called on connection threads, several at once, with the request's head and body and its number
  // from 0.
  using Script = std::function<Fault(const std::string& request, int number)>;
  // kSpeaksFirst: has an https address, and answers a connection before it has read anything.
  enum class Tls { kNone, kSelfSigned, kSpeaksFirst };

  explicit FaultServer(Script script, Tls tls = Tls::kNone);
  ~FaultServer();

  std::string origin() const;       // "http://127.0.0.1:1234"
  std::string certificate() const;  // PEM; of a TLS server, made for it alone
  int requests() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAULT_SERVER_H_
