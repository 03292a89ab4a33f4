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

// Jobs in hand at once: as the config says, else two per device, so that one builds while another
// is measured, and up to four where there are four cores for each.
int SlotsOf(const v1::WorkerConfig& config, int devices, int cores);

// Reads the token and certificates that the config names; errors of ReadClientAccess and
// CheckClientAccess. Before TakeAccount: files of root's may be given.
absl::StatusOr<ClientAccess> ReadWorkerAccess(const v1::WorkerConfig& config);

// Makes state_dir and, as root, gives it to the account of the config, prepares control groups and
// becomes that account; as anyone else only makes state_dir. Before any thread is started.
// FAILED_PRECONDITION if state_dir is someone else's.
absl::Status TakeAccount(const v1::WorkerConfig& config);

// OK, or NOT_FOUND with one line for every program or folder that this account cannot use.
absl::Status CheckPrograms(const v1::WorkerConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_WORKER_CONFIG_H_
