#include "coordinator/suites/flashinfer/evaluators/made_tensors.h"

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/kernel_header.h"
#include "coordinator/suites/flashinfer/python/input_scripts.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

// The tensors of a definition: constant axes by their extents, others by name.
LocatedJson TensorsOf(const v1::Definition& definition, const std::string& made) {
  std::map<std::string, int64_t> constant;
  for (const v1::Axis& axis : definition.axes()) {
    if (axis.has_const_value()) constant[axis.name()] = axis.const_value();
  }
  LocatedJson tensors = LocatedJson::Array();
  for (const v1::TensorSpec& input : definition.inputs()) {
    if (input.scalar()) continue;
    LocatedJson shape = LocatedJson::Array();
    for (const std::string& axis : input.shape()) {
      const auto known = constant.find(axis);
      shape.items.push_back(known == constant.end() ? LocatedJson::String(axis)
                                                    : LocatedJson::Integer(known->second));
    }
    LocatedJson tensor = LocatedJson::Object();
    tensor.Set("name", LocatedJson::String(input.name()));
    tensor.Set("dtype", LocatedJson::String(std::string(DTypeName(input.dtype()))));
    tensor.Set("shape", std::move(shape));
    tensor.Set("made", LocatedJson::Bool(input.name() == made));
    tensors.items.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

void MakeTensor(const std::string& name, absl::string_view maker, v1::Task* task,
                std::string* reference) {
  bool any = false;
  for (v1::Workload& workload : *task->mutable_workloads()) {
    for (v1::InputRecipe& recipe : *workload.mutable_inputs()) {
      if (recipe.input() != name || !recipe.has_random()) continue;
      recipe.mutable_made();
      any = true;
    }
  }
  if (!any) return;
  const std::string tensors =
      absl::BytesToHexString(WriteJson(TensorsOf(task->definition(), name), /*indent=*/-1));
  absl::StrAppend(reference, absl::EndsWith(*reference, "\n") ? "" : "\n", maker,
                  absl::StrReplaceAll(MakeInputsScript(), {{"@TENSORS@", tensors}}));
}

}  // namespace ksearch
