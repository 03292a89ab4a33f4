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
  std::string uuid;  // "test3", "benchmark0": its place in its list
  bool benchmark = false;
  LocatedJson arguments;  // of generate_input: an object of numbers, truth values, texts and lists
};

// How a leaderboard makes one score of the benchmarks' mean times.
enum class GpuModeRanking {
  kLast,  // the time of the last one; the others are not run
  kMean,
  kGeometricMean,
};

// A problem's folder as read. Nothing in it is run.
struct GpuModeProblem {
  std::string description;
  std::vector<v1::SourceFile> files;  // reference.py and what it imports, as laid out for it
  std::vector<GpuModeCase> cases;     // tests, then benchmarks; at least one
  // Its evaluator clears the device's cache before each timed call.
  bool clears_cache = false;
  // Its evaluator takes lists in brackets, as tuples.
  bool reads_lists = false;
  GpuModeRanking ranking = GpuModeRanking::kLast;
  // Why some cases were left out, a sentence for each.
  std::vector<std::string> left_out;

  const v1::SourceFile* FindFile(const std::string& path) const;
};

inline constexpr char kGpuModeTaskFile[] = "task.yml";
inline constexpr char kGpuModeReferenceFile[] = "reference.py";

// Reads `folder`/task.yml and the files it names, which must lie below `root`. NOT_FOUND or
// INVALID_ARGUMENT "<file>:<line>: <field>: what", also for problems that no task can be: several
// GPUs, other languages than Python.
absl::StatusOr<GpuModeProblem> ReadGpuModeProblem(const std::filesystem::path& folder,
                                                  const std::filesystem::path& root);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_GPUMODE_GPUMODE_PROBLEM_H_
