#include "gpu_worker/build/cuda/ptxas_report.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gpu_worker/build/cuda/kernel_name.h"

namespace ksearch {
namespace {

constexpr size_t kMaxLogBytes = 4 << 20;  // limit for the input read
constexpr size_t kMaxSymbolBytes = 4096;

// The number before `words` in a list such as "0 bytes stack frame, 8 bytes spill stores".
int64_t NumberBefore(absl::string_view list, absl::string_view words) {
  for (absl::string_view part : absl::StrSplit(list, ',')) {
    part = absl::StripAsciiWhitespace(part);
    absl::ConsumePrefix(&part, "used ");
    absl::ConsumePrefix(&part, "Used ");
    int64_t number = 0;
    const size_t space = part.find(' ');
    if (space == absl::string_view::npos || part.substr(space + 1) != words) continue;
    if (absl::SimpleAtoi(part.substr(0, space), &number) && number >= 0) return number;
  }
  return 0;
}

int32_t Small(int64_t number) { return static_cast<int32_t>(std::min<int64_t>(number, INT32_MAX)); }

class ReportReader {
 public:
  ReportReader() { kernels_.reserve(kMaxKernels); }

  // Returns true if the line belongs to the report.
  bool Read(absl::string_view line) {
    absl::string_view text = line;
    if (absl::ConsumePrefix(&text, "ptxas info")) {
      text = absl::StripLeadingAsciiWhitespace(text);
      if (!absl::ConsumePrefix(&text, ":")) return false;
      return Info(absl::StripLeadingAsciiWhitespace(text));
    }
    if (absl::StartsWith(line, "    ") && absl::StrContains(line, " bytes stack frame, ")) {
      if (current_ != nullptr && described_ == current_->symbol) {
        v1::KernelFacts& facts = current_->facts;
        facts.set_stack_bytes(NumberBefore(line, "bytes stack frame"));
        facts.set_spill_store_bytes(NumberBefore(line, "bytes spill stores"));
        facts.set_spill_load_bytes(NumberBefore(line, "bytes spill loads"));
      }
      return true;
    }
    return false;
  }

  std::vector<PtxasKernel> Take() { return std::move(kernels_); }

 private:
  bool Info(absl::string_view text) {
    if (absl::ConsumePrefix(&text, "Compiling entry function '")) {
      const absl::string_view symbol = text.substr(0, text.find('\''));
      current_ = nullptr;
      if (symbol.empty() || symbol.size() > kMaxSymbolBytes) return true;
      if (static_cast<int>(kernels_.size()) == kMaxKernels) return true;
      kernels_.push_back({std::string(symbol), {}});
      current_ = &kernels_.back();
      current_->facts.set_name(KernelName(symbol));
      return true;
    }
    if (absl::ConsumePrefix(&text, "Function properties for ")) {
      described_ = std::string(absl::StripAsciiWhitespace(text).substr(0, kMaxSymbolBytes));
      return true;
    }
    if (absl::StartsWith(text, "Used ")) {
      if (current_ != nullptr) {
        v1::KernelFacts& facts = current_->facts;
        facts.set_registers(Small(NumberBefore(text, "registers")));
        facts.set_barriers(Small(NumberBefore(text, "barriers")));
        facts.set_static_shared_bytes(NumberBefore(text, "bytes smem"));
      }
      return true;
    }
    // "0 bytes gmem", "Compile time = ...", "Function Properties": not useful.
    return !absl::StartsWith(text, "(C");
  }

  std::vector<PtxasKernel> kernels_;  // reserved: current_ points into it
  PtxasKernel* current_ = nullptr;
  std::string described_;
};

}  // namespace

PtxasReport ReadPtxasReport(absl::string_view log) {
  PtxasReport report;
  ReportReader reader;
  for (absl::string_view line : absl::StrSplit(log.substr(0, kMaxLogBytes), '\n')) {
    if (reader.Read(line)) continue;
    // "(C7510) Potential Performance Loss: ..."
    if (absl::ConsumePrefix(&line, "ptxas info")) {
      const size_t text = line.find("(C");
      absl::StrAppend(&report.other_lines,
                      "ptxas warning : ", line.substr(std::min(text, line.size())), "\n");
      continue;
    }
    absl::StrAppend(&report.other_lines, line, "\n");
  }
  report.kernels = reader.Take();
  return report;
}

}  // namespace ksearch
