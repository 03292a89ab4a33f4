#ifndef KSEARCH_COORDINATOR_LLM_OFFLINE_FACTORY_H_
#define KSEARCH_COORDINATOR_LLM_OFFLINE_FACTORY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/clock.h"
#include "coordinator/llm/llm_client.h"
#include "coordinator/llm/replay/recording.h"
#include "proto/config.pb.h"

namespace ksearch {

// The clients that open no connection themselves: mailbox, command, replay.
struct OfflineProvider {
  std::unique_ptr<LlmClient> client;
  std::string default_model;
  std::string mailbox;                         // the folder; empty if it is not a mailbox
  std::shared_ptr<const Recording> recording;  // null if it is not a replay
};

bool IsOffline(const v1::ModelProvider& provider);

// REQUIRES: `provider` is one of these. Relative folders start at `state_dir`. INVALID_ARGUMENT and
// NOT_FOUND name provider and field. `clock` must outlive the client.
absl::StatusOr<OfflineProvider> MakeOfflineProvider(const v1::ModelProvider& provider,
                                                    const std::string& state_dir,
                                                    const Clock& clock);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_OFFLINE_FACTORY_H_
