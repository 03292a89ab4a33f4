#include "gpu_worker/build/diagnostics.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr size_t kMaxLogBytes = 4 << 20;  // limit for the input read
constexpr size_t kMaxLineBytes = 400;     // template types can fill pages
constexpr size_t kMaxMessageBytes = 1000;
// The number of context lines that an error keeps. The first steps of a backtrace lead to the
// candidate's own line; the rest is inside the library.
constexpr int kMaxBacktraceLines = 3;
constexpr int kMaxNotes = 3;
constexpr int kMaxCodeLines = 4;

bool IsPathCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains("_./+-", c);
}

// Bytes of the UTF-8 sequence `text` begins with; 0 if it begins with none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if (length >= 3) {
    const unsigned second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) {
      return 0;
    }
  }
  return length;
}

// Returns true if a character is safe to show: not a control character (a terminal may obey those
// from U+0080 on, too), nor one that hides, joins or reorders its neighbors, or breaks the line.
bool IsShown(absl::string_view sequence) {
  struct Range {
    uint32_t first, last;
  };
  // Unicode 15: categories Cc, Cf, Zl and Zp.
  constexpr Range kNotShown[] = {
      {0x00, 0x08},       {0x0A, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},
      {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
      {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},   {0x200B, 0x200F},
      {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
      {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
      {0x1D173, 0x1D17A}, {0xE0001, 0xE007F}};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  uint32_t code = sequence.size() == 1 ? byte(0) : byte(0) & (0xFFu >> (sequence.size() + 1));
  for (size_t i = 1; i < sequence.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return std::none_of(std::begin(kNotShown), std::end(kNotShown), [&](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

// Keeps shown characters and tabs, with '?' for invalid UTF-8; reduces "/a/b/c.h" to "c.h".
std::string CleanLine(absl::string_view line) {
  std::string clean;
  for (size_t i = 0; i < line.size() && clean.size() <= kMaxLineBytes;) {
    const char c = line[i];
    const bool starts_path = c == '/' && (i == 0 || !IsPathCharacter(line[i - 1]));
    if (starts_path) {
      size_t end = i;
      while (end < line.size() && IsPathCharacter(line[end])) ++end;
      const absl::string_view path = line.substr(i, end - i);
      // A lone slash, or a comment, is an operator of the quoted code.
      if (std::count(path.begin(), path.end(), '/') >= 2 && !absl::StartsWith(path, "//")) {
        absl::StrAppend(&clean, path.substr(path.rfind('/') + 1));
        i = end;
        continue;
      }
    }
    const size_t length = Utf8Length(line.substr(i));
    if (length == 0) {
      clean.push_back('?');
    } else if (IsShown(line.substr(i, length))) {
      absl::StrAppend(&clean, line.substr(i, length));
    }
    i += std::max<size_t>(length, 1);
  }
  if (clean.size() > kMaxLineBytes) {
    CutUtf8(kMaxLineBytes, &clean);
    clean += " ...";
  }
  return clean;
}

// The formats of nvcc's front end: "kernel.cu(12): error: message", "kernel.cu(12): warning #177-D:
// message"; and of its other tools: "ptxas error   : message", "ptxas /tmp/x.ptx, line 27; error
// : message" (a line of PTX, which the author does not see), "nvcc fatal   : message".
std::optional<v1::Diagnostic> ParseNvccHead(absl::string_view line) {
  v1::Diagnostic diagnostic;
  for (absl::string_view tool : {"ptxas ", "nvcc ", "nvlink ", "fatbinary "}) {
    if (!absl::StartsWith(line, tool)) continue;
    for (absl::string_view severity : {"error", "fatal", "warning"}) {
      const size_t at = line.find(severity);
      if (at == absl::string_view::npos) continue;
      const absl::string_view before = line.substr(0, at);
      absl::string_view message = line.substr(at + severity.size());
      message = absl::StripLeadingAsciiWhitespace(message);
      if (!absl::ConsumePrefix(&message, ":")) continue;
      if (before != tool && !absl::EndsWith(before, "; ")) continue;
      diagnostic.set_severity(severity == "warning" ? "warning" : "error");
      diagnostic.set_message(
          absl::StrCat(absl::StripAsciiWhitespace(tool), ": ",
                       absl::StripAsciiWhitespace(message).substr(0, kMaxMessageBytes - 16)));
      return diagnostic;
    }
    return std::nullopt;
  }
  const size_t open = line.find('(');
  if (open == absl::string_view::npos || open == 0) return std::nullopt;
  const absl::string_view file = line.substr(0, open);
  absl::string_view rest = line.substr(open + 1);
  size_t digits = 0;
  while (digits < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[digits]))) {
    ++digits;
  }
  int number = 0;
  if (absl::StrContains(file, " ") || !absl::SimpleAtoi(rest.substr(0, digits), &number)) {
    return std::nullopt;
  }
  rest.remove_prefix(digits);
  if (!absl::ConsumePrefix(&rest, "): ")) return std::nullopt;
  for (absl::string_view severity :
       {"error", "warning", "remark", "catastrophic error", "internal error"}) {
    absl::string_view message = rest;
    if (!absl::ConsumePrefix(&message, severity)) continue;
    if (absl::StartsWith(message, " #")) {  // the number of the message
      message.remove_prefix(std::min(message.find(':'), message.size()));
    }
    if (!absl::ConsumePrefix(&message, ": ")) continue;
    diagnostic.set_file(std::string(file));
    diagnostic.set_line(number);
    diagnostic.set_severity(severity == "warning" || severity == "remark" ? "warning" : "error");
    diagnostic.set_message(std::string(message.substr(0, kMaxMessageBytes)));
    return diagnostic;
  }
  return std::nullopt;
}

// "file:line:column: severity: message", "file: severity: message", or a linker's complaint.
std::optional<v1::Diagnostic> ParseHead(absl::string_view line) {
  if (auto nvcc = ParseNvccHead(line)) return nvcc;
  v1::Diagnostic diagnostic;
  for (absl::string_view severity : {"fatal error", "internal compiler error", "error", "warning",
                                     "note", "sorry, unimplemented"}) {
    const std::string mark = absl::StrCat(": ", severity, ": ");
    const size_t at = line.find(mark);
    if (at == absl::string_view::npos) continue;
    const std::vector<absl::string_view> where = absl::StrSplit(line.substr(0, at), ':');
    // The place has no spaces: "error:" inside a quoted string is not a head.
    if (absl::StrContains(where[0], " ")) continue;
    int number = 0;
    if (where.size() >= 2 && absl::SimpleAtoi(where[1], &number)) diagnostic.set_line(number);
    diagnostic.set_file(std::string(where[0]));
    diagnostic.set_severity(severity == "warning" || severity == "note" ? std::string(severity)
                                                                        : "error");
    diagnostic.set_message(std::string(line.substr(at + mark.size(), kMaxMessageBytes)));
    return diagnostic;
  }
  for (absl::string_view mark : {"undefined reference to", "multiple definition of",
                                 "cannot find -l", "relocation truncated", "required symbol"}) {
    const size_t at = line.find(mark);
    if (at == absl::string_view::npos) continue;
    diagnostic.set_severity("error");
    diagnostic.set_message(std::string(line.substr(at, kMaxMessageBytes)));
    return diagnostic;
  }
  return std::nullopt;
}

bool IsContext(absl::string_view line) {
  return absl::StartsWith(line, "In file included from ") ||
         absl::StartsWith(absl::StripLeadingAsciiWhitespace(line), "from ") ||
         absl::StrContains(line, ": In ") || absl::StrContains(line, ": At global scope") ||
         absl::StrContains(line, "required from") || absl::StrContains(line, "required by") ||
         absl::StrContains(line, ": in function ");
}

// One error or warning with the lines around it.
struct Block {
  v1::Diagnostic head;
  std::vector<std::string> lines;
};

// Splits the log into blocks, already shortened. Drops lines that belong to no block.
class BlockReader {
 public:
  void Read(std::string line) {
    const std::optional<v1::Diagnostic> head = ParseHead(line);
    if (!head.has_value()) {
      if (IsContext(line)) {
        if (++backtrace_ <= kMaxBacktraceLines) context_.push_back(std::move(line));
        code_ = kMaxCodeLines;  // lines after a context line are not the block's code
      } else if (!blocks_.empty() && code_ < kMaxCodeLines) {
        ++code_;
        blocks_.back().lines.push_back(std::move(line));
      }
      return;
    }
    if (head->severity() == "note") {
      context_.clear();
      backtrace_ = 0;
      if (blocks_.empty() || ++notes_ > kMaxNotes) {
        code_ = kMaxCodeLines;
        return;
      }
      code_ = 0;
      blocks_.back().lines.push_back(std::move(line));
      return;
    }
    Block block;
    block.head = *head;
    block.lines = std::move(context_);
    block.lines.push_back(std::move(line));
    blocks_.push_back(std::move(block));
    context_.clear();
    backtrace_ = notes_ = code_ = 0;
  }

  std::vector<Block> Take() { return std::move(blocks_); }

 private:
  std::vector<Block> blocks_;
  std::vector<std::string> context_;
  int backtrace_ = 0, notes_ = 0, code_ = 0;
};

// The linker's closing message adds nothing to its errors.
bool Redundant(const v1::Diagnostic& head) {
  return absl::StartsWith(head.message(), "ld returned") ||
         absl::StrContains(head.message(), "Ptx assembly aborted") ||
         absl::StartsWith(head.message(), "linker command failed");
}

}  // namespace

void CutUtf8(size_t limit, std::string* text) {
  if (text->size() <= limit) return;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
  text->resize(end);
}

CompilerLog DigestCompilerLog(absl::string_view log) {
  BlockReader reader;
  std::string plain;  // for a log without any recognizable error
  for (absl::string_view raw : absl::StrSplit(log.substr(0, kMaxLogBytes), '\n')) {
    std::string line = CleanLine(raw);
    if (absl::StripAsciiWhitespace(line).empty() ||
        absl::StartsWith(line, "Remark: The warnings can be suppressed")) {
      continue;
    }
    if (plain.size() < kMaxLogExcerptBytes) absl::StrAppend(&plain, line, "\n");
    reader.Read(std::move(line));
  }
  std::vector<Block> blocks = reader.Take();
  std::stable_partition(blocks.begin(), blocks.end(),
                        [](const Block& block) { return block.head.severity() == "error"; });
  CompilerLog digest;
  std::set<std::string> seen;
  // Room for the closing line.
  constexpr size_t kRoom = kMaxLogExcerptBytes - 100;
  int left_out = 0;
  for (Block& block : blocks) {
    const bool only_redundant = Redundant(block.head) && !digest.diagnostics.empty();
    const std::string key = absl::StrCat(block.head.file(), ":", block.head.line(), ":",
                                         block.head.severity(), ":", block.head.message());
    if (only_redundant || !seen.insert(key).second) continue;
    if (digest.diagnostics.size() < kMaxDiagnostics) digest.diagnostics.push_back(block.head);
    std::string text;
    for (const std::string& line : block.lines) absl::StrAppend(&text, line, "\n");
    if (digest.excerpt.empty()) CutUtf8(kRoom, &text);
    if (left_out > 0 || digest.excerpt.size() + text.size() > kRoom) {
      ++left_out;
    } else {
      digest.excerpt += text;
    }
  }
  if (left_out > 0) absl::StrAppend(&digest.excerpt, "[", left_out, " more errors or warnings]\n");
  if (digest.excerpt.empty()) digest.excerpt = std::move(plain);
  CutUtf8(kMaxLogExcerptBytes, &digest.excerpt);
  return digest;
}

}  // namespace ksearch
