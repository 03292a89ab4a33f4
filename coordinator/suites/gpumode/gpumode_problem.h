#ifndef KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROBLEM_H_
#define KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROBLEM_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/tasks/located_json.h"
#include "proto/task.pb.h"

namespace ksearch {

// One line of `tests` or `benchmarks`.
struct GpuModeCase {
  std::string uuid;  // "test3", "benchmark0": its position in its list
  bool benchmark = false;
  LocatedJson arguments;  // of generate_input: an object of numbers, Booleans, texts and lists
};

// How a leaderboard combines the benchmarks' mean times into one score.
enum class GpuModeRanking {
  kLast,  // the time of the last one; the others are not run
  kMean,
  kGeometricMean,
};

// A problem's folder as read. None of its code has been run.
struct GpuModeProblem {
  std::string description;
  // reference.py and the files that it imports, in the layout that it expects
  std::vector<v1::SourceFile> files;
  std::vector<GpuModeCase> cases;  // tests, then benchmarks; at least one
  // The problem's eval.py; empty if it is not there. Only workers that describe the problem read
  // more in it than the next two.
  std::string evaluator;
  // The problem's evaluator clears the device's cache before each timed call.
  bool clears_cache = false;
  // The problem's evaluator accepts lists in brackets, as tuples.
  bool reads_lists = false;
  GpuModeRanking ranking = GpuModeRanking::kLast;
  // Those of `cases` that are also a test with another seed, which was omitted for that reason.
  std::vector<std::string> tested_benchmarks;
  // Why cases were omitted, one sentence each.
  std::vector<std::string> left_out;

  const v1::SourceFile* FindFile(const std::string& path) const;
};

inline constexpr char kGpuModeTaskFile[] = "task.yml";
inline constexpr char kGpuModeReferenceFile[] = "reference.py";
inline constexpr char kGpuModeEvaluatorFile[] = "eval.py";

// Reads `folder`/task.yml and the files that it names, which must be below `root`. NOT_FOUND or
// INVALID_ARGUMENT "<file>:<line>: <field>: what", also for problems that cannot be a task: several
// GPUs, or languages other than Python.
absl::StatusOr<GpuModeProblem> ReadGpuModeProblem(const std::filesystem::path& folder,
                                                  const std::filesystem::path& root);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROBLEM_H_
