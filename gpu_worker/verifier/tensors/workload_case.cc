#include "gpu_worker/verifier/tensors/workload_case.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/judges/suite_judges.h"

namespace ksearch {

absl::StatusOr<std::shared_ptr<const WorkloadCase>> WorkloadCase::Create(
    const v1::Task& task, const v1::Workload& workload, const std::string& task_sha256,
    const Seed& seed, MadeInputs* made_inputs, OutputJudge* judge, const BlobPaths& blobs) {
  const v1::Definition& definition = task.definition();
  auto made = std::shared_ptr<WorkloadCase>(new WorkloadCase);
  made->key_ = absl::StrCat(task_sha256, "/", workload.uuid());
  made->uuid_ = workload.uuid();
  made->held_out_ = workload.held_out();
  made->seed_ = seed;
  made->tolerance_ = task.tolerance();
  made->suite_rule_ = task.suite_rule();
  if (task.tolerance().judged_by_program()) {
    if (judge == nullptr) {
      return absl::InvalidArgumentError("judge_outputs of the task's reference is not there");
    }
    made->judge_ = judge;
  }
  if (task.tolerance().judged_by_suite_rule()) {
    made->own_judge_ = MakeSuiteJudge(task.suite_rule());
    if (made->own_judge_ == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tolerance.judged_by_suite_rule: ", v1::SuiteRule::Rule_Name(task.suite_rule().rule()),
          " judges no outputs by a call's inputs"));
    }
    made->judge_ = made->own_judge_.get();
  }
  ASSIGN_OR_RETURN(made->slots_, KernelArguments(definition, workload));

  absl::flat_hash_map<std::string, const v1::InputRecipe*> recipes;
  for (const v1::InputRecipe& recipe : workload.inputs()) recipes[recipe.input()] = &recipe;
  std::shared_ptr<MadeVariants> variants;
  size_t made_tensors = 0;
  int slot = definition.axes_size();
  const auto add = [&](const v1::TensorSpec& tensor, bool output) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<int64_t> shape, TensorShape(definition, workload, tensor));
    ASSIGN_OR_RETURN(const int64_t element_bytes, ElementBytes(tensor.dtype()));
    int64_t elements = 1;
    for (const int64_t extent : shape) {
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements) ||
          elements > (int64_t{1} << 40)) {
        return absl::InvalidArgumentError(
            absl::StrCat("workload ", workload.uuid(), ": '", tensor.name(), "' is too large"));
      }
    }
    made->tensors_.push_back(
        {tensor.name(), tensor.dtype(), slot, elements, elements * element_bytes, output});
    made->footprint_bytes_ += elements * element_bytes;
    return absl::OkStatus();
  };
  for (const v1::TensorSpec& tensor : definition.inputs()) {
    if (!tensor.scalar()) {
      RETURN_IF_ERROR(add(tensor, false));
      const auto recipe = recipes.find(tensor.name());
      if (recipe == recipes.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "workload ", workload.uuid(), " has no recipe for input '", tensor.name(), "'"));
      }
      std::unique_ptr<InputGenerator> generator;
      if (recipe->second->has_made() && made_inputs != nullptr) {
        if (variants == nullptr) {
          ASSIGN_OR_RETURN(auto maker, ForMaker(task, workload, task_sha256, seed));
          ASSIGN_OR_RETURN(variants, made_inputs->Open(std::move(maker)));
          // A suite's cases are as they are; its results say which inputs repeat.
          if (variants->repeats() && !task.has_suite_rule()) {
            return TaskFault(absl::StrCat("make_inputs fails on workload ", workload.uuid(),
                                          ": it returns the same tensors for every seed, so that "
                                          "programs could keep their answers; use `seed`"));
          }
        }
        generator = MakeMadeGenerator(variants, made_tensors, made->tensors_.back().bytes);
      } else {
        ASSIGN_OR_RETURN(generator, MakeInputGenerator(definition, workload, tensor,
                                                       *recipe->second, seed, blobs));
      }
      ++made_tensors;
      const int64_t pool_bytes = generator->pool_bytes();
      made->generators_.push_back(std::move(generator));
      const bool on_host =
          task.device() != v1::DEVICE_CLASS_CUDA || !made->DrawnOnDevice(made->inputs() - 1);
      if (on_host) made->pool_bytes_ += pool_bytes;
    }
    ++slot;
  }
  for (const v1::TensorSpec& tensor : definition.outputs()) {
    if (tensor.scalar()) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", tensor.name(), "' is a scalar; give it a shape of its own"));
    }
    RETURN_IF_ERROR(add(tensor, true));
    ++slot;
  }
  if (made->outputs() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("task ", task.name(), " has no output"));
  }
  return std::shared_ptr<const WorkloadCase>(std::move(made));
}

absl::StatusOr<std::shared_ptr<const WorkloadCase>> WorkloadCase::ForMaker(
    const v1::Task& task, const v1::Workload& workload, const std::string& task_sha256,
    const Seed& seed) {
  const v1::Definition& definition = task.definition();
  auto made = std::shared_ptr<WorkloadCase>(new WorkloadCase);
  made->key_ = absl::StrCat(task_sha256, "/", workload.uuid(), "/inputs");
  made->uuid_ = workload.uuid();
  made->held_out_ = workload.held_out();
  made->seed_ = seed;
  ASSIGN_OR_RETURN(std::vector<v1::ArgumentSlot> arguments, KernelArguments(definition, workload));
  v1::ArgumentSlot first;
  first.set_buffer(true);
  first.set_role(v1::ArgumentSlot::INPUT);
  first.mutable_view()->set_name(kSeedArgument.data(), kSeedArgument.size());
  first.mutable_view()->set_dtype(v1::DTYPE_INT64);
  first.mutable_view()->add_shape(1);
  made->slots_.push_back(std::move(first));
  made->tensors_.push_back(
      {std::string(kSeedArgument), v1::DTYPE_INT64, 0, 1, sizeof(int64_t), false});
  int64_t first_seed = 0;
  for (const v1::InputRecipe& recipe : workload.inputs()) {
    if (recipe.input() == kSeedArgument) first_seed = recipe.scalar().int_value();
  }
  made->generators_.push_back(MakeSeedGenerator(
      DeriveKey(seed, workload.uuid(), kSeedArgument, "make_inputs"), first_seed));
  std::vector<v1::ArgumentSlot> tensors;
  for (v1::ArgumentSlot& argument : arguments) {
    if (argument.role() == v1::ArgumentSlot::OUTPUT) continue;
    if (argument.value_case() == v1::ArgumentSlot::kBuffer) {
      argument.set_role(v1::ArgumentSlot::OUTPUT);
      tensors.push_back(std::move(argument));
      continue;
    }
    if (argument.role() == v1::ArgumentSlot::AXIS) {
      argument.set_role(v1::ArgumentSlot::INPUT);
      argument.mutable_view()->set_dtype(v1::DTYPE_INT64);
      argument.mutable_view()->set_name(absl::StrCat(kAxisArgument, argument.view().name()));
    }
    made->slots_.push_back(std::move(argument));
  }
  for (v1::ArgumentSlot& argument : tensors) {
    const v1::TensorView& view = argument.view();
    ASSIGN_OR_RETURN(const int64_t element_bytes, ElementBytes(view.dtype()));
    int64_t elements = 1;
    for (const int64_t extent : view.shape()) elements *= extent;
    made->tensors_.push_back({view.name(), view.dtype(), static_cast<int>(made->slots_.size()),
                              elements, elements * element_bytes, true});
    made->footprint_bytes_ += elements * element_bytes;
    made->slots_.push_back(std::move(argument));
  }
  return std::shared_ptr<const WorkloadCase>(std::move(made));
}

std::shared_ptr<const WorkloadCase> WorkloadCase::ForJudge(const WorkloadCase& judged,
                                                           std::shared_ptr<MadeVariants> held) {
  auto made = std::shared_ptr<WorkloadCase>(new WorkloadCase);
  made->key_ = absl::StrCat(judged.key_, "/judge");
  made->uuid_ = judged.uuid_;
  made->held_out_ = judged.held_out_;
  made->seed_ = judged.seed_;
  made->slots_ = judged.slots_;
  for (v1::ArgumentSlot& slot : made->slots_) {
    if (slot.role() == v1::ArgumentSlot::OUTPUT) slot.set_role(v1::ArgumentSlot::INPUT);
  }
  for (TensorArgument tensor : judged.tensors_) {
    tensor.output = false;
    made->generators_.push_back(MakeMadeGenerator(held, made->tensors_.size(), tensor.bytes));
    made->footprint_bytes_ += tensor.bytes;
    made->tensors_.push_back(std::move(tensor));
  }
  v1::ArgumentSlot& verdict = made->slots_.emplace_back();
  verdict.set_buffer(true);
  verdict.set_role(v1::ArgumentSlot::OUTPUT);
  verdict.mutable_view()->set_name("verdict");
  verdict.mutable_view()->set_dtype(v1::DTYPE_INT8);
  verdict.mutable_view()->add_shape(kVerdictBytes);
  made->tensors_.push_back({"verdict", v1::DTYPE_INT8, static_cast<int>(made->slots_.size()) - 1,
                            kVerdictBytes, kVerdictBytes, true});
  made->footprint_bytes_ += kVerdictBytes;
  return made;
}

std::shared_ptr<const WorkloadCase> WorkloadCase::WithTolerance(
    const v1::Tolerance& tolerance) const {
  auto copy = std::shared_ptr<WorkloadCase>(new WorkloadCase(*this));
  copy->tolerance_ = tolerance;
  return copy;
}

absl::StatusOr<const v1::Workload*> FindWorkload(const v1::Task& task, const std::string& uuid) {
  for (const v1::Workload& workload : task.workloads()) {
    if (workload.uuid() == uuid) return &workload;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("task ", task.name(), " has no workload '", uuid, "'"));
}

}  // namespace ksearch
