#include "coordinator/engine/model_caller.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "coordinator/engine/event_detail.h"
#include "coordinator/ledger/call_cost.h"
#include "coordinator/llm/failure/billed_tries.h"
#include "coordinator/llm/failure/raw_reply.h"
#include "coordinator/search/search_strategy.h"

namespace ksearch {
namespace {

constexpr absl::Duration kTurnOfACall = absl::Seconds(1);  // all calls count alike
constexpr size_t kMaxToldError = 300;                      // bytes of an event's text

// Keeps a call's provider state in its row.
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

// Computes what a reply costs, and what the ledger counts for it: never less than the truth. A try
// whose usage the provider did not report may have cost all that was reserved.
void Settle(const v1::ResolvedPrice& price, const absl::StatusOr<LlmReply>& reply,
            LlmCallRow* call) {
  int64_t in_full = reply.ok() ? reply->billed_tries : BilledTries(reply.status());
  if (reply.ok() && reply->usage_reported) {
    call->cost_nano = CostNano(price, reply->usage);
    call->counted_tokens = reply->usage.input() + reply->usage.output();
    call->cost_basis = price.basis();
  } else {
    if (reply.ok() && price.basis() == "free") {
      // Providers that cost nothing, such as people, need not report usage. No text has more tokens
      // than bytes.
      call->counted_tokens = std::min<int64_t>(
          call->reserved_tokens,
          static_cast<int64_t>(call->system.size() + call->prompt.size() + reply->text.size()));
    } else if (reply.ok()) {
      ++in_full;
    }
    call->cost_basis = reply.ok() || in_full > 0 ? "estimated" : "refused";
  }
  call->cost_nano += in_full * call->reserved_nano;
  call->counted_tokens += in_full * call->reserved_tokens;
}

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
    while (shared_->noting > 0) shared_->changed.Wait(&shared_->mu);
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

std::string ModelCaller::EmbeddingModel(const std::string& provider) const {
  const Provider* known = Find(provider);
  return known == nullptr ? "" : known->embedding_model;
}

absl::Status ModelCaller::Refusal(const LlmCallRow& call) const {
  RETURN_IF_ERROR(DefaultModel(call.provider).status());
  if (call.role != kEmbeddingRole || !EmbeddingModel(call.provider).empty()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "provider '", call.provider, "' has no embedding_model in the coordinator's config"));
}

std::vector<std::string> ModelCaller::ProviderNames() const {
  std::vector<std::string> names;
  for (const Provider& provider : providers_) names.push_back(provider.name);
  return names;
}

std::vector<v1::ProviderFacts> ModelCaller::Facts() const {
  std::vector<v1::ProviderFacts> all;
  for (const Provider& provider : providers_) {
    v1::ProviderFacts& facts = all.emplace_back();
    facts.set_name(provider.name);
    facts.set_default_model(provider.default_model);
    facts.set_embedding_model(provider.embedding_model);
    if (provider.client == nullptr) {
      facts.set_unusable(std::string(provider.unusable.message()));
      continue;
    }
    const absl::Duration rest = provider.client->RestsFor(provider.default_model);
    if (rest > absl::ZeroDuration()) *facts.mutable_rests_for() = ToProto(rest);
  }
  return all;
}

std::vector<std::string> ModelCaller::RecordedOrder(const std::string& provider) const {
  const Provider* known = Find(provider);
  return known == nullptr ? std::vector<std::string>() : known->recorded_order;
}

v1::Platform ModelCaller::RecordedPlatform(const std::string& provider) const {
  const Provider* known = Find(provider);
  return known == nullptr ? v1::Platform() : known->recorded_platform;
}

v1::MemorySnapshot ModelCaller::RecordedMemory(const std::string& provider) const {
  const Provider* known = Find(provider);
  return known == nullptr ? v1::MemorySnapshot() : known->recorded_memory;
}

LlmClient* ModelCaller::ClientOf(const std::string& provider) const {
  const Provider* known = Find(provider);
  return known == nullptr ? nullptr : known->client.get();
}

const ModelCaller::Provider* ModelCaller::Find(const std::string& provider) const {
  for (const Provider& known : providers_) {
    if (known.name == provider) return &known;
  }
  return nullptr;
}

void ModelCaller::Check(const std::string& provider, const std::string& model,
                        LlmClient::Done done) {
  const absl::StatusOr<std::string> default_model = DefaultModel(provider);
  if (!default_model.ok()) return std::move(done)(default_model.status());
  LlmRequest request;
  request.model = model.empty() ? *default_model : model;
  request.user = "Answer with the word OK.";
  request.max_output_tokens = 256;  // leaves room for some reasoning
  request.labels.purpose = "check";
  MutexLock lock(&shared_->mu);
  if (shared_->closing) return std::move(done)(absl::CancelledError("shutting down"));
  ClientOf(provider)->Complete(std::move(request), std::move(done));
}

absl::flat_hash_set<std::string> ModelCaller::ParkedCalls() const {
  absl::flat_hash_set<std::string> parked;
  for (const Provider& provider : providers_) {
    if (provider.client == nullptr) continue;
    for (std::string& call_id : provider.client->ParkedCalls()) parked.insert(std::move(call_id));
  }
  return parked;
}

void ModelCaller::Send(const LlmCallRow& call, const v1::ResolvedPrice& price) {
  const absl::Status refusal = Refusal(call);
  {
    MutexLock lock(&shared_->mu);
    if (shared_->closing || !shared_->sent.insert(call.call_id).second) return;
    if (refusal.ok()) {
      const Turn turn = shared_->turns.Next(call.run_id, FairTurns::Line::kUsual, kTurnOfACall);
      shared_->waiting.push_back({call, price, turn});
    }
  }
  if (refusal.ok()) return StartWaiting();
  Record({call, price}, refusal);
}

bool ModelCaller::Knows(const std::string& call_id) const {
  MutexLock lock(&shared_->mu);
  return shared_->sent.contains(call_id);
}

void ModelCaller::Forget(const std::string& run_id) {
  MutexLock lock(&shared_->mu);
  std::deque<Call> kept;
  for (Call& call : shared_->waiting) {
    if (call.row.run_id == run_id) {
      shared_->sent.erase(call.row.call_id);
    } else {
      kept.push_back(std::move(call));
    }
  }
  shared_->waiting.swap(kept);
}

void ModelCaller::SetPriority(const std::string& run_id, int priority) {
  MutexLock lock(&shared_->mu);
  shared_->turns.SetPriority(run_id, priority);
}

std::deque<ModelCaller::Call>::iterator ModelCaller::NextCall() {
  const bool room = shared_->in_flight < options_.max_in_flight;
  auto next = shared_->waiting.end();
  for (auto it = shared_->waiting.begin(); it != shared_->waiting.end(); ++it) {
    if (!room && !Find(it->row.provider)->unlimited) continue;
    if (next == shared_->waiting.end() || it->turn < next->turn) next = it;
  }
  return next;
}

void ModelCaller::StartWaiting() {
  while (true) {
    Call call;
    {
      MutexLock lock(&shared_->mu);
      if (shared_->closing) return;
      const auto next = NextCall();
      if (next == shared_->waiting.end()) return;
      call = std::move(*next);
      shared_->waiting.erase(next);
      shared_->turns.Reached(call.turn);
      if (shared_->waiting.empty()) shared_->turns.Restart();
      if (!Find(call.row.provider)->unlimited) ++shared_->in_flight;
      ++shared_->noting;
    }
    if (Find(call.row.provider)->repeatable) {
      OnNoted(call, absl::OkStatus());
      continue;
    }
    const std::string call_id = call.row.call_id;
    store_->RecordSend(call_id, [this, call = std::move(call)](const absl::Status& status) {
      OnNoted(call, status);
    });
  }
}

void ModelCaller::OnNoted(const Call& call, const absl::Status& status) {
  // Under the lock, so that no client is called once it is being destroyed.
  MutexLock lock(&shared_->mu);
  --shared_->noting;
  shared_->changed.NotifyAll();
  if (shared_->closing || !status.ok()) {
    if (!Find(call.row.provider)->unlimited) --shared_->in_flight;
    if (status.ok() || absl::IsNotFound(status)) return;
    LOG(ERROR) << "call=" << call.row.call_id << " not sent: " << status.message();
    shared_->waiting.push_front(call);  // the rewriter retries
    return;
  }
  Tell(v1::FleetEvent::CALL_SENT, call.row, "");
  LlmRequest request;
  request.call_id = call.row.call_id;
  request.model = call.row.model;
  request.system = call.row.system;
  request.user = call.row.prompt;
  request.max_output_tokens = call.row.max_output_tokens;
  request.reasoning_effort = call.row.reasoning_effort;
  request.embeds = call.row.role == kEmbeddingRole;
  request.state = std::make_shared<StoredProviderState>(store_, call.row);
  request.labels = {call.row.purpose, call.row.node_id, call.row.attempt, call.row.cycle};
  ClientOf(call.row.provider)
      ->Complete(std::move(request),
                 [this, call](absl::StatusOr<LlmReply> reply) { OnReply(call, std::move(reply)); });
}

void ModelCaller::OnReply(const Call& call, absl::StatusOr<LlmReply> reply) {
  {
    MutexLock lock(&shared_->mu);
    if (!Find(call.row.provider)->unlimited) --shared_->in_flight;
    if (shared_->closing && !reply.ok()) return;  // canceled by this shutdown: asked again later
  }
  StartWaiting();
  Record(call, std::move(reply));
}

void ModelCaller::Record(const Call& call, absl::StatusOr<LlmReply> reply) {
  LlmCallRow answered = call.row;
  answered.answered = true;
  answered.replied = clock_.Now();
  Settle(call.price, reply, &answered);
  if (reply.ok()) {
    answered.reply = std::move(reply->text);
    answered.finish_reason = std::move(reply->finish_reason);
    answered.reply_model = std::move(reply->model);
    answered.input_tokens = reply->usage.input();
    answered.output_tokens = reply->usage.output();
    answered.usage = reply->usage;
  } else {
    answered.reply = RawReply(reply.status());  // for people
    answered.error = reply.status().ToString(absl::StatusToStringMode::kWithNoExtraData);
    LOG(WARNING) << "call=" << answered.call_id << " purpose=" << answered.purpose
                 << " failed: " << answered.error;
  }
  Tell(answered.error.empty() ? v1::FleetEvent::CALL_ANSWERED : v1::FleetEvent::CALL_FAILED,
       answered, answered.error);
  Write(answered);
}

void ModelCaller::Tell(v1::FleetEvent::Kind kind, const LlmCallRow& call,
                       const std::string& text) const {
  if (!listener_) return;
  v1::FleetEvent event;
  *event.mutable_at() = ToProto(clock_.Now());
  event.set_kind(kind);
  event.set_text(text.substr(0, ValidUtf8Bytes(text.substr(0, kMaxToldError))));
  event.set_run_id(call.run_id);
  *event.mutable_call() = DetailOf(call);
  listener_(std::move(event));
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
    StartWaiting();
  }
}

}  // namespace ksearch
