#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_WORDS_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_WORDS_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "proto/result.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// A suite's words for the outcome of a program.
struct SuiteWords {
  absl::string_view suite;  // possessive, e.g. "KernelBench's"
  absl::string_view passed;
  absl::string_view incorrect;
  absl::string_view build_failed;  // it does not compile or cannot be loaded
  absl::string_view failed;        // it crashed or used too much memory
  absl::string_view timed_out;
  int trials = 1;  // number of trials of the suite's rule
};

// Returns the verdict of the suite's own numeric rule (v1::SuiteRule) on a result, in the suite's
// words: with the number of trials, the error of the first failed one, and a remark if ksearch's
// own rules disagree. Empty if the result says nothing about the program.
std::optional<v1::SuiteScore> VerdictScore(const SuiteWords& words, const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_WORDS_H_
