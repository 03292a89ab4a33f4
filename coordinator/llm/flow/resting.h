#ifndef KSEARCH_COORDINATOR_LLM_FLOW_RESTING_H_
#define KSEARCH_COORDINATOR_LLM_FLOW_RESTING_H_

#include <string>

#include "absl/time/time.h"

namespace ksearch {

// A client of a model that leaves its provider alone at times. Thread-safe.
class Resting {
 public:
  virtual ~Resting() = default;
  // How long no call to the model (empty: the default one) will be made, because of failures or
  // because the provider asked for it; 0: calls are made.
  virtual absl::Duration RestsFor(const std::string& model) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_FLOW_RESTING_H_
