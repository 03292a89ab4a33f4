#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/engine/model_caller.h"
#include "proto/config.pb.h"

namespace ksearch {

// Whether a run has its programs embedded, and by which model, which its config then records: the
// entry of config->models with the role "embedding", else the model of config->provider.
// A run that repeats `repeated` (null: none) does as that did, unless its settings say otherwise.
// INVALID_ARGUMENT names the setting that cannot be met. Before prices are looked up.
absl::Status ChooseEmbedding(const ModelCaller& models, const v1::RunConfig* repeated,
                             v1::RunConfig* config);

// The model that embedded for a run; empty: none did.
std::string RecordedEmbeddingModel(const v1::RunConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_
