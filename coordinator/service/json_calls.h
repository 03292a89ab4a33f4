#ifndef KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_
#define KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/service/search_service.h"

namespace ksearch {

// RPCs of the SearchService with JSON in and out, for those who speak no gRPC: the same answers by
// the same code. Only those that answer at once and need nothing of the caller's connection. Checks
// no access. Thread-safe.
class JsonCalls {
 public:
  // `service` outlives it.
  explicit JsonCalls(SearchService* service);

  // `json`: the request as an object, "" for an empty one. Field names are those of the protos;
  // fields with default values are left out of the reply. NOT_FOUND: no such method here.
  // INVALID_ARGUMENT: not such a request. Errors of the RPC.
  absl::StatusOr<std::string> Call(absl::string_view method, absl::string_view json) const;

 private:
  using Method = std::function<absl::StatusOr<std::string>(absl::string_view json)>;

  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_JSON_CALLS_H_
