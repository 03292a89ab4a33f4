#ifndef KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_
#define KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_

#include <string>
#include <vector>

#include "cli/local/local_folder.h"
#include "cli/local/model_sources.h"
#include "proto/config.pb.h"

namespace ksearch {

// The name under which the local worker shows up.
inline constexpr char kLocalWorkerName[] = "local";

// The configuration for the usable ones among `sources`. Holds the names of variables with keys,
// never a key.
v1::CoordinatorConfig LocalCoordinatorConfig(const LocalFolder& folder,
                                             const std::vector<ModelSource>& sources);

// `abilities` with what only this folder knows.
v1::WorkerConfig LocalWorkerConfig(const LocalFolder& folder, const v1::WorkerConfig& abilities);

// A file for it, which says who wrote it.
std::string ConfigText(const google::protobuf::Message& config);

// What the coordinator that runs would have to be told anew: providers that `wanted` has and
// `running` has not, or has otherwise.
std::vector<std::string> NewProviders(const v1::CoordinatorConfig& running,
                                      const v1::CoordinatorConfig& wanted);
// Providers of `running` that `wanted` lacks.
std::vector<std::string> LostProviders(const v1::CoordinatorConfig& running,
                                       const v1::CoordinatorConfig& wanted);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_
