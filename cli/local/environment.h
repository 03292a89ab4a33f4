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

// Returns the value without surrounding blanks; empty if the variable is not set.
std::string ValueOf(const Environment& environment, const std::string& name);

// Returns the part of `environment` that a local coordinator gets: what programs need, proxies and
// certificates, and the variables in `keys`. Keys are passed on in no other way.
Environment CoordinatorEnvironment(const Environment& environment,
                                   const std::vector<std::string>& keys);

// Returns the part that a local worker gets: what compilers and interpreters need, and no keys.
Environment WorkerEnvironment(const Environment& environment);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_ENVIRONMENT_H_
