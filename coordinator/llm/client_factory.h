#ifndef KSEARCH_COORDINATOR_LLM_CLIENT_FACTORY_H_
#define KSEARCH_COORDINATOR_LLM_CLIENT_FACTORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/llm/flow/call_gate.h"
#include "coordinator/llm/llm_client.h"
#include "proto/config.pb.h"

namespace ksearch {

// The client that `provider` describes, retries included; it has one I/O thread of its own.
// INVALID_ARGUMENT names the field that is wrong, NOT_FOUND the key's variable or file that is
// missing; both name the provider. `clock` must outlive the client. `seed` spreads retry delays.
// Clients with the same `gates` share the bounds of v1::FlowSettings; null: this one has its own.
absl::StatusOr<std::unique_ptr<LlmClient>> MakeLlmClient(
    const v1::ModelProvider& provider, const Clock& clock, uint64_t seed,
    std::shared_ptr<CallGates> gates = nullptr);

// The model that `provider` names for runs that name none; may be empty.
const std::string& DefaultModel(const v1::ModelProvider& provider);
// The model that embeds for it; empty: it embeds nothing.
const std::string& EmbeddingModel(const v1::ModelProvider& provider);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_CLIENT_FACTORY_H_
