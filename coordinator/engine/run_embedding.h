#ifndef KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_
#define KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/engine/model_caller.h"
#include "proto/config.pb.h"

namespace ksearch {

// Decides whether a run embeds its programs and with which model, and records that in its config:
// the model is that of config->models with the role "embedding", else that of config->provider. A
// run that repeats `repeated` (null: none) does the same as that run, unless its settings say
// otherwise. INVALID_ARGUMENT names the setting that cannot be satisfied. To be called before
// prices are looked up.
absl::Status ChooseEmbedding(const ModelCaller& models, const v1::RunConfig* repeated,
                             v1::RunConfig* config);

// The model that embedded programs for a run; empty if there was none.
std::string RecordedEmbeddingModel(const v1::RunConfig& config);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_RUN_EMBEDDING_H_
