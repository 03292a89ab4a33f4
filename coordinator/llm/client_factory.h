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

// Makes the client that `provider` describes, including retries, with one I/O thread.
// INVALID_ARGUMENT names the faulty field, NOT_FOUND the missing variable or file of the key; both
// name the provider. `clock` must outlive the client. `seed` randomizes retry delays. Clients with
// the same `gates` share the limits of v1::FlowSettings; null: this client has its own.
absl::StatusOr<std::unique_ptr<LlmClient>> MakeLlmClient(
    const v1::ModelProvider& provider, const Clock& clock, uint64_t seed,
    std::shared_ptr<CallGates> gates = nullptr);

// Returns the provider's model for runs that name none; may be empty.
const std::string& DefaultModel(const v1::ModelProvider& provider);
// Returns the provider's embedding model; empty if it has none.
const std::string& EmbeddingModel(const v1::ModelProvider& provider);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_CLIENT_FACTORY_H_
