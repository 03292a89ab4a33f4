#include "gpu_worker/build/cuda/ptx_delays.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

// A hash of clock, warp and multiprocessor (its rounds are the first three of Chris Wellons's
// "triple32"), a coin, and a sleep whose longest time the top 4 bits halve up to 15 times, so that
// short and long ones are about as frequent: races of neighboring instructions need short delays,
// those of whole loops long ones. The longest, in nanoseconds, and kDelayEnd follow.
constexpr absl::string_view kDelay =
    "\n{ .reg .b32 %ks_h, %ks_t; .reg .pred %ks_p;\n"
    "mov.u32 %ks_h, %clock; mov.u32 %ks_t, %warpid;\n"
    "mad.lo.u32 %ks_h, %ks_t, 2654435769, %ks_h; mov.u32 %ks_t, %smid;\n"
    "mad.lo.u32 %ks_h, %ks_t, 2246822507, %ks_h;\n"
    "shr.u32 %ks_t, %ks_h, 17; xor.b32 %ks_h, %ks_h, %ks_t;\n"
    "mul.lo.u32 %ks_h, %ks_h, 3982152891; shr.u32 %ks_t, %ks_h, 11; xor.b32 %ks_h, %ks_h, %ks_t;\n"
    "mul.lo.u32 %ks_h, %ks_h, 2890668881; shr.u32 %ks_t, %ks_h, 15; xor.b32 %ks_h, %ks_h, %ks_t;\n"
    "and.b32 %ks_t, %ks_h, 134217728; setp.ne.u32 %ks_p, %ks_t, 0;\n"
    "shr.u32 %ks_t, %ks_h, 28; and.b32 %ks_h, %ks_h, ";
constexpr absl::string_view kDelayEnd =
    "; shr.u32 %ks_h, %ks_h, %ks_t;\n"
    "@%ks_p nanosleep.u32 %ks_h; }\n";
// One less than powers of 2. A kernel begins once, and may have no barrier at all.
constexpr int kLongestAtBarrier = (1 << 14) - 1;
constexpr int kLongestAtBeginning = (1 << 17) - 1;

// Prefixes of the instructions that order threads.
constexpr absl::string_view kOrdering[] = {
    "bar.",
    "barrier.",
    "mbarrier.",
    "fence.",
    "membar.",
    "cp.async.bulk.",
    "cp.async.commit_group",
    "cp.async.wait_",
    "cp.async.mbarrier.",
    "cp.reduce.async.bulk.",
    "wgmma.wait_group",
    "griddepcontrol.",
};
// Directives that end with their line.
constexpr absl::string_view kLines[] = {".version", ".target", ".address_size", ".file", ".loc"};

bool IsNameByte(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

// Walks over statements, copies everything, and inserts delays.
class Rewriter {
 public:
  explicit Rewriter(absl::string_view text) : text_(text) {}

  absl::StatusOr<DelayedPtx> Run() {
    result_.text.reserve(text_.size() + text_.size() / 2);
    while (at_ < text_.size()) {
      if (result_.text.size() > kMaxPtxBytes) {
        return absl::ResourceExhaustedError("with delays the PTX is larger than 64 MiB");
      }
      Step();
    }
    return std::move(result_);
  }

 private:
  void Copy(size_t end) {
    end = std::min(end, text_.size());
    absl::StrAppend(&result_.text, text_.substr(at_, end - at_));
    at_ = end;
  }
  void Delay(int longest_ns) { absl::StrAppend(&result_.text, kDelay, longest_ns, kDelayEnd); }
  size_t After(size_t found, size_t length) const {
    return found == absl::string_view::npos ? text_.size() : found + length;
  }
  // The position after the comment or string that begins at `i`; `i` itself if none does.
  size_t BehindQuoted(size_t i) const {
    const absl::string_view rest = text_.substr(i);
    if (absl::StartsWith(rest, "//")) return After(text_.find('\n', i), 1);
    if (absl::StartsWith(rest, "/*")) return After(text_.find("*/", i + 2), 2);
    if (absl::StartsWith(rest, "\"")) return After(text_.find('"', i + 1), 1);
    return i;
  }
  // The position after "name:" at the beginning of a statement; at_ if there is none.
  size_t BehindLabel() const {
    size_t i = at_;
    while (i < text_.size() && IsNameByte(text_[i])) ++i;
    if (i == at_) return at_;
    while (i < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[i]))) ++i;
    return i < text_.size() && text_[i] == ':' ? i + 1 : at_;
  }

  // Handles one item at a position where a statement may begin.
  void Step() {
    const char c = text_[at_];
    if (absl::ascii_isspace(static_cast<unsigned char>(c)) || c == '{' || c == '}' || c == ';') {
      return Copy(at_ + 1);
    }
    if (const size_t end = BehindQuoted(at_); end > at_) return Copy(end);
    if (const size_t end = BehindLabel(); end > at_) return Copy(end);
    for (const absl::string_view line : kLines) {
      if (absl::StartsWith(text_.substr(at_), line)) return Copy(After(text_.find('\n', at_), 1));
    }
    if (absl::StartsWith(text_.substr(at_), ".section")) {
      return Copy(After(text_.find('}', at_), 1));
    }
    Statement();
  }

  void Statement() {
    size_t end = at_;
    while (end < text_.size() && text_[end] != ';') {
      if (const size_t behind = BehindQuoted(end); behind > end) {
        end = behind;
        continue;
      }
      if (text_[end] == '{') {
        const absl::string_view head = text_.substr(at_, end - at_);
        const bool kernel = absl::StrContains(head, ".entry");
        if (kernel || absl::StrContains(head, ".func")) {
          begins_kernel_ = kernel;
          return Copy(end + 1);
        }
      }
      ++end;
    }
    const bool instruction = text_[at_] != '.';
    if (instruction && begins_kernel_) {
      begins_kernel_ = false;
      ++result_.kernels;
      Delay(kLongestAtBeginning);
    }
    const bool orders = instruction && Orders(text_.substr(at_, end - at_));
    if (orders) Delay(kLongestAtBarrier);
    Copy(end + 1);
    if (!orders) return;
    Delay(kLongestAtBarrier);
    ++result_.barriers;
  }

  static bool Orders(absl::string_view statement) {
    // "@!%p1 bar.sync 0"
    if (absl::StartsWith(statement, "@")) {
      size_t i = 1;
      while (i < statement.size() && (IsNameByte(statement[i]) || statement[i] == '!')) ++i;
      statement = absl::StripLeadingAsciiWhitespace(statement.substr(i));
    }
    return std::any_of(
        std::begin(kOrdering), std::end(kOrdering),
        [statement](absl::string_view begin) { return absl::StartsWith(statement, begin); });
  }

  const absl::string_view text_;
  size_t at_ = 0;
  bool begins_kernel_ = false;  // no instruction of this kernel was found yet
  DelayedPtx result_;
};

}  // namespace

absl::StatusOr<DelayedPtx> AddDelays(absl::string_view ptx) {
  if (ptx.size() > kMaxPtxBytes) {
    return absl::ResourceExhaustedError("the PTX is larger than 64 MiB");
  }
  return Rewriter(ptx).Run();
}

}  // namespace ksearch
