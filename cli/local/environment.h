#ifndef KSEARCH_CLI_LOCAL_ENVIRONMENT_H_
#define KSEARCH_CLI_LOCAL_ENVIRONMENT_H_

#include <map>
#include <string>
#include <vector>

namespace ksearch {

// Variables by name.
using Environment = std::map<std::string, std::string>;

// This process's environment.
Environment CurrentEnvironment();

// The value without blanks around it; empty if the variable is not set.
std::string ValueOf(const Environment& environment, const std::string& name);

// What of `environment` a local coordinator gets: what programs need, proxies and certificates, and
// the variables in `keys`, which are the only place where keys are handed on.
Environment CoordinatorEnvironment(const Environment& environment,
                                   const std::vector<std::string>& keys);

// What of it a local worker gets: what compilers and interpreters need, and no keys.
Environment WorkerEnvironment(const Environment& environment);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_ENVIRONMENT_H_
