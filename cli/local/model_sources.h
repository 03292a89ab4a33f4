#ifndef KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_
#define KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/local/environment.h"
#include "proto/config.pb.h"

namespace ksearch {

// A model provider that local mode knows by name, and what the environment says of it.
struct ModelSource {
  std::string name;      // "openai": RunConfig.provider
  std::string variable;  // what turns it on; empty: it is always there
  bool usable = false;
  std::string found;                     // usable: where it comes from, never a secret
  std::string missing;                   // not usable: why, and what to set
  v1::ModelProvider provider;            // usable: its configuration; keys by variable name only
  std::vector<std::string> environment;  // variables that the coordinator needs for it
};

// Every provider that local mode knows: openai (OPENAI_API_KEY, OPENAI_BASE_URL), anthropic
// (ANTHROPIC_API_KEY), gemini (GEMINI_API_KEY), local (KSEARCH_MODEL_URL with KSEARCH_MODEL_KEY, or
// a loopback OPENAI_BASE_URL) and mailbox, which people or programs answer.
std::vector<ModelSource> FindModelSources(const Environment& environment);

// What --model says with --local: "PROVIDER/NAME"; the name may hold more slashes.
struct ModelChoice {
  std::string provider;
  std::string model;
};
// INVALID_ARGUMENT for another form or an unknown provider, and lists those there are.
absl::StatusOr<ModelChoice> ParseModelChoice(const std::string& text,
                                             const std::vector<ModelSource>& sources);

// OK if `provider` is usable, or one of `running`, those of a coordinator that runs already. Else
// FAILED_PRECONDITION that names the variable to set.
absl::Status CheckUsable(const std::string& provider, const std::vector<ModelSource>& sources,
                         const std::vector<std::string>& running);

// The base of a server that speaks POST /chat/completions: without a slash at its end, with /v1 if
// there was no path. INVALID_ARGUMENT if it is none, holds a password, or is plain http to another
// machine; never repeats a text that may hold a secret.
absl::StatusOr<std::string> ModelBaseUrl(const std::string& text);
// Whether a URL is of this machine.
bool IsLoopbackUrl(absl::string_view url);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_MODEL_SOURCES_H_
