#ifndef KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_
#define KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// Client of a JSON API over HTTP, such as that of Kubernetes. Calls block for 30 s at most.
// Thread-compatible.
class ApiClient {
 public:
  struct Options {
    std::string server;      // "https://HOST:PORT"; "http://" only for loopback
    std::string token_file;  // read for each call, because it is renewed; empty: none
    std::string ca_file;     // PEM; empty: the system's certificate authorities
  };

  explicit ApiClient(Options options);

  // `content_type`: type of the body; a null body is not sent. NOT_FOUND (404), ABORTED (409, a
  // conflict with another change), UNAVAILABLE (no response, or any other error), each with the
  // server's message in one line.
  absl::StatusOr<nlohmann::json> Call(const std::string& method, const std::string& path,
                                      const nlohmann::json& body = nullptr,
                                      const std::string& content_type = "application/json");

 private:
  const Options options_;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_API_CLIENT_H_
