#ifndef KSEARCH_CLI_ACCESS_OPTIONS_H_
#define KSEARCH_CLI_ACCESS_OPTIONS_H_

#include "cli/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace ksearch {

// Adds the flags of every command for tokens and TLS. Secrets come from files or the environment,
// never from arguments, which every user of the machine can read. `access` must outlive `app`, as
// `options` below.
void AddAccess(CLI::App* app, ClientAccessFiles* access);
// Add the arguments and subcommands of `token` and `pki`, whose name becomes `action`.
void AddToken(CLI::App* app, Options* options);
void AddPki(CLI::App* app, Options* options);

}  // namespace ksearch

#endif  // KSEARCH_CLI_ACCESS_OPTIONS_H_
