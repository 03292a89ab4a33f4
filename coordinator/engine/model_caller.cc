#include "coordinator/engine/model_caller.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"

namespace ksearch {
namespace {

// A call's state in its row.
class StoredProviderState final : public ProviderState {
 public:
  StoredProviderState(Store* store, const LlmCallRow& call)
      : store_(store), call_id_(call.call_id), state_(call.provider_state) {}

  std::string Load() const override {
    MutexLock lock(&mu_);
    return state_;
  }
  void Save(std::string state, absl::AnyInvocable<void(absl::Status)> stored) override {
    {
      MutexLock lock(&mu_);
      state_ = state;
    }
    store_->SaveProviderState(call_id_, state, std::move(stored));
  }

 private:
  Store* const store_;
  const std::string call_id_;
  mutable Mutex mu_;
  std::string state_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

ModelCaller::ModelCaller(Store* store, const Clock& clock, std::vector<Provider> providers,
                         Options options)
    : store_(store),
      clock_(clock),
      options_(options),
      providers_(std::move(providers)),
      rewriter_([this] { RewriteLoop(); }) {}

ModelCaller::~ModelCaller() {
  {
    MutexLock lock(&shared_->mu);
    shared_->closing = true;
    shared_->changed.NotifyAll();
  }
  for (Provider& provider : providers_) provider.client.reset();
  rewriter_.join();
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

LlmClient* ModelCaller::ClientOf(const std::string& provider) const {
  for (const Provider& known : providers_) {
    if (known.name == provider) return known.client.get();
  }
  return nullptr;
}

void ModelCaller::Send(const LlmCallRow& call) {
  {
    MutexLock lock(&shared_->mu);
    if (shared_->closing || !shared_->sent.insert(call.call_id).second) return;
    if (ClientOf(call.provider) != nullptr) {
      shared_->waiting.push_back(call);
      StartWaiting();
      return;
    }
  }
  Record(call, DefaultModel(call.provider).status());
}

void ModelCaller::StartWaiting() {
  while (!shared_->closing && !shared_->waiting.empty() &&
         shared_->in_flight < options_.max_in_flight) {
    const LlmCallRow call = std::move(shared_->waiting.front());
    shared_->waiting.pop_front();
    ++shared_->in_flight;
    LlmRequest request;
    request.model = call.model;
    request.system = call.system;
    request.user = call.prompt;
    request.max_output_tokens = call.max_output_tokens;
    request.reasoning_effort = call.reasoning_effort;
    request.state = std::make_shared<StoredProviderState>(store_, call);
    request.labels = {call.purpose, call.node_id, call.attempt, call.cycle};
    // Under the lock, so that no client is asked for anything once it is being destroyed.
    ClientOf(call.provider)
        ->Complete(std::move(request), [this, call](absl::StatusOr<LlmReply> reply) {
          OnReply(call, std::move(reply));
        });
  }
}

void ModelCaller::OnReply(const LlmCallRow& call, absl::StatusOr<LlmReply> reply) {
  {
    MutexLock lock(&shared_->mu);
    --shared_->in_flight;
    if (shared_->closing && !reply.ok()) return;  // cancelled by us: the next life asks again
    StartWaiting();
  }
  Record(call, std::move(reply));
}

void ModelCaller::Record(const LlmCallRow& call, absl::StatusOr<LlmReply> reply) {
  LlmCallRow answered = call;
  answered.answered = true;
  answered.replied = clock_.Now();
  if (reply.ok()) {
    answered.reply = std::move(reply->text);
    answered.finish_reason = std::move(reply->finish_reason);
    answered.reply_model = std::move(reply->model);
    answered.input_tokens = reply->usage.input();
    answered.output_tokens = reply->usage.output();
  } else {
    answered.error = reply.status().ToString();
    LOG(WARNING) << "call=" << call.call_id << " purpose=" << call.purpose
                 << " failed: " << answered.error;
  }
  Write(answered);
}

void ModelCaller::Write(const LlmCallRow& answered) {
  store_->RecordReply(answered, [shared = shared_, answered](const absl::Status& status) {
    if (status.ok()) return;
    LOG(ERROR) << "call=" << answered.call_id << " reply not recorded: " << status.message();
    if (absl::IsNotFound(status)) return;
    MutexLock lock(&shared->mu);
    shared->unwritten.push_back(answered);
  });
}

void ModelCaller::RewriteLoop() {
  while (true) {
    std::vector<LlmCallRow> again;
    {
      MutexLock lock(&shared_->mu);
      if (!shared_->closing) shared_->changed.WaitFor(&shared_->mu, options_.rewrite_every);
      if (shared_->closing) return;
      again.swap(shared_->unwritten);
    }
    for (const LlmCallRow& answered : again) Write(answered);
  }
}

}  // namespace ksearch
