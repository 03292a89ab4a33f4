#ifndef KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_
#define KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Upstream's folder of a run: the files by their names, with their texts. Of each standing of the
// report that has a program (`with_sources`), which may be several samples of one problem, its
// file, eval_results.json, and, under a name of our own, the baselines that were timed beside them
// in the form of upstream's baseline files. INVALID_ARGUMENT: no problem has a program, or they are
// of several levels, as upstream's folders hold one.
absl::StatusOr<std::map<std::string, std::string>> KernelBenchRun(const v1::SuiteReport& report);

// Writes them; eval_results.json last. ALREADY_EXISTS unless `force`: the folder has one.
absl::Status WriteKernelBenchRun(const std::map<std::string, std::string>& files,
                                 const std::string& folder, bool force);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_KERNELBENCH_EXPORT_H_
