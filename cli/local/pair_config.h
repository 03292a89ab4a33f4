#ifndef KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_
#define KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_

#include <string>
#include <vector>

#include "cli/local/local_folder.h"
#include "cli/local/model_sources.h"
#include "proto/config.pb.h"

namespace ksearch {

// The local worker's name.
inline constexpr char kLocalWorkerName[] = "local";

// Returns the configuration for the usable ones of `sources`. Contains the names of the keys'
// variables, never a key.
v1::CoordinatorConfig LocalCoordinatorConfig(const LocalFolder& folder,
                                             const std::vector<ModelSource>& sources);

// Adds this folder's settings to `abilities`.
v1::WorkerConfig LocalWorkerConfig(const LocalFolder& folder, const v1::WorkerConfig& abilities);

// Returns the text of a configuration file that says which program wrote it.
std::string ConfigText(const google::protobuf::Message& config);

// Returns the providers that `running` lacks, or has with other settings than `wanted`.
std::vector<std::string> NewProviders(const v1::CoordinatorConfig& running,
                                      const v1::CoordinatorConfig& wanted);
// Returns the providers of `running` that `wanted` lacks.
std::vector<std::string> LostProviders(const v1::CoordinatorConfig& running,
                                       const v1::CoordinatorConfig& wanted);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_PAIR_CONFIG_H_
