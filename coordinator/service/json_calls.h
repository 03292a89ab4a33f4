#ifndef KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_
#define KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/service/search_service.h"

namespace ksearch {

// RPCs of the SearchService with JSON requests and replies, for clients without gRPC: the same code
// gives the same answers. Covers only RPCs that answer at once and need nothing of the caller's
// connection. Does not check access. Thread-safe.
class JsonCalls {
 public:
  // `service` must outlive this object.
  explicit JsonCalls(SearchService* service);

  // `json`: the request as an object; "" for an empty one. Field names are those of the protos; the
  // reply omits fields with default values. NOT_FOUND: no such method here. INVALID_ARGUMENT: not a
  // valid request. Errors of the RPC.
  absl::StatusOr<std::string> Call(absl::string_view method, absl::string_view json) const;

 private:
  using Method = std::function<absl::StatusOr<std::string>(absl::string_view json)>;

  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_
