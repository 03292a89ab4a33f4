#ifndef KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_
#define KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/local/environment.h"
#include "proto/config.pb.h"

namespace ksearch {

// A model provider that local mode knows by name, and its state according to the environment.
struct ModelSource {
  std::string name;      // "openai": RunConfig.provider
  std::string variable;  // variable that enables it; empty: always available
  bool usable = false;
  std::string found;                     // if usable: the origin of its settings, never a secret
  std::string missing;                   // if not usable: why, and what to set
  v1::ModelProvider provider;            // if usable: its configuration; keys only by variable name
  std::vector<std::string> environment;  // variables that the coordinator needs for it
};

// Returns every provider that local mode knows: openai (OPENAI_API_KEY, OPENAI_BASE_URL), anthropic
// (ANTHROPIC_API_KEY), gemini (GEMINI_API_KEY), local (KSEARCH_MODEL_URL with KSEARCH_MODEL_KEY, or
// a loopback OPENAI_BASE_URL), and mailbox, which people or programs answer.
std::vector<ModelSource> FindModelSources(const Environment& environment);

// The value of --model with --local: "PROVIDER/NAME"; the name may contain more slashes.
struct ModelChoice {
  std::string provider;
  std::string model;
};
// INVALID_ARGUMENT for another form or an unknown provider; lists the known ones.
absl::StatusOr<ModelChoice> ParseModelChoice(const std::string& text,
                                             const std::vector<ModelSource>& sources);

// Returns OK if `provider` is usable, or is one of `running`, the providers of a running
// coordinator. Otherwise FAILED_PRECONDITION names the variable to set.
absl::Status CheckUsable(const std::string& provider, const std::vector<ModelSource>& sources,
                         const std::vector<std::string>& running);

// Returns the base URL of a server with POST /chat/completions: without a trailing slash, and with
// /v1 if there was no path. INVALID_ARGUMENT if it is not a URL, contains a password, or is plain
// http to another machine; never repeats text that may contain a secret.
absl::StatusOr<std::string> ModelBaseUrl(const std::string& text);
// Returns true if a URL names this machine.
bool IsLoopbackUrl(absl::string_view url);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_
