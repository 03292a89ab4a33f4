#ifndef KSEARCH_CLI_TASK_FAST_P_H_
#define KSEARCH_CLI_TASK_FAST_P_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// KernelBench's fast_p: the share of all problems whose program is correct and more than p times as
// fast as the baseline; for p = 0 it only has to be correct. Problems that are excluded from claims
// do not count.
struct FastP {
  struct Share {
    double p = 0;
    int problems = 0;
  };
  int problems = 0;
  int attempted = 0;
  int correct = 0;
  std::vector<Share> shares;          // for p = 0, 0.5, 0.8, 1, 1.5 and 2
  double geometric_mean_speedup = 0;  // over correct programs that were timed; 0 if there is none
};

// Computes it over the baselines that were timed with the programs.
FastP FastPOf(const v1::SuiteReport& report);

// Mean times in milliseconds by the name of the problem's file, within upstream's levels
// ("level1").
using BaselineTimes = std::map<std::string, std::map<std::string, double>>;

// Reads upstream's file of baseline times. INVALID_ARGUMENT "<file>:<line>: <field>: what".
absl::StatusOr<BaselineTimes> ParseBaselineTimes(absl::string_view text, absl::string_view file);

// The same over the baselines of such a file; as in upstream, only the problems in the file count.
FastP FastPOver(const v1::SuiteReport& report, const BaselineTimes& baseline);

std::string FastPText(const FastP& fast_p);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_FAST_P_H_
