#include "common/mailbox/mailbox_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/mailbox/mailbox_text.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxPromptBytes = int64_t{64} << 20;
constexpr size_t kMaxNameBytes = 200;

bool Exists(const std::string& path) {
  struct stat facts;
  return ::lstat(path.c_str(), &facts) == 0;
}

absl::Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("create folder ", path));
}

absl::Status SyncFolder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || ::fsync(fd.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("fsync ", path));
  }
  return absl::OkStatus();
}

// The names of all files except temporary ones, sorted.
absl::StatusOr<std::vector<std::string>> Names(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    std::string name = it->path().filename().string();
    if (absl::StartsWith(name, ".") || absl::EndsWith(name, "~") || absl::EndsWith(name, ".tmp") ||
        absl::StrContains(name, ".tmp-")) {
      continue;
    }
    names.push_back(std::move(name));
  }
  if (error) return ErrnoStatus(error.value(), absl::StrCat("read folder ", folder));
  std::sort(names.begin(), names.end());
  return names;
}

// Parses a file name; nullopt if it is not an answer's.
std::optional<MailboxFolder::Delivery> ParseName(const std::string& name) {
  for (absl::string_view ending : {".json", ".md", ".txt"}) {
    absl::string_view id = name;
    if (!absl::ConsumeSuffix(&id, ending)) continue;
    absl::ConsumeSuffix(&id, ".answer");
    if (id.empty() || name.size() > kMaxNameBytes) return std::nullopt;
    MailboxFolder::Delivery delivery;
    delivery.name = name;
    delivery.id = std::string(id);
    delivery.json = ending == ".json";
    return delivery;
  }
  return std::nullopt;
}

// A plain file only: a link or a device could stand for anything.
absl::StatusOr<std::string> ReadPlainFile(const std::string& path, int64_t max_bytes) {
  struct stat facts;
  if (::lstat(path.c_str(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a plain file"));
  }
  return ReadFile(path, max_bytes);
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("rename ", from, " to ", to));
}

}  // namespace

absl::StatusOr<MailboxFolder> MailboxFolder::Create(const std::string& path) {
  for (const char* part : {"", "/outbox", "/claimed", "/inbox", "/done", "/failed"}) {
    RETURN_IF_ERROR(MakeFolder(path + part));
  }
  for (const char* part : {"/outbox", "/inbox", "/done", "/failed"}) {
    if (::access((path + part).c_str(), R_OK | W_OK | X_OK) != 0) {
      return ErrnoStatus(errno, absl::StrCat("use folder ", path, part));
    }
  }
  RETURN_IF_ERROR(SyncFolder(path));
  return MailboxFolder(path);
}

absl::StatusOr<MailboxFolder> MailboxFolder::Find(const std::string& path) {
  for (const std::string& candidate : {path, path + "/mailbox"}) {
    if (Exists(candidate + "/outbox") && Exists(candidate + "/inbox")) {
      return MailboxFolder(candidate);
    }
  }
  return absl::NotFoundError(absl::StrCat(
      path, " is not a mailbox: it has no outbox/ and inbox/, nor a mailbox/ with them in it"));
}

std::string MailboxFolder::IdOf(absl::string_view call_id) {
  std::string id(call_id.substr(0, kMaxNameBytes - 20));
  for (char& c : id) {
    if (c == '/') c = '.';
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return id.empty() || id[0] == '.' ? absl::StrCat("_", id) : id;
}

std::vector<std::string> MailboxFolder::PromptFolders() const {
  std::vector<std::string> folders;
  if (const auto claimants = Names(path_ + "/claimed"); claimants.ok()) {
    for (const std::string& who : *claimants) folders.push_back("claimed/" + who);
  }
  folders.emplace_back("outbox");
  return folders;
}

absl::Status MailboxFolder::Publish(const v1::MailboxPrompt& prompt) const {
  if (Exists(absl::StrCat(path_, "/outbox/", prompt.id(), ".json"))) return absl::OkStatus();
  for (const std::string& folder : PromptFolders()) {
    if (folder == "outbox") continue;
    // A program that claims a prompt may take only one of its files.
    for (const char* ending : {".json", ".md"}) {
      if (Exists(absl::StrCat(path_, "/", folder, "/", prompt.id(), ending))) {
        return absl::OkStatus();
      }
    }
  }
  const std::string base = absl::StrCat(path_, "/outbox/", prompt.id());
  // The text first, so that whoever sees the prompt finds both files.
  RETURN_IF_ERROR(WriteFileAtomically(base + ".md", PromptMarkdown(prompt)));
  return WriteFileAtomically(base + ".json", ToJson(prompt) + "\n");
}

absl::StatusOr<std::vector<v1::MailboxEntry>> MailboxFolder::List(bool brief) const {
  std::set<std::string> delivered;
  if (const auto inbox = Inbox(); inbox.ok()) {
    for (const Delivery& delivery : *inbox) delivered.insert(delivery.id);
  }
  std::vector<v1::MailboxEntry> entries;
  std::set<std::string> listed;
  for (const std::string& folder : PromptFolders()) {
    const auto names = Names(absl::StrCat(path_, "/", folder));
    if (!names.ok()) {
      if (folder == "outbox") return names.status();
      continue;
    }
    for (const std::string& name : *names) {
      absl::string_view id = name;
      if (!absl::ConsumeSuffix(&id, ".json") && !absl::ConsumeSuffix(&id, ".md")) continue;
      // A copy of the folder may have left a prompt behind that has been answered since.
      if (listed.contains(std::string(id)) || Taken(std::string(id)).has_value()) continue;
      std::string file = absl::StrCat(path_, "/", folder, "/", id, ".json");
      if (!Exists(file)) file = absl::StrCat(path_, "/outbox/", id, ".json");
      const auto json = ReadPlainFile(file, kMaxPromptBytes);
      if (!json.ok()) continue;
      auto prompt = ParsePrompt(*json);
      if (!prompt.ok() || prompt->id() != id) continue;
      listed.insert(std::string(id));
      v1::MailboxEntry entry;
      *entry.mutable_prompt() = *std::move(prompt);
      if (brief) entry.mutable_prompt()->clear_messages();
      absl::string_view who = folder;
      if (absl::ConsumePrefix(&who, "claimed/")) entry.set_claimed_by(std::string(who));
      entry.set_answer_delivered(delivered.contains(std::string(id)));
      entry.set_mailbox(path_);
      entries.push_back(std::move(entry));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return FromProto(a.prompt().created_at()) < FromProto(b.prompt().created_at());
  });
  return entries;
}

absl::StatusOr<v1::MailboxEntry> MailboxFolder::Read(const std::string& id) const {
  ASSIGN_OR_RETURN(std::vector<v1::MailboxEntry> entries, List(/*brief=*/false));
  std::vector<const v1::MailboxEntry*> matches;
  std::vector<std::string> ids;
  for (const v1::MailboxEntry& entry : entries) {
    const v1::MailboxPrompt& prompt = entry.prompt();
    if (prompt.id() == id || prompt.call_id() == id) return entry;
    if (absl::StartsWith(prompt.id(), id)) matches.push_back(&entry);
    if (ids.size() < 20) ids.push_back(prompt.id());
  }
  if (matches.size() == 1) return *matches[0];
  if (matches.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("'", id, "' stands for ", matches.size(),
                                                   " prompts, e.g. ", matches[0]->prompt().id(),
                                                   " and ", matches[1]->prompt().id()));
  }
  if (Taken(id).has_value()) {
    return absl::NotFoundError(absl::StrCat("prompt '", id, "' is answered already"));
  }
  return absl::NotFoundError(absl::StrCat("no prompt '", id, "' waits for an answer (waiting: ",
                                          ids.empty() ? "none" : absl::StrJoin(ids, ", "), ")"));
}

absl::StatusOr<std::string> MailboxFolder::Answer(v1::MailboxAnswer answer) const {
  ASSIGN_OR_RETURN(const v1::MailboxEntry entry, Read(answer.id()));
  const std::string& id = entry.prompt().id();
  if (entry.answer_delivered()) {
    return absl::AlreadyExistsError(
        absl::StrCat("prompt ", id, " has an answer in ", path_, "/inbox already"));
  }
  answer.set_v(1);
  answer.set_id(id);
  const std::string json = ToJson(answer) + "\n";
  RETURN_IF_ERROR(ParseAnswer(id, /*json=*/true, json).status());
  if (static_cast<int64_t>(answer.answer().size()) > kMaxAnswerBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the answer has ", answer.answer().size(),
                                                   " bytes; at most ", kMaxAnswerBytes));
  }
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(inbox(), "/", id, ".json"), json));
  return id;
}

absl::StatusOr<std::vector<MailboxFolder::Delivery>> MailboxFolder::Inbox() const {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, Names(inbox()));
  std::vector<Delivery> deliveries;
  for (const std::string& name : names) {
    std::optional<Delivery> delivery = ParseName(name);
    struct stat facts;
    if (!delivery.has_value() || ::lstat(absl::StrCat(inbox(), "/", name).c_str(), &facts) != 0 ||
        S_ISDIR(facts.st_mode)) {
      continue;
    }
    delivery->bytes = facts.st_size;
    delivery->changed = absl::TimeFromTimespec(facts.st_mtim);
    deliveries.push_back(*std::move(delivery));
  }
  return deliveries;
}

absl::StatusOr<std::string> MailboxFolder::ReadInbox(const Delivery& delivery,
                                                     int64_t max_bytes) const {
  return ReadPlainFile(absl::StrCat(inbox(), "/", delivery.name), max_bytes);
}

std::optional<MailboxFolder::Delivery> MailboxFolder::Taken(const std::string& id) const {
  for (const char* ending : {".answer.json", ".answer.md", ".answer.txt"}) {
    const std::string name = id + ending;
    if (Exists(absl::StrCat(path_, "/done/", name))) return ParseName(name);
  }
  return std::nullopt;
}

absl::StatusOr<std::string> MailboxFolder::ReadTaken(const Delivery& delivery) const {
  return ReadPlainFile(absl::StrCat(path_, "/done/", delivery.name), kMaxPromptBytes);
}

absl::Status MailboxFolder::Take(const Delivery& delivery) const {
  const absl::string_view ending = delivery.json                           ? ".json"
                                   : absl::EndsWith(delivery.name, ".txt") ? ".txt"
                                                                           : ".md";
  RETURN_IF_ERROR(Rename(absl::StrCat(inbox(), "/", delivery.name),
                         absl::StrCat(path_, "/done/", delivery.id, ".answer", ending)));
  RETURN_IF_ERROR(SyncFolder(path_ + "/done"));
  RETURN_IF_ERROR(SyncFolder(inbox()));
  return RetirePrompt(delivery.id);
}

absl::Status MailboxFolder::RetirePrompt(const std::string& id) const {
  for (const std::string& folder : PromptFolders()) {
    for (const char* ending : {".json", ".md"}) {
      const std::string file = absl::StrCat(path_, "/", folder, "/", id, ending);
      if (Exists(file)) RETURN_IF_ERROR(Rename(file, absl::StrCat(path_, "/done/", id, ending)));
    }
  }
  return absl::OkStatus();
}

absl::Status MailboxFolder::Reject(const Delivery& delivery, absl::string_view why) const {
  std::string name = delivery.name;
  for (int copy = 2; Exists(absl::StrCat(path_, "/failed/", name)); ++copy) {
    name = absl::StrCat(delivery.name, ".", copy);
  }
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(path_, "/failed/", name, ".error.txt"),
                                      absl::StrCat(why, "\n")));
  return Rename(absl::StrCat(inbox(), "/", delivery.name), absl::StrCat(path_, "/failed/", name));
}

absl::Status MailboxFolder::Discard(const Delivery& delivery) const {
  const std::string file = absl::StrCat(inbox(), "/", delivery.name);
  if (::unlink(file.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(errno, absl::StrCat("remove ", file));
}

}  // namespace ksearch
