#ifndef KSEARCH_CLI_MEMORY_OPTIONS_H_
#define KSEARCH_CLI_MEMORY_OPTIONS_H_

#include "cli/options.h"
#include "proto/config.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace ksearch {

// --memory, --memory-within-benchmark, --judge and --floor-share of `run`.
void AddGuidanceOptions(CLI::App* app, v1::RunConfig* run);

// `memory ls`, `memory show` and `memory forget`.
void AddMemoryCommand(CLI::App* app, Options* options);

}  // namespace ksearch

#endif  // KSEARCH_CLI_MEMORY_OPTIONS_H_
