#include "coordinator/engine/model_providers.h"

#include <memory>
#include <utility>

#include "common/digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "coordinator/engine/run_embedding.h"
#include "coordinator/engine/run_recording.h"
#include "coordinator/llm/client_factory.h"
#include "coordinator/llm/offline_factory.h"

namespace ksearch {

std::vector<ModelCaller::Provider> MakeProviders(const v1::CoordinatorConfig& config, Store* store,
                                                 const Clock& clock,
                                                 std::vector<std::string>* mailboxes) {
  std::vector<ModelCaller::Provider> providers;
  const auto gates = std::make_shared<CallGates>();
  for (const v1::ModelProvider& settings : config.providers()) {
    ModelCaller::Provider provider;
    provider.name = settings.name();
    absl::StatusOr<std::unique_ptr<LlmClient>> client = absl::UnknownError("");
    if (IsOffline(settings)) {
      auto offline = MakeOfflineProvider(settings, config.state_dir(), clock);
      if (!offline.ok()) {
        client = offline.status();
      } else {
        client = std::move(offline->client);
        provider.default_model = offline->default_model;
        provider.unlimited = true;
        provider.repeatable = !settings.has_command();
        if (!offline->mailbox.empty()) mailboxes->push_back(offline->mailbox);
        if (offline->recording != nullptr) {
          const auto& order = offline->recording->header.order();
          provider.recorded_order.assign(order.begin(), order.end());
          provider.recorded_platform = offline->recording->header.config().platform();
          provider.recorded_memory = offline->recording->header.config().memory_snapshot();
          provider.embedding_model = RecordedEmbeddingModel(offline->recording->header.config());
          if (settings.replay().import_results()) {
            const absl::Status imported = ImportResults(*offline->recording, store);
            if (!imported.ok()) client = Annotate(imported, settings.name());
          }
        }
      }
    } else {
      provider.default_model = DefaultModel(settings);
      provider.embedding_model = EmbeddingModel(settings);
      client = MakeLlmClient(settings, clock, RandomUint64(), gates);
    }
    if (client.ok()) {
      provider.client = *std::move(client);
    } else {
      // Other providers, workers and queries still work.
      LOG(WARNING) << "provider=" << provider.name
                   << " cannot be used: " << client.status().message();
      provider.unusable = absl::FailedPreconditionError(client.status().message());
    }
    providers.push_back(std::move(provider));
  }
  return providers;
}

}  // namespace ksearch
