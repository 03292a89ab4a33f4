#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr int kMaxSanitizerFindings = 5;  // a tool
// How much of a report is read; the rest is ignored.
inline constexpr size_t kMaxSanitizerReportBytes = size_t{1} << 20;

// The report of one tool of compute-sanitizer.
struct SanitizerLog {
  // Errors before warnings, at most kMaxSanitizerFindings, each kernel and kind once.
  std::vector<v1::SanitizerFinding> findings;
  bool complete = false;  // it ends with a summary
  std::string trouble;    // why the tool itself failed; empty if it did not
};

// Parses the text form: lines that begin with "========="; the further lines of a finding are
// indented. Everything else is skipped, including the candidate's own output. The resulting texts
// are printable and bounded. A finding of an unknown form becomes a warning of kind OTHER.
SanitizerLog ReadSanitizerReport(const std::string& tool, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_
