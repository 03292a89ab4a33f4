#include "tests/integration/counting_model_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

std::string Header(const EndpointRequest& request, const std::string& name) {
  const auto it = request.headers.find(name);
  return it == request.headers.end() ? "" : it->second;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CountingModelServer>> CountingModelServer::Start(
    const std::string& cassette, absl::Duration delay) {
  ASSIGN_OR_RETURN(Cassette loaded, Cassette::Load(cassette));
  ChatEndpointOptions options;
  options.delay = delay;
  std::unique_ptr<CountingModelServer> counting(
      new CountingModelServer(std::move(loaded), std::move(options)));
  ASSIGN_OR_RETURN(counting->server_,
                   HttpServer::Start(0, [self = counting.get()](const EndpointRequest& request) {
                     return self->Answer(request);
                   }));
  return counting;
}

std::string CountingModelServer::url() const {
  return absl::StrCat("http://127.0.0.1:", server_->port(), "/v1");
}

std::map<std::string, int> CountingModelServer::calls() const {
  MutexLock lock(&mu_);
  return calls_;
}

EndpointResponse CountingModelServer::Answer(const EndpointRequest& request) {
  const std::string purpose = Header(request, "x-ksearch-purpose");
  if (!purpose.empty()) {
    const std::string call =
        absl::StrCat(purpose, "/", Header(request, "x-ksearch-node"), "/",
                     Header(request, "x-ksearch-attempt"), "/", Header(request, "x-ksearch-cycle"));
    MutexLock lock(&mu_);
    ++calls_[call];
  }
  return endpoint_.Answer(request);
}

}  // namespace ksearch
