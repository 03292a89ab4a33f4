#ifndef KSEARCH_CLI_TASK_KERNELBENCH_SAMPLES_H_
#define KSEARCH_CLI_TASK_KERNELBENCH_SAMPLES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// One file of upstream's folder of a run, "level_1_problem_23_sample_0_kernel.py".
struct KernelBenchSample {
  int level = 0;
  int problem = 0;
  int sample = 0;
  std::string file;  // its name
};

// Returns nullopt if the name has another form.
std::optional<KernelBenchSample> ParseSampleName(const std::string& file);

// The samples in a folder, ordered by level, problem and sample. NOT_FOUND if the folder does not
// exist or contains no sample.
absl::StatusOr<std::vector<KernelBenchSample>> FindSamples(const std::string& folder);

// The probability that at least one of k samples is correct, if c of n are: 1 - C(n - c, k) / C(n,
// k). REQUIRES: k <= n.
double PassAtK(int n, int c, int k);

// A report on samples has one ProblemStanding for each, whose only file of `sources` is the
// sample's; standings that are left out have no file. Its views, problem by problem: sample 0 of
// each, as upstream's analysis counts;
v1::SuiteReport FirstSamples(const v1::SuiteReport& samples);
// The best sample of each: correct, then fastest against its baseline.
v1::SuiteReport BestSamples(const v1::SuiteReport& samples);

// "pass@1 = ..., pass@3 = ...", over the problems that are not excluded, for 1 and for the number
// of samples that every one of them has; empty if there is no sample.
std::string PassAtKText(const v1::SuiteReport& samples);

// Upstream's pass_at_k_results.json, for the same k.
std::string PassAtKJson(const v1::SuiteReport& samples);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_KERNELBENCH_SAMPLES_H_
