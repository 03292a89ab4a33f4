#ifndef KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_
#define KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_

#include <string>
#include <vector>

#include "autoscaler/fleet/fleet_provider.h"
#include "nlohmann/json.hpp"

namespace ksearch {

// What an autoscaler asks of a provider, as text, so that it can be recorded with a real server and
// repeated with the recorded replies:
//   list | start COUNT | withdraw COUNT | stop INDEX | kill INDEX
// INDEX is a place in what the last `list` returned.
class FleetSteps {
 public:
  explicit FleetSteps(FleetProvider* provider) : provider_(provider) {}

  // What came of it: {} or, of `list`, {"instances": [{"id", "state", "note"}], "coming", "fault"};
  // {"error": what the provider says}.
  nlohmann::json Do(const std::string& step);

 private:
  nlohmann::json List();

  FleetProvider* const provider_;
  std::vector<std::string> ids_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_AUTOSCALER_FLEET_STEPS_H_
