#ifndef KSEARCH_COORDINATOR_ENGINE_MODEL_PROVIDERS_H_
#define KSEARCH_COORDINATOR_ENGINE_MODEL_PROVIDERS_H_

#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/store/store.h"
#include "proto/config.pb.h"

namespace ksearch {

// Makes the clients of the configuration's providers, and imports the results of recordings into
// the store where the configuration asks for them. A provider that cannot be used is logged and
// returned with the reason. Adds the folders of mailboxes to `mailboxes`.
std::vector<ModelCaller::Provider> MakeProviders(const v1::CoordinatorConfig& config, Store* store,
                                                 const Clock& clock,
                                                 std::vector<std::string>* mailboxes);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_ENGINE_MODEL_PROVIDERS_H_
