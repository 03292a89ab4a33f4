#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// Reads JSON from a provider, which may contain anything. For the *_json.cc files only, because the
// library's header takes seconds to compile.

using Json = nlohmann::json;

// Returns a value with is_discarded() if `body` is not JSON.
Json ParseJson(absl::string_view body);

// Compact; invalid UTF-8 is replaced, because prompts contain compiler output.
std::string DumpJson(const Json& value);

// Returns the member, or null if `object` is not an object or does not have it.
const Json& Member(const Json& object, const char* name);

// Returns a string or an integer as text; "" for anything else.
std::string Text(const Json& value);

// Returns a number of tokens, at most 2^40; 0 if absent or invalid.
int64_t Count(const Json& value);

// Subtracts `part` from `*whole` and returns it. A part larger than the whole is returned
// unchanged, leaves 0, and is noted in `usage`.
int64_t TakePart(int64_t part, int64_t* whole, TokenUsage* usage);

// Adds the members of the JSON object `extra` to `body`, replacing those of the same name. `extra`
// may be empty; anything that is not an object adds nothing.
void AddExtraBody(absl::string_view extra, Json* body);

// Truncates the error's texts to the lengths that messages allow.
ProviderError WithinLimits(ProviderError error);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_
