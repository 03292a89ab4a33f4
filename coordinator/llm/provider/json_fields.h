#ifndef KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_
#define KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/llm/failure/provider_error.h"
#include "coordinator/llm/llm_client.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// Reading of JSON that a provider wrote, which may hold anything anywhere. For the *_json.cc files
// only: the library's header takes seconds to compile.

using Json = nlohmann::json;

// is_discarded() if `body` is not JSON.
Json ParseJson(absl::string_view body);

// Compact; what is not UTF-8 is replaced, since prompts carry compiler output.
std::string DumpJson(const Json& value);

// The member, or null if `object` is no object or has none.
const Json& Member(const Json& object, const char* name);

// A string or an integer as text; "" for anything else.
std::string Text(const Json& value);

// A count of tokens: 0 if absent or senseless, at most 2^40.
int64_t Count(const Json& value);

// Takes `part` out of `*whole` and returns it. A part larger than the whole is kept as it is,
// leaves 0, and is noted in `usage`.
int64_t TakePart(int64_t part, int64_t* whole, TokenUsage* usage);

// Adds the members of the JSON object `extra` to `body`, in place of those of the same name.
// `extra` may be empty; what is no object adds nothing.
void AddExtraBody(absl::string_view extra, Json* body);

// Cuts the error's texts to the lengths that messages have room for.
ProviderError WithinLimits(ProviderError error);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_PROVIDER_JSON_FIELDS_H_
