#include "coordinator/engine/model_caller.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"

namespace ksearch {

ModelCaller::ModelCaller(Store* store, const Clock& clock, std::vector<Provider> providers)
    : store_(store), clock_(clock), providers_(std::move(providers)) {}

ModelCaller::~ModelCaller() {
  {
    MutexLock lock(&in_flight_->mu);
    in_flight_->closing = true;
  }
  for (Provider& provider : providers_) provider.client.reset();
}

absl::StatusOr<std::string> ModelCaller::DefaultModel(const std::string& provider) const {
  for (const Provider& known : providers_) {
    if (known.name != provider) continue;
    if (known.client == nullptr) return known.unusable;
    return known.default_model;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("provider '", provider, "' is not in the coordinator's config (known: ",
                   providers_.empty() ? "none" : absl::StrJoin(ProviderNames(), ", "), ")"));
}

std::vector<std::string> ModelCaller::ProviderNames() const {
  std::vector<std::string> names;
  for (const Provider& provider : providers_) names.push_back(provider.name);
  return names;
}

void ModelCaller::Send(const LlmCallRow& call) {
  {
    MutexLock lock(&in_flight_->mu);
    if (in_flight_->closing || !in_flight_->call_ids.insert(call.call_id).second) return;
  }
  LlmClient* client = nullptr;
  for (Provider& provider : providers_) {
    if (provider.name == call.provider) client = provider.client.get();
  }
  if (client == nullptr) {
    OnReply(call, DefaultModel(call.provider).status());
    return;
  }
  LlmRequest request;
  request.model = call.model;
  request.system = call.system;
  request.user = call.prompt;
  request.max_output_tokens = call.max_output_tokens;
  request.reasoning_effort = call.reasoning_effort;
  request.labels = {call.purpose, call.node_id, call.attempt, call.cycle};
  client->Complete(std::move(request), [this, call](absl::StatusOr<LlmReply> reply) {
    OnReply(call, std::move(reply));
  });
}

void ModelCaller::OnReply(LlmCallRow call, absl::StatusOr<LlmReply> reply) {
  {
    MutexLock lock(&in_flight_->mu);
    if (in_flight_->closing && !reply.ok()) return;  // cancelled by us: the next life asks again
  }
  call.answered = true;
  call.replied = clock_.Now();
  if (reply.ok()) {
    call.reply = std::move(reply->text);
    call.finish_reason = std::move(reply->finish_reason);
    call.reply_model = std::move(reply->model);
    call.input_tokens = reply->input_tokens;
    call.output_tokens = reply->output_tokens;
  } else {
    call.error = reply.status().ToString();
    LOG(WARNING) << "call=" << call.call_id << " purpose=" << call.purpose
                 << " failed: " << call.error;
  }
  store_->RecordReply(call, [in_flight = in_flight_, id = call.call_id](absl::Status status) {
    if (!status.ok()) {
      LOG(ERROR) << "call=" << id << " reply not recorded: " << status.message();
    }
    MutexLock lock(&in_flight->mu);
    in_flight->call_ids.erase(id);
  });
}

}  // namespace ksearch
