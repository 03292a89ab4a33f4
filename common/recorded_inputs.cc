#include "common/recorded_inputs.h"

namespace ksearch {

std::set<std::string> RecordedInputsOf(const v1::Task& task) {
  std::set<std::string> names;
  for (const v1::Workload& workload : task.workloads()) {
    for (const v1::InputRecipe& recipe : workload.inputs()) {
      if (!recipe.recorded().sha256().empty()) names.insert(recipe.recorded().sha256());
    }
  }
  return names;
}

}  // namespace ksearch
