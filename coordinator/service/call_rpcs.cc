// The RPCs about calls to models: prompts that people answer, and recording.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/mailbox/mailbox_folder.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/engine/run_recording.h"
#include "coordinator/engine/run_timeline.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

// The mailbox in which the prompt waits, and the prompt.
struct Found {
  MailboxFolder folder;
  v1::MailboxEntry entry;
};

absl::StatusOr<Found> FindPrompt(const std::vector<std::string>& mailboxes, const std::string& id) {
  if (mailboxes.empty()) {
    return absl::NotFoundError(
        "no provider of the coordinator is a mailbox; add providers { name: \"people\" mailbox {} "
        "}");
  }
  absl::Status missing;
  for (const std::string& path : mailboxes) {
    ASSIGN_OR_RETURN(MailboxFolder folder, MailboxFolder::Find(path));
    auto entry = folder.Read(id);
    if (entry.ok()) return Found{std::move(folder), *std::move(entry)};
    if (!absl::IsNotFound(entry.status())) return entry.status();
    missing.Update(entry.status());
  }
  return missing;
}

}  // namespace

grpc::Status SearchService::ListPrompts(grpc::ServerContext*, const v1::ListPromptsRequest* request,
                                        v1::ListPromptsReply* reply) {
  std::string run_id;
  if (!request->run_id().empty()) {
    const auto resolved = parts_.store->ResolveRun(request->run_id());
    if (!resolved.ok()) return ToGrpc(resolved.status());
    run_id = *resolved;
  }
  for (const std::string& path : parts_.mailboxes) {
    const auto folder = MailboxFolder::Find(path);
    if (!folder.ok()) return ToGrpc(folder.status());
    const auto entries = folder->List();
    if (!entries.ok()) return ToGrpc(entries.status());
    for (const v1::MailboxEntry& entry : *entries) {
      if (run_id.empty() || entry.prompt().run() == run_id) *reply->add_prompts() = entry;
    }
  }
  return grpc::Status::OK;
}

grpc::Status SearchService::GetPrompt(grpc::ServerContext*, const v1::GetPromptRequest* request,
                                      v1::MailboxEntry* reply) {
  auto found = FindPrompt(parts_.mailboxes, request->id());
  if (!found.ok()) return ToGrpc(found.status());
  *reply = std::move(found->entry);
  return grpc::Status::OK;
}

grpc::Status SearchService::AnswerPrompt(grpc::ServerContext*,
                                         const v1::AnswerPromptRequest* request,
                                         v1::AnswerPromptReply* reply) {
  const auto found = FindPrompt(parts_.mailboxes, request->answer().id());
  if (!found.ok()) return ToGrpc(found.status());
  v1::MailboxAnswer answer = request->answer();
  answer.set_id(found->entry.prompt().id());
  const auto id = found->folder.Answer(std::move(answer));
  if (!id.ok()) return ToGrpc(id.status());
  reply->set_id(*id);
  return grpc::Status::OK;
}

grpc::Status SearchService::ExportRun(grpc::ServerContext*, const v1::ExportRunRequest* request,
                                      grpc::ServerWriter<v1::RecordedLine>* writer) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  return ToGrpc(
      RecordRun(parts_.store, *run_id, !request->without_results(), Clock::Real().Now(),
                [&](const v1::RecordedLine& line) { return !closing_ && writer->Write(line); }));
}

grpc::Status SearchService::ReadTimeline(grpc::ServerContext*,
                                         const v1::ReadTimelineRequest* request,
                                         grpc::ServerWriter<v1::TimelineEntry>* writer) {
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  return ToGrpc(ksearch::ReadTimeline(parts_.store, *run_id, [&](const v1::TimelineEntry& entry) {
    return !closing_ && writer->Write(entry);
  }));
}

grpc::Status SearchService::ExportReport(grpc::ServerContext*,
                                         const v1::ExportReportRequest* request,
                                         grpc::ServerWriter<v1::ReportPart>* writer) {
  constexpr int64_t kMostBytes = 256 << 20;
  constexpr size_t kPartBytes = 1 << 20;
  if (!parts_.report) return ToGrpc(absl::UnimplementedError("this coordinator makes no reports"));
  const auto run_id = parts_.store->ResolveRun(request->run_id());
  if (!run_id.ok()) return ToGrpc(run_id.status());
  const int64_t most =
      request->max_bytes() > 0 ? std::min(request->max_bytes(), kMostBytes) : kMostBytes;
  const auto html = parts_.report(*run_id, most);
  if (!html.ok()) return ToGrpc(html.status());
  v1::ReportPart part;
  for (size_t at = 0; at < html->size(); at += kPartBytes) {
    part.set_html(html->substr(at, kPartBytes));
    if (closing_ || !writer->Write(part)) return grpc::Status::CANCELLED;
  }
  return grpc::Status::OK;
}

}  // namespace ksearch
