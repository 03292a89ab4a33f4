#include "coordinator/llm/mailbox/mailbox_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mailbox/mailbox_text.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

void Drain(int fd) {
  char buffer[4096];
  while (::read(fd, buffer, sizeof buffer) > 0) {
  }
}

std::string RunOf(const std::string& call_id) { return call_id.substr(0, call_id.rfind('/')); }

v1::MailboxPrompt MakePrompt(const LlmRequest& request, const std::string& id,
                             const std::string& model, absl::Time now) {
  v1::MailboxPrompt prompt;
  prompt.set_v(1);
  prompt.set_id(id);
  prompt.set_call_id(request.call_id);
  prompt.set_run(RunOf(request.call_id));
  prompt.set_purpose(request.labels.purpose);
  prompt.set_node(request.labels.node_id);
  prompt.set_attempt(request.labels.attempt);
  prompt.set_cycle(request.labels.cycle);
  *prompt.mutable_created_at() = ToProto(now);
  prompt.set_model_hint(model);
  prompt.set_reasoning_effort(request.reasoning_effort);
  prompt.set_max_output_tokens(request.max_output_tokens);
  if (!request.system.empty()) {
    v1::MailboxMessage* system = prompt.add_messages();
    system->set_role("system");
    system->set_content(request.system);
  }
  v1::MailboxMessage* user = prompt.add_messages();
  user->set_role("user");
  user->set_content(request.user);
  prompt.set_reply_to(absl::StrCat("inbox/", id, ".md"));
  return prompt;
}

}  // namespace

MailboxClient::MailboxClient(MailboxFolder folder, MailboxOptions options, const Clock& clock)
    : folder_(std::move(folder)),
      options_(std::move(options)),
      clock_(clock),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (changes_.ok() && ::inotify_add_watch(changes_.get(), folder_.inbox().c_str(),
                                           IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    changes_.Reset();
  }
  thread_ = std::thread([this] { Loop(); });
}

MailboxClient::~MailboxClient() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
  }
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void MailboxClient::Complete(LlmRequest request, Done done) {
  Call call;
  call.id = MailboxFolder::IdOf(request.call_id);
  call.request = std::move(request);
  call.done = std::move(done);
  {
    MutexLock lock(&mu_);
    new_calls_.push_back(std::move(call));
  }
  ::eventfd_write(wake_.get(), 1);
}

std::vector<std::string> MailboxClient::ParkedCalls() {
  MutexLock lock(&mu_);
  return parked_;
}

void MailboxClient::Loop() {
  while (true) {
    {
      MutexLock lock(&mu_);
      if (closing_) break;
    }
    // Drained before the inbox is read: later changes wake this thread again.
    if (changes_.ok()) Drain(changes_.get());
    Drain(wake_.get());
    TakeNewCalls();
    Publish();
    const bool all_settled = ReadInbox();
    Sleep(all_settled ? options_.poll_interval
                      : std::min(options_.poll_interval, options_.settle_time));
  }
  TakeNewCalls();
  for (auto& [id, call] : calls_) {
    call.done(absl::CancelledError("the coordinator is shutting down"));
  }
}

void MailboxClient::TakeNewCalls() {
  std::vector<Call> added;
  {
    MutexLock lock(&mu_);
    added.swap(new_calls_);
  }
  for (Call& call : added) {
    if (call.request.call_id.empty()) {
      // The call belongs to no run: it checks whether the provider works.
      LlmReply reply;
      reply.text = absl::StrCat("OK: prompts go to ", folder_.path(), "/outbox");
      reply.finish_reason = "stop";
      reply.model = call.request.model;
      call.done(std::move(reply));
      continue;
    }
    const auto [it, inserted] = calls_.try_emplace(call.id, std::move(call));
    if (!inserted) call.done(absl::InvalidArgumentError("the call waits in the mailbox already"));
  }
}

void MailboxClient::Publish() {
  std::vector<std::pair<std::string, v1::MailboxAnswer>> answered;
  for (auto& [id, call] : calls_) {
    if (call.published) continue;
    if (const auto taken = folder_.Taken(id); taken.has_value()) {
      // It was taken before a restart, and its reply was not stored in time.
      const auto content = folder_.ReadTaken(*taken);
      auto answer = content.ok() ? ParseAnswer(id, taken->json, *content)
                                 : absl::StatusOr<v1::MailboxAnswer>(content.status());
      if (answer.ok()) {
        answered.emplace_back(id, *std::move(answer));
        continue;
      }
      LogFailure(answer.status());
      continue;
    }
    const std::string& model =
        call.request.model.empty() ? options_.default_model : call.request.model;
    const absl::Status status = folder_.Publish(MakePrompt(call.request, id, model, clock_.Now()));
    call.published = status.ok();
    if (status.ok()) {
      LOG(INFO) << "call=" << call.request.call_id << " waits for an answer in " << folder_.inbox()
                << "/" << id << ".md";
    } else {
      LogFailure(status);
    }
  }
  for (const auto& [id, answer] : answered) Finish(id, answer);
}

bool MailboxClient::ReadInbox() {
  const auto deliveries = folder_.Inbox();
  if (!deliveries.ok()) {
    LogFailure(deliveries.status());
    NoteParked({});
    return true;
  }
  std::set<std::string> unsettled_ids;
  std::set<std::string> names;
  for (const MailboxFolder::Delivery& delivery : *deliveries) {
    names.insert(delivery.name);
    const auto call = calls_.find(delivery.id);
    const bool waits = call != calls_.end() && call->second.published;
    // The answer belongs to no active call: its run is not active, or another provider asked.
    if (!waits && !folder_.Taken(delivery.id).has_value()) continue;
    if (!Settled(delivery)) {
      unsettled_ids.insert(delivery.id);
    } else if (waits) {
      Receive(delivery);
    } else {
      PutAside(delivery);
    }
  }
  std::erase_if(unsettled_, [&](const auto& entry) { return !names.contains(entry.first); });
  NoteParked(unsettled_ids);
  return unsettled_ids.empty();
}

bool MailboxClient::Settled(const MailboxFolder::Delivery& delivery) {
  if (delivery.json && delivery.bytes <= options_.max_answer_bytes) {
    // A JSON object that parses has been written completely.
    const auto content = folder_.ReadInbox(delivery, options_.max_answer_bytes);
    if (content.ok() && ParseAnswer(delivery.id, true, *content).ok()) return true;
  }
  if (clock_.Now() - delivery.changed >= options_.settle_time) return true;
  Unsettled& entry = unsettled_[delivery.name];
  const absl::Time now = clock_.SteadyNow();
  if (!(entry.seen == delivery)) entry = {delivery, now};
  return now - entry.since >= options_.settle_time;
}

void MailboxClient::Receive(const MailboxFolder::Delivery& delivery) {
  absl::StatusOr<std::string> content = folder_.ReadInbox(delivery, options_.max_answer_bytes);
  if (absl::IsNotFound(content.status())) return;  // removed meanwhile
  auto answer = content.ok() ? ParseAnswer(delivery.id, delivery.json, *content)
                             : absl::StatusOr<v1::MailboxAnswer>(content.status());
  if (!answer.ok()) {
    LOG(WARNING) << "answer=" << delivery.name << " cannot be taken, see " << folder_.path()
                 << "/failed: " << answer.status().message();
    const absl::Status status = folder_.Reject(delivery, answer.status().message());
    if (!status.ok()) LogFailure(status);
    return;
  }
  if (const absl::Status status = folder_.Take(delivery); !status.ok()) {
    LogFailure(status);
    // Perhaps only the prompt was left behind.
    if (!folder_.Taken(delivery.id).has_value()) return;
  }
  Finish(delivery.id, *answer);
}

void MailboxClient::PutAside(const MailboxFolder::Delivery& delivery) {
  const auto taken = folder_.Taken(delivery.id);
  const auto content = folder_.ReadInbox(delivery, options_.max_answer_bytes);
  if (!taken.has_value() || absl::IsNotFound(content.status())) return;
  // A folder that was copied without removing files brings old answers back.
  const auto first = folder_.ReadTaken(*taken);
  const bool same = content.ok() && first.ok() && *content == *first;
  const absl::Status status =
      same ? folder_.Discard(delivery)
           : folder_.Reject(delivery, "the prompt was answered already, by another answer");
  if (!status.ok()) LogFailure(status);
}

void MailboxClient::Finish(const std::string& id, const v1::MailboxAnswer& answer) {
  const auto it = calls_.find(id);
  if (it == calls_.end()) return;
  Call call = std::move(it->second);
  calls_.erase(it);
  LlmReply reply;
  reply.text = answer.answer();
  reply.finish_reason = answer.finish_reason().empty() ? "stop" : answer.finish_reason();
  reply.model = answer.model().empty() ? call.request.model : answer.model();
  reply.response_id = id;
  if (answer.has_usage()) {
    reply.usage.uncached_input = answer.usage().input_tokens();
    reply.usage.visible_output = answer.usage().output_tokens();
    reply.usage_reported = true;
  }
  LOG(INFO) << "call=" << call.request.call_id << " answered"
            << (answer.answered_by().empty() ? "" : " by ") << answer.answered_by();
  call.done(std::move(reply));
}

void MailboxClient::NoteParked(const std::set<std::string>& delivered) {
  std::vector<std::string> parked;
  for (const auto& [id, call] : calls_) {
    if (call.published && !delivered.contains(id)) parked.push_back(call.request.call_id);
  }
  MutexLock lock(&mu_);
  parked_.swap(parked);
}

void MailboxClient::Sleep(absl::Duration limit) {
  struct pollfd fds[2] = {{wake_.get(), POLLIN, 0}, {changes_.get(), POLLIN, 0}};
  const int64_t millis = std::max<int64_t>(1, absl::ToInt64Milliseconds(limit));
  ::poll(fds, changes_.ok() ? 2 : 1, static_cast<int>(std::min<int64_t>(millis, 60'000)));
}

void MailboxClient::LogFailure(const absl::Status& status) {
  const absl::Time now = clock_.SteadyNow();
  if (now - complained_ < absl::Minutes(1)) return;
  complained_ = now;
  LOG(ERROR) << "mailbox=" << folder_.path() << " " << status.message();
}

}  // namespace ksearch
