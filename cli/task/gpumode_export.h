#ifndef KSEARCH_CLI_TASK_GPUMODE_EXPORT_H_
#define KSEARCH_CLI_TASK_GPUMODE_EXPORT_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Writes the best program of a run on a problem of GPU MODE to `path` as a submission.py
// (coordinator/suites/gpumode/gpumode_submission.h). Asks the coordinator for the problem's
// description. ALREADY_EXISTS if the file exists and not `force`; INVALID_ARGUMENT if the run's
// task is not a problem of such a suite, or the program has no such form.
absl::Status ExportGpuMode(Client* client, const v1::BestReply& best, const std::string& path,
                           bool force);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_GPUMODE_EXPORT_H_
