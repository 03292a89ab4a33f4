// ParseCodeReply: from a model's text to a set of source files.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/proposer/reply/fences.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

constexpr absl::string_view kCloseTag = "</file>";
constexpr size_t kMaxPathBytes = 120;
constexpr size_t kMaxTagBytes = 400;

struct Candidate {
  std::string path;  // as written; empty: unnamed
  std::string content;
};

absl::Status Fault(absl::string_view what) { return absl::InvalidArgumentError(what); }

// A path without "./" at its beginning.
std::string WithoutDot(absl::string_view path) {
  while (absl::ConsumePrefix(&path, "./")) {
  }
  return std::string(path);
}

// The value of `path` (or `name`, `filename`) in the inside of a tag; nullopt if there is none.
std::optional<std::string> PathAttribute(absl::string_view attributes) {
  for (absl::string_view key : {"path", "name", "filename"}) {
    size_t at = 0;
    while ((at = attributes.find(key, at)) != absl::string_view::npos) {
      const bool starts_word =
          at == 0 || absl::ascii_isspace(static_cast<unsigned char>(attributes[at - 1]));
      absl::string_view rest =
          absl::StripLeadingAsciiWhitespace(attributes.substr(at + key.size()));
      at += key.size();
      if (!starts_word || !absl::ConsumePrefix(&rest, "=")) continue;
      rest = absl::StripLeadingAsciiWhitespace(rest);
      // Straight, single, back and typographic quotes, or none.
      constexpr std::pair<absl::string_view, absl::string_view> kQuotes[] = {
          {"\"", "\""},
          {"'", "'"},
          {"`", "`"},
          {"\xE2\x80\x9C", "\xE2\x80\x9D"},
          {"\xE2\x80\x98", "\xE2\x80\x99"}};
      for (const auto& [left, right] : kQuotes) {
        if (absl::ConsumePrefix(&rest, left)) {
          return std::string(absl::StripAsciiWhitespace(rest.substr(0, rest.find(right))));
        }
      }
      return std::string(rest.substr(0, rest.find_first_of(" \t")));
    }
  }
  return std::nullopt;
}

// An opening <file ...> tag that is the first thing on its line.
struct OpenTag {
  size_t begin = 0;
  size_t end = 0;  // position after '>'
  absl::string_view attributes;
};

std::optional<OpenTag> NextOpenTag(absl::string_view text, size_t from) {
  size_t at = from;
  while ((at = text.find('<', at)) != absl::string_view::npos) {
    const size_t begin = at++;
    if (!absl::StartsWithIgnoreCase(text.substr(begin), "<file")) continue;
    const absl::string_view rest = text.substr(begin + 5, kMaxTagBytes);
    if (rest.empty() || (rest[0] != ' ' && rest[0] != '\t' && rest[0] != '>')) continue;
    const size_t close = rest.find('>');
    if (close == absl::string_view::npos || rest.substr(0, close).find('\n') != rest.npos) continue;
    const size_t line_begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;
    if (begin - line_begin > kMaxTagBytes) continue;
    const absl::string_view before = text.substr(line_begin, begin - line_begin);
    // The position after a closing tag counts as a line's beginning.
    if (!absl::StripAsciiWhitespace(before).empty() &&
        !absl::EndsWith(absl::StripTrailingAsciiWhitespace(before), kCloseTag)) {
      continue;
    }
    return OpenTag{begin, begin + 5 + close + 1, rest.substr(0, close)};
  }
  return std::nullopt;
}

// `rest`, if not null, becomes the text without the blocks.
absl::StatusOr<std::vector<Candidate>> FileBlocks(absl::string_view text,
                                                  std::string* rest = nullptr) {
  std::vector<Candidate> blocks;
  size_t at = 0;
  if (rest != nullptr) rest->clear();
  while (std::optional<OpenTag> tag = NextOpenTag(text, at)) {
    const std::optional<std::string> path = PathAttribute(tag->attributes);
    if (!path.has_value() || path->empty()) {
      return Fault(
          "a <file> tag has no path; write <file path=\"...\"> with the file's name in quotes");
    }
    const size_t close = text.find(kCloseTag, tag->end);
    if (close == absl::string_view::npos) {
      return Fault(absl::StrCat("the block of file '", SafeLine(*path, 80),
                                "' is never closed by </file>: the reply seems to be cut off; "
                                "send every file whole"));
    }
    const absl::string_view content = text.substr(tag->end, close - tag->end);
    if (const std::optional<OpenTag> inner = NextOpenTag(content, 0);
        inner.has_value() && PathAttribute(inner->attributes).has_value()) {
      return Fault(absl::StrCat("the block of file '", SafeLine(*path, 80),
                                "' is not closed by </file> before the next <file> tag"));
    }
    blocks.push_back({*path, CleanContent(content)});
    if (rest != nullptr) absl::StrAppend(rest, text.substr(at, tag->begin - at), "\n");
    at = close + kCloseTag.size();
  }
  if (rest != nullptr) absl::StrAppend(rest, text.substr(at));
  return blocks;
}

bool DefinesEntry(absl::string_view text, const LanguageFacts& language) {
  if (language.entry_lines.empty()) return absl::StrContains(text, language.entry);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (std::any_of(language.entry_lines.begin(), language.entry_lines.end(),
                    [&](absl::string_view start) { return absl::StartsWith(line, start); })) {
      return true;
    }
  }
  return false;
}

// The fault of a program for which DefinesEntry is false.
std::string NoEntry(const LanguageFacts& language) {
  if (language.entry_lines.empty()) {
    return absl::StrCat("(\"", language.entry, "\" does not occur)");
  }
  const std::vector<absl::string_view> shown(
      language.entry_lines.begin(),
      language.entry_lines.begin() + std::min<size_t>(2, language.entry_lines.size()));
  return absl::StrCat("(no line begins with \"", absl::StrJoin(shown, "\" or \""), "\")");
}

bool LooksLikeCode(absl::string_view text, const LanguageFacts& language) {
  if (!DefinesEntry(text, language)) return false;
  const absl::string_view start = absl::StripLeadingAsciiWhitespace(text);
  return std::any_of(language.openings.begin(), language.openings.end(),
                     [&](absl::string_view opening) { return absl::StartsWith(start, opening); });
}

// The blocks whose first line is a comment that names a file, in a language with one main file.
// None unless one of them has the entry, nor where a name comes twice: then one of the two is an
// excerpt that must not stand in for the whole.
std::vector<Candidate> NamedByComments(const std::vector<const Fence*>& fences,
                                       const LanguageFacts& facts) {
  if (!facts.has_one_main_file) return {};
  std::vector<Candidate> named;
  absl::flat_hash_set<std::string> paths;
  bool has_entry = false;
  for (const Fence* fence : fences) {
    const std::string path = WithoutDot(PathInFirstComment(fence->content, facts));
    if (path.empty()) continue;
    if (!paths.insert(path).second) return {};
    named.push_back({path, fence->content});
    has_entry |= DefinesEntry(fence->content, facts);
  }
  return has_entry ? named : std::vector<Candidate>();
}

absl::StatusOr<std::vector<Candidate>> FencedFiles(absl::string_view text,
                                                   const LanguageFacts& facts) {
  bool unclosed = false;
  const std::vector<Fence> fences = FindFences(text, facts, &unclosed);
  std::vector<Candidate> named;
  std::vector<const Fence*> unnamed;
  std::vector<const Fence*> with_entry;
  for (const Fence& fence : fences) {
    if (!fence.path.empty()) {
      named.push_back({fence.path, fence.content});
    } else if (IsProgramTag(fence.tag, facts)) {
      unnamed.push_back(&fence);
      if (DefinesEntry(fence.content, facts)) with_entry.push_back(&fence);
    }
  }
  if (unclosed) {
    return Fault(
        "a code fence is opened but never closed: the reply seems to be cut off; send "
        "every file whole in a <file path=\"...\"> block");
  }
  if (!named.empty()) return named;
  if (std::vector<Candidate> commented = NamedByComments(unnamed, facts); commented.size() > 1) {
    return commented;
  }
  // Short excerpts beside the program are common; the entry point tells them apart.
  const std::vector<const Fence*>& pick = unnamed.size() == 1 ? unnamed : with_entry;
  if (pick.size() == 1) {
    return std::vector<Candidate>{{std::string(facts.main_path), pick[0]->content}};
  }
  if (unnamed.size() > 1) {
    return Fault(
        absl::StrCat("the reply has ", unnamed.size(), " fenced blocks, of which ",
                     with_entry.size(), " define ", facts.entry,
                     ", and none is named; put each file into a <file path=\"...\"> block"));
  }
  return std::vector<Candidate>{};
}

absl::Status CheckPath(absl::string_view path) {
  const std::string shown = SafeLine(path, 80);
  if (path.size() > kMaxPathBytes) {
    return Fault(
        absl::StrCat("file path '", shown, "' is longer than ", kMaxPathBytes, " characters"));
  }
  if (absl::StartsWith(path, "/")) {
    return Fault(absl::StrCat("file path '", shown, "' must be relative"));
  }
  for (absl::string_view component : absl::StrSplit(path, '/')) {
    if (component.empty() || absl::StrContains(component, "..") || component[0] == '.' ||
        component[0] == '-') {
      return Fault(absl::StrCat("file path '", shown,
                                "' must consist of plain names (no \"..\", none empty, none "
                                "starting with '.' or '-')"));
    }
    for (char c : component) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '-') {
        return Fault(absl::StrCat("file path '", shown,
                                  "' may hold only letters, digits, '_', '.', '-' and '/'"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckContent(const Candidate& file) {
  const auto fault = [&](absl::string_view what) {
    return Fault(absl::StrCat("file '", SafeLine(file.path, 80), "' ", what));
  };
  if (file.content.empty()) return fault("is empty");
  if (file.content.find('\0') != std::string::npos) return fault("holds a NUL character");
  if (!IsValidUtf8(file.content)) return fault("is not valid UTF-8");
  if (absl::StrContains(file.content, kCloseTag)) return fault("holds the text \"</file>\"");
  return absl::OkStatus();
}

absl::Status CheckMainFile(const v1::Sources& sources, const LanguageFacts& facts) {
  if (!facts.has_one_main_file) return absl::OkStatus();
  int outside_folders = 0;
  for (const v1::SourceFile& file : sources.files()) {
    if (file.path() == facts.main_path) return absl::OkStatus();
    if (!absl::StrContains(file.path(), '/')) ++outside_folders;
  }
  if (outside_folders == 1) return absl::OkStatus();
  return Fault(absl::StrCat("of ", sources.files_size(), " files none is ", facts.main_path,
                            ", which is the one that is loaded and imports the others"));
}

absl::StatusOr<v1::Sources> ToSources(std::vector<Candidate> files, v1::Language language,
                                      const LanguageFacts& facts) {
  v1::Sources sources;
  sources.set_language(language);
  int64_t total_bytes = 0;
  for (Candidate& file : files) {
    file.path = WithoutDot(file.path);
    RETURN_IF_ERROR(CheckPath(file.path));
    if (file.path == kKernelHeaderName) continue;
    RETURN_IF_ERROR(CheckContent(file));
    v1::SourceFile* slot = nullptr;
    for (v1::SourceFile& known : *sources.mutable_files()) {
      if (known.path() == file.path) slot = &known;
    }
    if (slot == nullptr) {
      if (sources.files_size() == kMaxSourceFiles) {
        return Fault(absl::StrCat("the reply has more than ", kMaxSourceFiles, " files"));
      }
      slot = sources.add_files();
    }
    total_bytes +=
        static_cast<int64_t>(file.content.size()) - static_cast<int64_t>(slot->content().size());
    slot->set_path(file.path);
    slot->set_content(std::move(file.content));
  }
  if (total_bytes > kMaxSourceBytes) {
    return Fault(absl::StrCat("the files hold ", total_bytes, " bytes together; at most ",
                              kMaxSourceBytes, " are allowed"));
  }
  bool has_entry = false;
  for (const v1::SourceFile& file : sources.files()) {
    has_entry |= DefinesEntry(file.content(), facts);
  }
  if (!HasMainFile(sources.files(), facts)) {
    return Fault(absl::StrCat("no file ends in ", absl::StrJoin(facts.main_extensions, " or "),
                              "; the program belongs into ", facts.main_path));
  }
  RETURN_IF_ERROR(CheckMainFile(sources, facts));
  if (!has_entry) {
    return Fault(absl::StrCat("no file defines the entry point ", NoEntry(facts),
                              "; send the whole program, not an excerpt"));
  }
  return sources;
}

}  // namespace

namespace {

// The language's facts, with these lines as entries, too. Borrows `form_beginnings`.
LanguageFacts WithForms(v1::Language language, const std::vector<std::string>& form_beginnings) {
  LanguageFacts facts = FactsOf(language);
  // Without entry lines, a word anywhere is the entry, and all programs have it.
  if (!facts.entry_lines.empty()) {
    // After the usual one, as complaints show only the first two.
    facts.entry_lines.insert(facts.entry_lines.begin() + 1, form_beginnings.begin(),
                             form_beginnings.end());
  }
  return facts;
}

}  // namespace

std::vector<std::string> FormBeginnings(const v1::Task& task, v1::Language language) {
  std::vector<std::string> beginnings;
  for (const v1::ProgramForm& form : task.forms()) {
    if (form.language() != language) continue;
    beginnings.insert(beginnings.end(), form.begins().begin(), form.begins().end());
  }
  return beginnings;
}

absl::StatusOr<v1::Sources> ParseCodeReply(absl::string_view reply, v1::Language language,
                                           const std::vector<std::string>& form_beginnings) {
  if (static_cast<int64_t>(reply.size()) > kMaxReplyBytes) {
    return Fault(absl::StrCat("the reply has ", reply.size(), " bytes; at most ", kMaxReplyBytes,
                              " are read"));
  }
  const std::string text = absl::StrReplaceAll(reply, {{"\r\n", "\n"}, {"\r", "\n"}});
  if (absl::StripAsciiWhitespace(text).empty()) return Fault("the reply is empty");
  const LanguageFacts facts = WithForms(language, form_beginnings);
  ASSIGN_OR_RETURN(std::vector<Candidate> files, FileBlocks(text));
  if (files.empty()) {
    ASSIGN_OR_RETURN(files, FencedFiles(text, facts));
  }
  if (files.empty() && LooksLikeCode(text, facts)) {
    files.push_back({std::string(facts.main_path), CleanContent(text)});
  }
  if (files.empty()) {
    return Fault(absl::StrCat("the reply holds no program: neither a <file path=\"",
                              facts.main_path,
                              "\">...</file> block nor a fenced code block was found"));
  }
  return ToSources(std::move(files), language, facts);
}

absl::StatusOr<std::vector<v1::SourceFile>> FileBlocksIn(absl::string_view text,
                                                         std::string* rest) {
  ASSIGN_OR_RETURN(const std::vector<Candidate> blocks, FileBlocks(text, rest));
  std::vector<v1::SourceFile> files;
  for (const Candidate& block : blocks) {
    v1::SourceFile& file = files.emplace_back();
    file.set_path(WithoutDot(block.path));
    file.set_content(block.content);
  }
  return files;
}

absl::StatusOr<v1::Sources> CheckedSources(const v1::Sources& sources,
                                           const std::vector<std::string>& form_beginnings) {
  std::vector<Candidate> files;
  for (const v1::SourceFile& file : sources.files()) {
    files.push_back({file.path(), CleanContent(file.content())});
  }
  return ToSources(std::move(files), sources.language(),
                   WithForms(sources.language(), form_beginnings));
}

std::string RenderSources(const v1::Sources& sources) {
  std::string text;
  for (const v1::SourceFile& file : sources.files()) {
    absl::StrAppend(&text, "<file path=\"", file.path(), "\">\n", file.content(),
                    absl::EndsWith(file.content(), "\n") ? "" : "\n", kCloseTag, "\n");
  }
  return text;
}

}  // namespace ksearch
