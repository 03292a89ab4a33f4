#include "coordinator/llm/replay/replay_client.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// The status that a recorded call ended with: "UNAVAILABLE: the text".
absl::Status RecordedFailure(const std::string& text) {
  const size_t colon = text.find(": ");
  for (int number = 1; number <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++number) {
    const auto code = static_cast<absl::StatusCode>(number);
    if (colon != std::string::npos && absl::StatusCodeToString(code) == text.substr(0, colon)) {
      return absl::Status(code, text.substr(colon + 2));
    }
  }
  return absl::UnavailableError(text);
}

v1::RecordedCall AsRecorded(const LlmRequest& request) {
  v1::RecordedCall call;
  int64_t number = 0;
  if (absl::SimpleAtoi(request.call_id.substr(request.call_id.rfind('/') + 1), &number)) {
    call.set_number(number);
  }
  call.set_purpose(request.labels.purpose);
  call.set_node(request.labels.node_id);
  call.set_attempt(request.labels.attempt);
  call.set_cycle(request.labels.cycle);
  call.set_model(request.model);
  call.set_system(request.system);
  call.set_user(request.user);
  call.set_max_output_tokens(request.max_output_tokens);
  call.set_reasoning_effort(request.reasoning_effort);
  return call;
}

}  // namespace

ReplayClient::ReplayClient(std::shared_ptr<const Recording> recording)
    : recording_(std::move(recording)) {
  for (const v1::RecordedCall& call : recording_->calls) by_key_[RequestKey(call)].push_back(&call);
  thread_ = std::thread([this] { Loop(); });
}

ReplayClient::~ReplayClient() {
  calls_.Close();
  thread_.join();
  calls_.CancelRest();
}

void ReplayClient::Complete(LlmRequest request, Done done) {
  calls_.Add(std::move(request), std::move(done));
}

void ReplayClient::Loop() {
  while (auto call = calls_.Take()) call->done(Find(call->request));
}

absl::StatusOr<LlmReply> ReplayClient::Find(const LlmRequest& request) {
  if (request.call_id.empty()) {
    // The call belongs to no run: it checks whether the provider works.
    LlmReply reply;
    reply.text = absl::StrCat("OK: ", recording_->calls.size(), " calls of run ",
                              recording_->header.run_id(), " are recorded");
    reply.finish_reason = "stop";
    reply.model = request.model;
    return reply;
  }
  const v1::RecordedCall asked = AsRecorded(request);
  const auto it = by_key_.find(RequestKey(asked));
  const v1::RecordedCall* found = nullptr;
  if (it != by_key_.end()) {
    const std::string run = request.call_id.substr(0, request.call_id.rfind('/'));
    for (const v1::RecordedCall* call : it->second) {
      if (call->number() == asked.number()) found = call;
    }
    for (const v1::RecordedCall* call : it->second) {
      if (found == nullptr && played_.emplace(run, call).second) found = call;
    }
  }
  if (found == nullptr) return absl::FailedPreconditionError(ExplainMiss(*recording_, asked));
  if (!found->error().empty()) return RecordedFailure(found->error());
  LlmReply reply;
  reply.text = found->reply();
  reply.finish_reason = found->finish_reason();
  reply.model = found->reply_model();
  reply.usage.uncached_input = found->input_tokens();
  reply.usage.visible_output = found->output_tokens();
  reply.usage_reported = found->input_tokens() > 0 || found->output_tokens() > 0;
  return reply;
}

}  // namespace ksearch
