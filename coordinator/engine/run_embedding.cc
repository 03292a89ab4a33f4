#include "coordinator/engine/run_embedding.h"

#include "absl/strings/str_cat.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

// Index of the entry for embeddings; -1: there is none.
int FindUse(const v1::RunConfig& config) {
  for (int i = 0; i < config.models_size(); ++i) {
    if (config.models(i).role() == kEmbeddingRole) return i;
  }
  return -1;
}

}  // namespace

absl::Status ChooseEmbedding(const ModelCaller& models, const v1::RunConfig* repeated,
                             v1::RunConfig* config) {
  if (!MayEmbed(*config)) return absl::OkStatus();
  int use = FindUse(*config);
  if (repeated != nullptr && use < 0 && !HasEmbeds(*config)) {
    if (!Embeds(*repeated)) {
      SetEmbeds(false, config);
      return absl::OkStatus();
    }
    if (const int there = FindUse(*repeated); there >= 0) {
      use = config->models_size();
      *config->add_models() = repeated->models(there);
    }
  }
  if (use < 0 && !models.EmbeddingModel(config->provider()).empty()) {
    use = config->models_size();
    v1::ModelUse* added = config->add_models();
    added->set_role(kEmbeddingRole);
    added->set_provider(config->provider());
  }
  if (use < 0) {
    const bool demanded = Embeds(*config);
    const std::string field = SetEmbeds(false, config);
    if (!demanded) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        field, " is true, but provider '", config->provider(),
        "' has no embedding_model in the coordinator's config, and no entry of models has the role "
        "'embedding'"));
  }
  v1::ModelUse* chosen = config->mutable_models(use);
  if (chosen->provider().empty()) chosen->set_provider(config->provider());
  const std::string model = models.EmbeddingModel(chosen->provider());
  if (model.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("models[", use, "].provider is '", chosen->provider(),
                     "', which has no embedding_model in the coordinator's config"));
  }
  if (chosen->model().empty()) chosen->set_model(model);
  SetEmbeds(true, config);
  return absl::OkStatus();
}

std::string RecordedEmbeddingModel(const v1::RunConfig& config) {
  const int use = FindUse(config);
  return use < 0 ? "" : config.models(use).model();
}

}  // namespace ksearch
