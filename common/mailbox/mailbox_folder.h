#ifndef KSEARCH_COMMON_MAILBOX_MAILBOX_FOLDER_H_
#define KSEARCH_COMMON_MAILBOX_MAILBOX_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/mailbox.pb.h"

namespace ksearch {

// Maximum size of an answer.
inline constexpr int64_t kMaxAnswerBytes = int64_t{8} << 20;

// A folder in which prompts wait for answers:
//   outbox/<id>.json, <id>.md   prompts (proto/mailbox.proto, and the same for people)
//   claimed/<who>/              prompts that somebody claimed by moving them here
//   inbox/                      answers: <id>.json or plain text <id>.md, <id>.txt, each also as
//                               <id>.answer.<ending>
//   done/                       answered prompts, and their answers as <id>.answer.<ending>
//   failed/                     answers that were rejected, each with a <name>.error.txt
// Files appear by rename, and are on disk before a method returns. Names that begin with "." or end
// in ".tmp" or "~" are ignored. Paths in the files are relative: the folder may be moved and
// copied. Any number of processes may use it at once. Thread-safe; holds no state but its path.
class MailboxFolder {
 public:
  // Creates the folders that are missing. Errors, such as PERMISSION_DENIED, name the path.
  static absl::StatusOr<MailboxFolder> Create(const std::string& path);
  // `path` is a mailbox, or a folder with one named "mailbox" in it (a state_dir). NOT_FOUND.
  static absl::StatusOr<MailboxFolder> Find(const std::string& path);

  // The id of a call's prompt: "softmax-1a2b3c/12" is "softmax-1a2b3c.12".
  static std::string IdOf(absl::string_view call_id);

  const std::string& path() const { return path_; }
  std::string inbox() const { return path_ + "/inbox"; }

  // Files of the inbox that may be answers.
  struct Delivery {
    std::string name;  // in its folder
    std::string id;    // of the prompt that it answers
    bool json = false;
    int64_t bytes = 0;
    absl::Time changed;
    friend bool operator==(const Delivery&, const Delivery&) = default;
  };

  // Adds the prompt to the outbox unless the mailbox already has it. `prompt` must have an id.
  absl::Status Publish(const v1::MailboxPrompt& prompt) const;
  // Returns the prompts that have no accepted answer, oldest first, without their messages if
  // `brief`. Omits prompts that cannot be read.
  absl::StatusOr<std::vector<v1::MailboxEntry>> List(bool brief = true) const;
  // Returns the prompt with this id, unique prefix of an id, or call id. NOT_FOUND lists the
  // existing prompts; INVALID_ARGUMENT: the prefix is ambiguous.
  absl::StatusOr<v1::MailboxEntry> Read(const std::string& id) const;
  // Delivers an answer to the prompt `answer.id` (as in Read) and returns the prompt's full id.
  // INVALID_ARGUMENT: the answer is empty or too large. ALREADY_EXISTS: the prompt has an answer.
  absl::StatusOr<std::string> Answer(v1::MailboxAnswer answer) const;

  absl::StatusOr<std::vector<Delivery>> Inbox() const;
  // Returns the file's text. RESOURCE_EXHAUSTED if it is larger than `max_bytes`.
  absl::StatusOr<std::string> ReadInbox(const Delivery& delivery, int64_t max_bytes) const;
  // Returns the accepted answer to the prompt, whose `name` is a file of done/; nullopt if there is
  // none.
  std::optional<Delivery> Taken(const std::string& id) const;
  absl::StatusOr<std::string> ReadTaken(const Delivery& delivery) const;
  // Accepts the answer: moves it, then its prompt, to done/. Inbox returns the answer before that
  // first move, and Taken afterwards.
  absl::Status Take(const Delivery& delivery) const;
  // Moves the answer to failed/, with a file that says why.
  absl::Status Reject(const Delivery& delivery, absl::string_view why) const;
  // Removes a redundant answer from the inbox: another answer to the prompt was accepted.
  absl::Status Discard(const Delivery& delivery) const;

 private:
  explicit MailboxFolder(std::string path) : path_(std::move(path)) {}

  // "claimed/<who>" of each claimant, then "outbox".
  std::vector<std::string> PromptFolders() const;
  // Moves both files of a prompt to done/, wherever they are.
  absl::Status RetirePrompt(const std::string& id) const;

  std::string path_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_MAILBOX_MAILBOX_FOLDER_H_
