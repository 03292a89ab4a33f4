#include "gpu_worker/verifier/instruments/sanitizer_report.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

using Finding = v1::SanitizerFinding;

constexpr absl::string_view kMark = "=========";
constexpr size_t kMaxKernelBytes = 200;
constexpr size_t kMaxTextBytes = 500;
// Lines of one finding beyond its first.
constexpr size_t kMaxDetails = 4;

std::string Printable(absl::string_view text, size_t max_bytes) {
  std::string clean;
  for (const char c : text) {
    if (clean.size() == max_bytes) break;
    clean.push_back(c >= 0x20 && c < 0x7F ? c : '?');
  }
  return clean;
}

// "void ns::sum<(int)4>(float *, int)" -> "ns::sum<(int)4>".
absl::string_view WithoutSignature(absl::string_view name) {
  int depth = 0;
  size_t end = name.size(), begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    if (depth > 0) continue;
    if (name[i] == ' ' && i + 1 < name.size() && name[i + 1] != '(') begin = i + 1;
    if (name[i] == '(' && !absl::StartsWith(name.substr(i), "(anonymous namespace)")) {
      end = i;
      break;
    }
  }
  // "(anonymous namespace)" contains a space.
  if (absl::StartsWith(name, "(anonymous")) begin = 0;
  return name.substr(std::min(begin, end), end - std::min(begin, end));
}

// Returns the kernel in "... at NAME+0x1a0 in FILE:LINE", "at NAME:0x1a0 in FILE:LINE" or, in older
// versions, "at 0x1a0 in FILE:LINE:NAME".
std::string KernelIn(absl::string_view line) {
  const size_t at = absl::StartsWith(line, "at ") ? 0 : line.find(" at ");
  if (at == absl::string_view::npos) return "";
  absl::string_view place = line.substr(at);
  absl::ConsumePrefix(&place, " ");
  absl::ConsumePrefix(&place, "at ");
  if (absl::StartsWith(place, "0x")) {
    const size_t in = place.find(" in ");
    if (in == absl::string_view::npos) return "";
    place.remove_prefix(in + 4);
    const size_t colon = place.find(':');
    const size_t next = colon == absl::string_view::npos ? colon : place.find(':', colon + 1);
    if (next == absl::string_view::npos) return "";
    place.remove_prefix(next + 1);
  } else {
    size_t offset = place.find("+0x");
    if (offset == absl::string_view::npos) offset = place.find(":0x");
    if (offset == absl::string_view::npos) return "";
    place = place.substr(0, offset);
  }
  return Printable(WithoutSignature(place), kMaxKernelBytes);
}

// Reads FILE and LINE in "... in FILE:LINE" or "... in FILE:LINE:NAME", which the tool writes for
// code built with line numbers. The folder is the builder's and tells nothing.
void ReadPlace(absl::string_view line, Finding* finding) {
  const size_t in = line.rfind(" in ");
  if (in == absl::string_view::npos || finding->line() > 0) return;
  absl::string_view place = line.substr(in + 4);
  const size_t colon = place.find(':');
  if (colon == absl::string_view::npos || colon == 0) return;
  absl::string_view digits = place.substr(colon + 1);
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  int number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number <= 0) return;
  absl::string_view file = place.substr(0, colon);
  file = file.substr(
      file.find_last_of('/') == absl::string_view::npos ? 0 : file.find_last_of('/') + 1);
  finding->set_file(Printable(file, kMaxKernelBytes));
  finding->set_line(number);
}

// A finding while it is being parsed.
struct Draft {
  absl::string_view head;
  std::vector<absl::string_view> details;
};

bool HasDetail(const Draft& draft, absl::string_view part) {
  return std::any_of(draft.details.begin(), draft.details.end(),
                     [part](absl::string_view line) { return absl::StrContains(line, part); });
}

// Returns false if the candidate did not cause it.
bool Classify(const std::string& tool, const Draft& draft, Finding* finding) {
  const absl::string_view head = draft.head;
  if (absl::StartsWith(head, "Invalid __") || absl::StartsWith(head, "Invalid async") ||
      absl::StartsWith(head, "Invalid bulk")) {
    finding->set_kind(HasDetail(draft, "misaligned") ? Finding::BAD_ACCESS
                                                     : Finding::OUT_OF_BOUNDS);
    return true;
  }
  if (absl::StartsWith(head, "Uninitialized ")) {
    finding->set_kind(Finding::UNINITIALIZED);
    return true;
  }
  for (const absl::string_view severity : {"Error: ", "Warning: ", "Info: "}) {
    // The documentation writes them in capitals, but the tool does not.
    if (!absl::StartsWithIgnoreCase(head, severity)) continue;
    const bool race =
        absl::StrContains(head, "Race reported") || absl::StrContains(head, "hazard detected");
    if (!race || severity == "Info: ") return false;
    finding->set_kind(Finding::RACE);
    finding->set_warning(severity != "Error: ");
    return true;
  }
  // Findings in a kernel name a thread.
  if (!HasDetail(draft, "by thread")) return false;
  if (tool == "synccheck") {
    finding->set_kind(Finding::BAD_SYNCHRONIZATION);
  } else if (tool == "memcheck") {
    finding->set_kind(Finding::BAD_ACCESS);
  } else {
    finding->set_kind(Finding::OTHER);
    finding->set_warning(true);
  }
  return true;
}

void Keep(const std::string& tool, const Draft& draft, SanitizerLog* log) {
  if (draft.head.empty()) return;
  const absl::string_view head = draft.head;
  if (absl::StrContains(head, " SUMMARY:")) {
    log->complete = true;
    return;
  }
  Finding finding;
  if (!Classify(tool, draft, &finding)) {
    const bool own = absl::StartsWith(head, "Error: ") || absl::StartsWith(head, "Fatal") ||
                     absl::StrContains(head, "Internal Sanitizer Error");
    if (own && log->trouble.empty()) log->trouble = Printable(head, kMaxTextBytes);
    return;
  }
  finding.set_tool(tool);
  std::string text(head);
  finding.set_kernel(KernelIn(head));
  ReadPlace(head, &finding);
  for (const absl::string_view line : draft.details) {
    absl::StrAppend(&text, "; ", line);
    if (finding.kernel().empty()) finding.set_kernel(KernelIn(line));
    ReadPlace(line, &finding);
  }
  finding.set_text(Printable(text, kMaxTextBytes));
  for (const Finding& other : log->findings) {
    if (other.kind() == finding.kind() && other.kernel() == finding.kernel() &&
        other.warning() == finding.warning()) {
      return;
    }
  }
  if (!finding.warning()) {
    const auto first_warning = std::find_if(log->findings.begin(), log->findings.end(),
                                            [](const Finding& other) { return other.warning(); });
    log->findings.insert(first_warning, std::move(finding));
  } else {
    log->findings.push_back(std::move(finding));
  }
  if (log->findings.size() > static_cast<size_t>(kMaxSanitizerFindings)) log->findings.pop_back();
}

}  // namespace

SanitizerLog ReadSanitizerReport(const std::string& tool, absl::string_view text) {
  SanitizerLog log;
  Draft draft;
  for (absl::string_view line : absl::StrSplit(text.substr(0, kMaxSanitizerReportBytes), '\n')) {
    if (!absl::ConsumePrefix(&line, kMark)) continue;
    absl::ConsumePrefix(&line, " ");
    line = absl::StripTrailingAsciiWhitespace(line);
    if (line.empty()) continue;
    if (line[0] == ' ' || line[0] == '\t') {
      if (draft.details.size() < kMaxDetails) {
        draft.details.push_back(absl::StripLeadingAsciiWhitespace(line));
      }
      continue;
    }
    Keep(tool, draft, &log);
    draft = {line, {}};
  }
  Keep(tool, draft, &log);
  return log;
}

}  // namespace ksearch
