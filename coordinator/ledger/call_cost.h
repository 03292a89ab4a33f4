#ifndef KSEARCH_COORDINATOR_LEDGER_CALL_COST_H_
#define KSEARCH_COORDINATOR_LEDGER_CALL_COST_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/llm/llm_client.h"
#include "proto/config.pb.h"

namespace ksearch {

// Returns the cost of a call's tokens in nano-dollars, rounded up once per call. 0 for an unknown
// price.
int64_t CostNano(const v1::ResolvedPrice& price, const TokenUsage& usage);

// An upper bound on the usage of a call: no tokenizer makes more tokens than the bytes sent, and no
// reply is longer than allowed.
struct WorstCase {
  int64_t tokens = 0;
  int64_t nano_usd = 0;
};
WorstCase WorstCaseOf(const v1::ResolvedPrice& price, size_t prompt_bytes, int max_output_tokens);

// Returns the name of a model's line in the ledger.
std::string LedgerScope(absl::string_view provider, absl::string_view model);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LEDGER_CALL_COST_H_
