#ifndef KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_
#define KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_

#include <string>
#include <vector>

#include "autoscaler/fleet/fleet_provider.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// An autoscaler's requests to a provider as text, so that they can be recorded with a real server
// and repeated with the recorded replies:
//    list | start COUNT | withdraw COUNT | stop INDEX | kill INDEX
// INDEX is a position in the result of the last `list`.
class FleetSteps {
 public:
  explicit FleetSteps(FleetProvider* provider) : provider_(provider) {}

  // Returns the result of a step: {} or, for `list`, {"instances": [{"id", "state", "note"}],
  // "coming", "fault"}; {"error": the provider's message}.
  nlohmann::json Do(const std::string& step);

 private:
  nlohmann::json List();

  FleetProvider* const provider_;
  std::vector<std::string> ids_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_
