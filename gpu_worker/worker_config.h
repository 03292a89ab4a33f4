#ifndef KSEARCH_GPU_WORKER_WORKER_CONFIG_H_
#define KSEARCH_GPU_WORKER_WORKER_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/access/client_access.h"
#include "proto/config.pb.h"

namespace ksearch {

// The command line of ksearch-worker over its config file over the defaults of config.proto, with
// state_dir and binary_dir made absolute and the bubblewrap beside the binaries taken if there is
// one.
//   --config FILE --coordinator ADDR --state-dir DIR --name N --slots N
//   --token-file FILE --ca-file FILE --server-name N
//   --idle-timeout T --lifetime T|auto --leave-grace T
// INVALID_ARGUMENT lists every fault, one a line, each with its argument, field or
// file:line:column.
// Without `need_coordinator` its address may be absent.
absl::StatusOr<v1::WorkerConfig> LoadWorkerConfig(const std::vector<std::string>& args,
                                                  bool need_coordinator = true);

// Jobs at once: as the config says, otherwise two per device, so that one builds while another is
// measured, and up to four if there are four cores for each.
int SlotsOf(const v1::WorkerConfig& config, int devices, int cores);

// Reads the token and certificates that the config names; errors of ReadClientAccess and
// CheckClientAccess. To be called before TakeAccount, because the files may be root's.
absl::StatusOr<ClientAccess> ReadWorkerAccess(const v1::WorkerConfig& config);

// Creates state_dir and, as root, gives it to the account of the config, prepares control groups
// and switches to that account; otherwise only creates state_dir. Must be called before any thread
// is started. FAILED_PRECONDITION if state_dir belongs to somebody else.
absl::Status TakeAccount(const v1::WorkerConfig& config);

// Returns OK, or NOT_FOUND with one line for every program or folder that this account cannot use.
absl::Status CheckPrograms(const v1::WorkerConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_WORKER_CONFIG_H_
