#include "coordinator/llm/model_server/cassette_replies.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/log.h"

namespace ksearch {
namespace {

constexpr size_t kNearestShown = 5;
constexpr size_t kRecordedPromptBytes = 8000;

// The labels in the headers, or the reason why there are none.
absl::StatusOr<CassetteKey> KeyOf(const ChatQuestion& question) {
  CassetteKey key;
  key.purpose = question.Header("x-ksearch-purpose");
  key.node = question.Header("x-ksearch-node");
  if (key.purpose.empty()) {
    return absl::InvalidArgumentError(
        "the request has no X-Ksearch-Purpose header; set label_headers: true in the provider's "
        "openai_chat settings");
  }
  const std::pair<const char*, int*> numbers[] = {{"x-ksearch-attempt", &key.attempt},
                                                  {"x-ksearch-cycle", &key.cycle}};
  for (const auto& [name, value] : numbers) {
    const std::string text = question.Header(name);
    if (!text.empty() && (!absl::SimpleAtoi(text, value) || *value < 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("header ", name, " is \"", text, "\", not a number from 0"));
    }
  }
  return key;
}

EndpointResponse FaultResponse(const v1::CassetteFault& fault) {
  EndpointResponse response = ErrorResponse(fault.http_status(), "scripted fault",
                                            absl::StrCat("http_", fault.http_status()));
  if (!fault.body().empty()) response.body = fault.body();
  if (fault.has_retry_after()) {
    const int64_t ms = fault.retry_after().seconds() * 1000 + fault.retry_after().nanos() / 1000000;
    response.headers["retry-after-ms"] = absl::StrCat(ms);
  }
  return response;
}

}  // namespace

CassetteReplies::CassetteReplies(Cassette cassette, ChatEndpointOptions options)
    : cassette_(std::move(cassette)), options_(std::move(options)) {}

EndpointResponse CassetteReplies::Reply(const ChatQuestion& question) {
  const absl::StatusOr<CassetteKey> key = KeyOf(question);
  if (!key.ok()) return ErrorResponse(404, std::string(key.status().message()), "no_labels");
  const Cassette::Entry* const entry = cassette_.Find(*key);
  if (entry == nullptr) return Miss(*key, question);
  if (TakeFault(*entry)) return FaultResponse(*entry->fault);
  EndpointResponse response = CompletionResponse({.id = absl::StrCat("cassette-line-", entry->line),
                                                  .model = cassette_.model(),
                                                  .text = entry->text,
                                                  .finish_reason = entry->finish_reason,
                                                  .usage = entry->usage},
                                                 question);
  response.delay = options_.delay.value_or(entry->delay);
  return response;
}

std::optional<EndpointResponse> CassetteReplies::EmbeddingFault(const ChatQuestion& question) {
  const absl::StatusOr<CassetteKey> key = KeyOf(question);
  const Cassette::Entry* const entry = key.ok() ? cassette_.Find(*key) : nullptr;
  if (entry == nullptr || !TakeFault(*entry)) return std::nullopt;
  EndpointResponse response = FaultResponse(*entry->fault);
  response.delay = options_.delay.value_or(entry->delay);
  return response;
}

EndpointResponse CassetteReplies::Miss(const CassetteKey& key, const ChatQuestion& question) {
  LOG(WARNING) << "msg=\"no entry\" key='" << key.ToString() << "'";
  RecordMiss(key, question.system.empty() ? question.user
                                          : absl::StrCat(question.system, "\n\n", question.user));
  return ErrorResponse(404,
                       absl::StrCat("the cassette has no entry for ", key.ToString(), "; nearest: ",
                                    absl::StrJoin(cassette_.Nearest(key, kNearestShown), ", ")),
                       "no_cassette_entry");
}

bool CassetteReplies::TakeFault(const Cassette::Entry& entry) {
  if (!entry.fault) return false;
  if (entry.fault->times() == 0) return true;
  MutexLock lock(&mu_);
  int& played = faults_played_[&entry];
  if (played >= entry.fault->times()) return false;
  ++played;
  return true;
}

void CassetteReplies::RecordMiss(const CassetteKey& key, const std::string& prompt) {
  if (options_.record_misses_path.empty()) return;
  MutexLock lock(&mu_);
  if (!recorded_.insert(key.ToString()).second) return;
  std::string text = absl::StrCat("# Prompt, ", prompt.size(), " bytes:\n");
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(prompt).substr(0, kRecordedPromptBytes), '\n')) {
    absl::StrAppend(&text, "#   ", line, "\n");
  }
  absl::StrAppend(&text, "entries {\n  purpose: \"", absl::CEscape(key.purpose), "\"\n");
  if (!key.node.empty()) absl::StrAppend(&text, "  node: \"", absl::CEscape(key.node), "\"\n");
  if (key.attempt != 0) absl::StrAppend(&text, "  attempt: ", key.attempt, "\n");
  if (key.cycle != 0) absl::StrAppend(&text, "  cycle: ", key.cycle, "\n");
  absl::StrAppend(&text, "  text: \"\"\n}\n\n");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(options_.record_misses_path.c_str(), "ae"), &std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
    LOG(ERROR) << "msg=\"cannot record a miss\" file=" << options_.record_misses_path;
  }
}

}  // namespace ksearch
