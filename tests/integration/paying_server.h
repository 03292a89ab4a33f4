#ifndef KSEARCH_TESTS_INTEGRATION_PAYING_SERVER_H_
#define KSEARCH_TESTS_INTEGRATION_PAYING_SERVER_H_

#include <functional>
#include <map>
#include <string>
#include <thread>

#include "common/mutex.h"
#include "common/unique_fd.h"

namespace ksearch {

// A model server on loopback that counts, by the text of the request, what a provider would bill,
// and calls back at the moments at which a test may want to kill the client. Answers one connection
// at a time. Chat Completions, streamed.
class PayingServer {
 public:
  enum class Moment {
    kReceived,  // the request is read, nothing is answered
    kHalf,      // half of the reply is sent
    kReplied,   // the whole reply is sent
  };
  using Hook = std::function<void(Moment moment)>;

  // `reply`: the event stream that answers a request's JSON body; empty: HTTP 401.
  PayingServer(std::function<std::string(const std::string& body)> reply, Hook hook);
  ~PayingServer();

  std::string url() const;  // ".../v1"
  // How often each request body came.
  std::map<std::string, int> requests() const;

 private:
  void Serve();
  void Answer(int connection);

  const std::function<std::string(const std::string&)> reply_;
  const Hook hook_;
  UniqueFd listener_;
  int port_ = 0;
  mutable Mutex mu_;
  std::map<std::string, int> requests_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_PAYING_SERVER_H_
