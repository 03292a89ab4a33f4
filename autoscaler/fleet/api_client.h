#ifndef KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_
#define KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// A JSON API over HTTP, such as that of Kubernetes. Calls block for 30 s at most.
// Thread-compatible.
class ApiClient {
 public:
  struct Options {
    std::string server;      // "https://HOST:PORT", or "http://" on loopback
    std::string token_file;  // read for each call, since it is renewed; empty: none
    std::string ca_file;     // PEM; empty: the system's authorities
  };

  explicit ApiClient(Options options);

  // `content_type`: of the body, which is sent unless it is null. NOT_FOUND (404), ABORTED (409: in
  // conflict with what somebody else did), UNAVAILABLE (no answer, or any other bad one), each with
  // what the server says in one line.
  absl::StatusOr<nlohmann::json> Call(const std::string& method, const std::string& path,
                                      const nlohmann::json& body = nullptr,
                                      const std::string& content_type = "application/json");

 private:
  const Options options_;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_
