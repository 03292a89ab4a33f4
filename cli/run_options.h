#ifndef KSEARCH_CLI_RUN_OPTIONS_H_
#define KSEARCH_CLI_RUN_OPTIONS_H_

#include "cli/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace ksearch {

// Adds the flags of `run`, which starts a search. `options` must outlive `app`.
void AddRun(CLI::App* app, Options* options);
// --progress, for commands that follow a run.
void AddProgress(CLI::App* app, Options* options);

}  // namespace ksearch

#endif  // KSEARCH_CLI_RUN_OPTIONS_H_
