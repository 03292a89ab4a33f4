#include "coordinator/llm/model_server/cassette.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "google/protobuf/text_format.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxCassetteBytes = int64_t{16} << 20;
constexpr int64_t kMaxReplyFileBytes = int64_t{4} << 20;
constexpr size_t kMaxFaultsListed = 20;
constexpr char kEmbedPurpose[] = "embed";

// Line of every entry, from 1. ParseTextproto has accepted `text` before.
std::vector<int> EntryLines(absl::string_view text, int count) {
  v1::Cassette message;
  google::protobuf::TextFormat::ParseInfoTree tree;
  google::protobuf::TextFormat::Parser parser;
  parser.WriteLocationsTo(&tree);
  parser.ParseFromString(std::string(text), &message);
  const auto* field = v1::Cassette::descriptor()->FindFieldByName("entries");
  std::vector<int> lines;
  for (int i = 0; i < count; ++i) lines.push_back(tree.GetLocation(field, i).line + 1);
  return lines;
}

void AppendBlock(absl::string_view path, absl::string_view content, std::string* text) {
  if (!text->empty() && text->back() != '\n') *text += '\n';
  absl::StrAppend(text, "<file path=\"", path, "\">\n", content);
  if (text->back() != '\n') *text += '\n';
  absl::StrAppend(text, "</file>\n");
}

// Builds one entry; every fault found goes to `faults`.
class EntryReader {
 public:
  EntryReader(const v1::CassetteEntry& message, const Cassette::FileReader& read_file,
              std::vector<std::string>* faults)
      : message_(message), read_file_(read_file), faults_(faults) {}

  Cassette::Entry Read(absl::Duration default_delay) {
    Cassette::Entry entry;
    entry.key = {message_.purpose(), message_.node(), message_.attempt(), message_.cycle()};
    if (message_.purpose().empty()) Fault("purpose is missing");
    if (message_.attempt() < 0) Fault("attempt must not be negative");
    if (message_.cycle() < 0) Fault("cycle must not be negative");
    entry.finish_reason = message_.finish_reason().empty() ? "stop" : message_.finish_reason();
    entry.delay = message_.has_delay() ? FromProto(message_.delay()) : default_delay;
    if (entry.delay < absl::ZeroDuration()) Fault("delay must not be negative");
    if (message_.has_usage()) {
      entry.usage = message_.usage();
      if (entry.usage->input_tokens() < 0 || entry.usage->output_tokens() < 0) {
        Fault("usage must not be negative");
      }
    }
    if (message_.has_fault()) {
      entry.fault = message_.fault();
      CheckFault(*entry.fault);
    }
    if (message_.purpose() == kEmbedPurpose) {
      CheckOfEmbeddings();
    } else {
      entry.text = Text();
    }
    return entry;
  }

 private:
  void Fault(std::string what) { faults_->push_back(std::move(what)); }

  void CheckFault(const v1::CassetteFault& fault) {
    if (fault.http_status() < 200 || fault.http_status() > 599) {
      Fault(absl::StrCat("fault.http_status is ", fault.http_status(), "; must be 200 to 599"));
    }
    if (fault.times() < 0) Fault("fault.times must not be negative");
    if (FromProto(fault.retry_after()) < absl::ZeroDuration()) {
      Fault("fault.retry_after must not be negative");
    }
  }

  void CheckOfEmbeddings() {
    if (!message_.has_fault()) {
      Fault("fault is missing: embeddings are computed, an entry can only have them fail");
    }
    if (!message_.text().empty() || !message_.text_file().empty() || message_.files_size() > 0 ||
        !message_.text_after().empty()) {
      Fault("text: embeddings are computed, an entry can only have them fail");
    }
  }

  std::string Text() {
    const bool has_text = !message_.text().empty() || !message_.text_file().empty();
    const bool always_fails = message_.has_fault() && message_.fault().times() == 0;
    if (!has_text && message_.files().empty() && !always_fails) {
      Fault("no reply: set text, text_file or files");
    }
    if (!message_.text().empty() && !message_.text_file().empty()) {
      Fault("text and text_file are both set; use only one");
    }
    std::string text = message_.text();
    if (!message_.text_file().empty()) text = Content("text_file", message_.text_file());
    std::vector<std::string> seen;
    for (const v1::CassetteFile& file : message_.files()) {
      if (file.path().empty()) Fault("files: path is missing");
      if (absl::StrContains(file.path(), '"') || absl::StrContains(file.path(), '\n')) {
        Fault("files: path must not hold quotes or line breaks");
      }
      if (std::find(seen.begin(), seen.end(), file.path()) != seen.end()) {
        Fault(absl::StrCat("files: path \"", file.path(), "\" is given twice"));
      }
      seen.push_back(file.path());
      AppendBlock(file.path(), Content("files.from", file.from()), &text);
    }
    return text + message_.text_after();
  }

  std::string Content(absl::string_view field, const std::string& path) {
    if (path.empty()) {
      Fault(absl::StrCat(field, " is missing"));
      return "";
    }
    if (path.front() == '/') {
      Fault(absl::StrCat(field, " \"", path, "\" must be relative to the cassette's folder"));
      return "";
    }
    absl::StatusOr<std::string> content = read_file_(path);
    if (content.ok()) return *std::move(content);
    Fault(absl::StrCat(field, ": ", content.status().message()));
    return "";
  }

  const v1::CassetteEntry& message_;
  const Cassette::FileReader& read_file_;
  std::vector<std::string>* const faults_;
};

bool Fits(const CassetteKey& entry, const CassetteKey& key) {
  return entry.purpose == key.purpose && (entry.node.empty() || entry.node == key.node) &&
         (entry.attempt == 0 || entry.attempt == key.attempt) &&
         (entry.cycle == 0 || entry.cycle == key.cycle);
}

// The order of cassette.proto: node before attempt before cycle.
std::tuple<bool, bool, bool> Specificity(const CassetteKey& key) {
  return {!key.node.empty(), key.attempt != 0, key.cycle != 0};
}

int Likeness(const CassetteKey& entry, const CassetteKey& key) {
  return 8 * (entry.purpose == key.purpose) + 4 * (!key.node.empty() && entry.node == key.node) +
         2 * (entry.attempt == key.attempt) + (entry.cycle == key.cycle);
}

}  // namespace

std::string CassetteKey::ToString() const {
  std::string text = absl::StrCat("purpose \"", purpose, "\"");
  if (!node.empty()) absl::StrAppend(&text, " node \"", node, "\"");
  if (attempt != 0) absl::StrAppend(&text, " attempt ", attempt);
  if (cycle != 0) absl::StrAppend(&text, " cycle ", cycle);
  return text;
}

absl::StatusOr<Cassette> Cassette::Load(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxCassetteBytes);
  if (!text.ok()) return text.status();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return Parse(*text, path, [&folder](const std::string& file) {
    return ReadFile((folder / file).string(), kMaxReplyFileBytes);
  });
}

absl::StatusOr<Cassette> Cassette::Parse(absl::string_view text, absl::string_view name,
                                         const FileReader& read_file) {
  v1::Cassette message;
  RETURN_IF_ERROR(ParseTextproto(text, name, &message));
  Cassette cassette;
  cassette.model_ = message.model().empty() ? "scripted" : message.model();
  const std::vector<int> lines = EntryLines(text, message.entries_size());
  std::vector<std::string> faults;
  const absl::Duration default_delay = FromProto(message.delay());
  if (default_delay < absl::ZeroDuration()) {
    faults.push_back(absl::StrCat(name, ": delay must not be negative"));
  }
  if (message.entries().empty()) faults.push_back(absl::StrCat(name, ": no entries"));
  for (int i = 0; i < message.entries_size(); ++i) {
    std::vector<std::string> entry_faults;
    Entry entry = EntryReader(message.entries(i), read_file, &entry_faults).Read(default_delay);
    entry.line = lines[i];
    for (const Entry& earlier : cassette.entries_) {
      if (earlier.key == entry.key) {
        entry_faults.push_back(absl::StrCat("same key (", entry.key.ToString(),
                                            ") as the entry in line ", earlier.line));
        break;
      }
    }
    for (const std::string& fault : entry_faults) {
      faults.push_back(absl::StrCat(name, ":", lines[i], ": entry ", i + 1, ": ", fault));
    }
    cassette.entries_.push_back(std::move(entry));
  }
  if (faults.empty()) return cassette;
  if (faults.size() > kMaxFaultsListed) {
    const size_t more = faults.size() - kMaxFaultsListed;
    faults.resize(kMaxFaultsListed);
    faults.push_back(absl::StrCat("and ", more, " more"));
  }
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

const Cassette::Entry* Cassette::Find(const CassetteKey& key) const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (!Fits(entry.key, key)) continue;
    if (best == nullptr || Specificity(entry.key) > Specificity(best->key)) best = &entry;
  }
  return best;
}

std::vector<std::string> Cassette::Nearest(const CassetteKey& key, size_t count) const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [&key](const Entry* a, const Entry* b) {
    return Likeness(a->key, key) > Likeness(b->key, key);
  });
  sorted.resize(std::min(count, sorted.size()));
  std::vector<std::string> texts;
  for (const Entry* entry : sorted) {
    texts.push_back(absl::StrCat(entry->key.ToString(), " (line ", entry->line, ")"));
  }
  return texts;
}

}  // namespace ksearch
