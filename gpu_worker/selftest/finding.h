#ifndef KSEARCH_GPU_WORKER_SELFTEST_FINDING_H_
#define KSEARCH_GPU_WORKER_SELFTEST_FINDING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ksearch {

// The result of one check.
struct Finding {
  // WARN: the worker works, but less well. FAIL: it does not start, or accepts no jobs.
  enum class Level { kOk, kWarn, kFail };

  static Finding Ok(std::string what, std::string text);
  static Finding Warn(std::string what, std::string text, std::string fix);
  static Finding Fail(std::string what, std::string text, std::string fix);

  Level level = Level::kOk;
  std::string what;  // one word: "driver"
  std::string text;  // what was found
  std::string fix;   // what to do; empty if OK or if `text` says it
};

// Returns true if there is no FAIL among them.
bool Usable(const std::vector<Finding>& findings);

// One line each: "FAIL  driver       there is none -> install it".
std::string FindingsText(const std::vector<Finding>& findings);
// {"usable": true, "findings": [{"level", "what", "text", "fix"}, ...]}
std::string FindingsJson(const std::vector<Finding>& findings);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SELFTEST_FINDING_H_
