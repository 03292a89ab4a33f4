#ifndef KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_
#define KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Returns upstream's folder of a run as file names and texts: the file of each standing of the
// report that has a program (`with_sources`), which may be several samples of one problem;
// eval_results.json; and, under a name of our own, the baselines that were timed with them, in the
// form of upstream's baseline files. INVALID_ARGUMENT: no problem has a program, or there are
// several levels, because upstream's folders have one.
absl::StatusOr<std::map<std::string, std::string>> KernelBenchRun(const v1::SuiteReport& report);

// ALREADY_EXISTS if the folder has the results of a run, unless `force`.
absl::Status CheckTakesKernelBenchRun(const std::string& folder, bool force);

// Writes these files, eval_results.json last, unless CheckTakesKernelBenchRun fails.
absl::Status WriteKernelBenchRun(const std::map<std::string, std::string>& files,
                                 const std::string& folder, bool force);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_
