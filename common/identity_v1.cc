#include "common/identity_v1.h"

#include "common/digest.h"
#include "common/identity.h"

namespace ksearch {
namespace {

void AddDuration(CanonicalBytes& bytes, const google::protobuf::Duration& duration) {
  bytes.Add(duration.seconds()).Add(int64_t{duration.nanos()});
}

void AddTensors(CanonicalBytes& bytes,
                const google::protobuf::RepeatedPtrField<v1::TensorSpec>& tensors) {
  bytes.Add(int64_t{tensors.size()});
  for (const v1::TensorSpec& tensor : tensors) {
    bytes.Add(tensor.name()).Add(int64_t{tensor.scalar()}).Add(int64_t{tensor.dtype()});
    bytes.Add(int64_t{tensor.shape_size()});
    for (const std::string& axis : tensor.shape()) bytes.Add(axis);
  }
}

void AddRecipe(CanonicalBytes& bytes, const v1::InputRecipe& recipe) {
  bytes.Add(recipe.input()).Add(int64_t{recipe.recipe_case()});
  switch (recipe.recipe_case()) {
    case v1::InputRecipe::kRandom:
      bytes.AddDouble(recipe.random().scale()).AddDouble(recipe.random().offset());
      break;
    case v1::InputRecipe::kScalar:
      bytes.Add(int64_t{recipe.scalar().value_case()});
      bytes.Add(recipe.scalar().int_value()).AddDouble(recipe.scalar().float_value());
      bytes.Add(int64_t{recipe.scalar().bool_value()});
      break;
    case v1::InputRecipe::kIndptr:
      bytes.Add(recipe.indptr().total_axis()).Add(recipe.indptr().min_length());
      break;
    case v1::InputRecipe::kPageIndices:
      bytes.Add(recipe.page_indices().pool_axis()).Add(int64_t{recipe.page_indices().contiguous()});
      break;
    case v1::InputRecipe::kSafetensors:
      bytes.Add(recipe.safetensors().path()).Add(recipe.safetensors().tensor_key());
      break;
    case v1::InputRecipe::kMade:
    case v1::InputRecipe::kRecorded:  // younger than these names
    case v1::InputRecipe::RECIPE_NOT_SET:
      break;
  }
}

}  // namespace

std::string JobIdV1(const v1::JobSpec& spec) {
  CanonicalBytes bytes;
  bytes.Add("job/1").Add(int64_t{spec.kind()}).Add(spec.task_sha256()).Add(spec.task_name());
  bytes.Add(CandidateId(spec.candidate()));
  bytes.Add(int64_t{spec.workload_uuids_size()});
  for (const std::string& uuid : spec.workload_uuids()) bytes.Add(uuid);
  const v1::MeasurePlan& plan = spec.plan();
  bytes.AddDouble(plan.target_half_width());
  AddDuration(bytes, plan.max_time_per_workload());
  bytes.Add(int64_t{plan.min_calls()}).Add(int64_t{plan.max_calls()});
  bytes.Add(int64_t{plan.launches()}).Add(int64_t{plan.blocks_per_launch()});
  AddDuration(bytes, plan.min_block_time());
  bytes.AddDouble(plan.min_effect()).AddDouble(plan.confidence());
  // Absent in older jobs, whose names stay.
  if (plan.early_stop_ratio() > 0) bytes.Add("early_stop").AddDouble(plan.early_stop_ratio());
  const v1::Limits& limits = spec.limits();
  AddDuration(bytes, limits.build_time());
  AddDuration(bytes, limits.call_time());
  AddDuration(bytes, limits.total_time());
  bytes.Add(limits.memory_bytes()).Add(limits.source_bytes()).Add(limits.artifact_bytes());
  bytes.Add(int64_t{spec.rivals_size()});
  for (const v1::Rival& rival : spec.rivals()) {
    bytes.Add(rival.rival_id()).Add(rival.has_sources() ? CandidateId(rival.sources()) : "");
  }
  bytes.Add(spec.salt()).Add(int64_t{spec.device()}).Add(spec.architecture());
  return bytes.Sha256();
}

std::string TaskDigestV1(const v1::Task& task) {
  CanonicalBytes bytes;
  bytes.Add("task/1").Add(task.name()).Add(task.title());
  const v1::Definition& definition = task.definition();
  bytes.Add(definition.name()).Add(definition.op_type()).Add(definition.description());
  bytes.Add(definition.reference_text());
  bytes.Add(int64_t{definition.axes_size()});
  for (const v1::Axis& axis : definition.axes()) {
    bytes.Add(axis.name()).Add(int64_t{axis.has_const_value()}).Add(axis.const_value());
  }
  AddTensors(bytes, definition.inputs());
  AddTensors(bytes, definition.outputs());
  bytes.Add(int64_t{definition.constraints_size()});
  for (const std::string& constraint : definition.constraints()) bytes.Add(constraint);
  bytes.Add(int64_t{task.workloads_size()});
  for (const v1::Workload& workload : task.workloads()) {
    bytes.Add(workload.uuid()).Add(int64_t{workload.held_out()});
    bytes.Add(int64_t{workload.axes_size()});
    for (const v1::AxisValue& axis : workload.axes()) bytes.Add(axis.axis()).Add(axis.value());
    bytes.Add(int64_t{workload.inputs_size()});
    for (const v1::InputRecipe& recipe : workload.inputs()) AddRecipe(bytes, recipe);
  }
  const v1::Tolerance& tolerance = task.tolerance();
  bytes.AddDouble(tolerance.atol()).AddDouble(tolerance.rtol());
  bytes.AddDouble(tolerance.required_matched_ratio()).AddDouble(tolerance.max_rms_error_ratio());
  bytes.AddDouble(tolerance.rms_yardstick());
  bytes.Add(int64_t{task.device()}).Add(task.work().bytes()).Add(task.work().flops());
  bytes.Add(int64_t{task.references_size()});
  for (const v1::Sources& sources : task.references()) bytes.Add(CandidateId(sources));
  bytes.Add(int64_t{task.baselines_size()});
  for (const v1::Sources& sources : task.baselines()) bytes.Add(CandidateId(sources));
  // Absent in older tasks, whose names stay.
  if (task.has_hidden()) {
    bytes.Add("hidden").Add(int64_t{task.hidden().keep_size()});
    for (const std::string& input : task.hidden().keep()) bytes.Add(input);
    bytes.Add(int64_t{task.hidden().scalars_size()});
    for (const v1::HiddenSettings::FreeScalar& scalar : task.hidden().scalars()) {
      bytes.Add(scalar.input()).Add(int64_t{scalar.values_size()});
      for (const double value : scalar.values()) bytes.AddDouble(value);
    }
  }
  return bytes.Sha256();
}

}  // namespace ksearch
