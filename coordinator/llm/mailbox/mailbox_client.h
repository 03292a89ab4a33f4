#ifndef KSEARCH_COORDINATOR_LLM_MAILBOX_MAILBOX_CLIENT_H_
#define KSEARCH_COORDINATOR_LLM_MAILBOX_MAILBOX_CLIENT_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/mailbox/mailbox_folder.h"
#include "common/mutex.h"
#include "common/unique_fd.h"
#include "coordinator/llm/llm_client.h"

namespace ksearch {

struct MailboxOptions {
  std::string default_model = "any";
  absl::Duration poll_interval = absl::Seconds(1);
  absl::Duration settle_time = absl::Seconds(1);
  int64_t max_answer_bytes = kMaxAnswerBytes;
};

// Asks people, or their programs, through a folder. A call that was asked before a restart is not
// asked again: its prompt, and an answer given meanwhile, are found by the call's id. Writing a
// prompt is retried if it fails (full disk). A call without an id asks nobody; its reply says where
// the prompts go.
class MailboxClient final : public LlmClient {
 public:
  // `clock` must outlive the client.
  MailboxClient(MailboxFolder folder, MailboxOptions options, const Clock& clock);
  ~MailboxClient() override;

  void Complete(LlmRequest request, Done done) override;
  // The calls whose prompt is on disk and for which the inbox had no answer when it was last read.
  std::vector<std::string> ParkedCalls() override;

 private:
  struct Call {
    LlmRequest request;
    Done done;
    std::string id;  // of the prompt
    bool published = false;
  };
  // A plain text answer that may still be being written.
  struct Unsettled {
    MailboxFolder::Delivery seen;
    absl::Time since;  // SteadyNow scale
  };

  void Loop();
  // Moves new calls to calls_, and ends those that it cannot accept.
  void TakeNewCalls();
  // Writes the prompt unless it exists, or answers the call from an answer that was taken before a
  // restart.
  void Publish();
  // Takes answers to calls_ out of the inbox. Returns false if some may still be being written.
  bool ReadInbox();
  bool Settled(const MailboxFolder::Delivery& delivery);
  // Processes one completely written answer to a waiting call.
  void Receive(const MailboxFolder::Delivery& delivery);
  // Sets aside a second answer to a prompt that already has one.
  void PutAside(const MailboxFolder::Delivery& delivery);
  void Finish(const std::string& id, const v1::MailboxAnswer& answer);
  void NoteParked(const std::set<std::string>& delivered);
  void Sleep(absl::Duration limit);
  // Logs a failure of the folder, at most once a minute.
  void LogFailure(const absl::Status& status);

  const MailboxFolder folder_;
  const MailboxOptions options_;
  const Clock& clock_;
  const UniqueFd wake_;
  UniqueFd changes_;  // inotify on the inbox; invalid: polling only

  Mutex mu_;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Call> new_calls_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> parked_ ABSL_GUARDED_BY(mu_);

  // Used only by the thread.
  std::map<std::string, Call> calls_;           // by prompt id
  std::map<std::string, Unsettled> unsettled_;  // by file name
  absl::Time complained_ = absl::InfinitePast();
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MAILBOX_MAILBOX_CLIENT_H_
