#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"

namespace ksearch {

inline constexpr int kMaxSanitizerFindings = 5;  // a tool
// What is read of a report; more is ignored.
inline constexpr size_t kMaxSanitizerReportBytes = size_t{1} << 20;

// What one tool of compute-sanitizer wrote.
struct SanitizerLog {
  // Errors before warnings, at most kMaxSanitizerFindings, each kernel and kind once.
  std::vector<v1::SanitizerFinding> findings;
  bool complete = false;  // it came to its summary
  std::string trouble;    // what kept the tool itself from working; empty: nothing
};

// Reads the text form: lines that begin with "=========", a finding's further lines indented.
// Whatever else is there, the candidate's own output too, is skipped. Texts come out printable and
// bounded. A finding of a form that is not known is a warning of kind OTHER.
SanitizerLog ReadSanitizerReport(const std::string& tool, absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_SANITIZER_REPORT_H_
