#include "coordinator/tasks/task_folder.h"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/utf8.h"
#include "common/work_formula.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/torch_programs.h"
#include "coordinator/tasks/workload_check.h"
#include "coordinator/tasks/workload_jsonl.h"

namespace ksearch {
namespace {

// `message` after "<folder>/task.textproto: <field>: ".
absl::Status SettingsError(const std::string& folder, absl::string_view field,
                           absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(folder, "/", kSettingsFile, ": ", field, ": ", message));
}

// Adds <stem>.<ext> for every language that the folder has it in.
absl::Status ReadSources(const std::string& folder, absl::string_view stem, v1::DeviceClass device,
                         google::protobuf::RepeatedPtrField<v1::Sources>* out) {
  for (const LanguageFacts& language : Languages()) {
    const std::string name = absl::StrCat(stem, language.main_extensions.front());
    const std::string path = absl::StrCat(folder, "/", name);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    if (!RunsOn(language.id, device)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": a program of this kind cannot run on the task's device, ",
                       device == v1::DEVICE_CLASS_CUDA ? "a GPU" : "a CPU"));
    }
    ASSIGN_OR_RETURN(std::string content, ReadFile(path, kMaxTaskSourceBytes));
    if (content.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": is empty"));
    if (const size_t text = ValidSourceBytes(content); text < content.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": is not source text: see byte ", text, " of ", content.size()));
    }
    v1::Sources* sources = out->Add();
    sources->set_language(language.id);
    v1::SourceFile* file = sources->add_files();
    file->set_path(name);
    file->set_content(std::move(content));
  }
  return absl::OkStatus();
}

absl::Status CheckTolerance(const std::string& folder, const v1::Tolerance& tolerance) {
  const auto check = [&](absl::string_view field, double value, double most) -> absl::Status {
    if (std::isfinite(value) && value >= 0 && value <= most) return absl::OkStatus();
    return SettingsError(folder, absl::StrCat("tolerance.", field),
                         absl::StrCat("must be from 0 to ", most, ", is ", value));
  };
  constexpr double kMost = 1e30;
  if (tolerance.judged_by_program()) {
    return SettingsError(folder, "tolerance.judged_by_program", "is not supported yet");
  }
  RETURN_IF_ERROR(check("atol", tolerance.atol(), kMost));
  RETURN_IF_ERROR(check("rtol", tolerance.rtol(), kMost));
  RETURN_IF_ERROR(check("required_matched_ratio", tolerance.required_matched_ratio(), 1));
  RETURN_IF_ERROR(check("max_rms_error_ratio", tolerance.max_rms_error_ratio(), kMost));
  RETURN_IF_ERROR(check("rms_yardstick", tolerance.rms_yardstick(), kMost));
  if ((tolerance.max_rms_error_ratio() > 0) != (tolerance.rms_yardstick() > 0)) {
    return SettingsError(folder, "tolerance",
                         "max_rms_error_ratio and rms_yardstick go together: set both or none");
  }
  return absl::OkStatus();
}

absl::Status CheckHidden(const std::string& folder, const v1::HiddenSettings& hidden,
                         const v1::Definition& definition) {
  const auto find = [&](const std::string& name) -> const v1::TensorSpec* {
    for (const v1::TensorSpec& input : definition.inputs()) {
      if (input.name() == name) return &input;
    }
    return nullptr;
  };
  for (int i = 0; i < hidden.keep_size(); ++i) {
    if (find(hidden.keep(i)) != nullptr) continue;
    return SettingsError(folder, absl::StrCat("hidden.keep[", i, "]"),
                         absl::StrCat("\"", hidden.keep(i), "\" is not an input"));
  }
  for (int i = 0; i < hidden.scalars_size(); ++i) {
    const std::string field = absl::StrCat("hidden.scalars[", i, "]");
    const v1::TensorSpec* const input = find(hidden.scalars(i).input());
    if (input == nullptr || !input->scalar()) {
      return SettingsError(
          folder, field + ".input",
          absl::StrCat("\"", hidden.scalars(i).input(), "\" is not a scalar input"));
    }
    for (const double value : hidden.scalars(i).values()) {
      if (!std::isfinite(value)) return SettingsError(folder, field + ".values", "must be finite");
    }
  }
  return absl::OkStatus();
}

absl::Status MarkHeldOut(const std::string& folder, const v1::TaskSettings& settings,
                         v1::Task* task) {
  absl::flat_hash_set<std::string> held_out;
  for (int i = 0; i < settings.held_out_size(); ++i) {
    if (!held_out.insert(settings.held_out(i)).second) {
      return SettingsError(folder, absl::StrCat("held_out[", i, "]"),
                           absl::StrCat("\"", settings.held_out(i), "\" is listed twice"));
    }
  }
  int feedback = 0;
  for (v1::Workload& workload : *task->mutable_workloads()) {
    workload.set_held_out(held_out.erase(workload.uuid()) > 0);
    if (!workload.held_out()) ++feedback;
  }
  for (int i = 0; i < settings.held_out_size(); ++i) {
    if (held_out.contains(settings.held_out(i))) {
      return SettingsError(folder, absl::StrCat("held_out[", i, "]"),
                           absl::StrCat("no workload has the uuid \"", settings.held_out(i), "\""));
    }
  }
  if (settings.held_out().empty()) {
    return SettingsError(folder, "held_out",
                         "must name at least one workload, for confirmation only");
  }
  if (feedback == 0) {
    return SettingsError(folder, "held_out",
                         "names every workload; at least one must stay to guide the search");
  }
  return absl::OkStatus();
}

absl::Status CheckWork(const std::string& folder, const v1::Task& task) {
  const std::pair<absl::string_view, const std::string*> formulas[] = {
      {"work.bytes", &task.work().bytes()}, {"work.flops", &task.work().flops()}};
  for (const auto& [field, formula] : formulas) {
    if (formula->empty()) continue;
    for (const v1::Workload& workload : task.workloads()) {
      absl::flat_hash_map<std::string, int64_t> axes;
      for (const v1::Axis& axis : task.definition().axes()) {
        if (axis.has_const_value()) axes[axis.name()] = axis.const_value();
      }
      for (const v1::AxisValue& axis : workload.axes()) axes[axis.axis()] = axis.value();
      const absl::StatusOr<double> value = EvaluateWorkFormula(*formula, axes);
      if (!value.ok()) return SettingsError(folder, field, value.status().message());
      if (!std::isfinite(*value) || *value < 0) {
        return SettingsError(
            folder, field,
            absl::StrCat("is ", *value, " for workload ", workload.uuid(), ", must be >= 0"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Task> LoadTaskFolder(const std::string& folder) {
  const std::string definition_path = absl::StrCat(folder, "/", kDefinitionFile);
  const std::string workloads_path = absl::StrCat(folder, "/", kWorkloadsFile);
  v1::Task task;
  ASSIGN_OR_RETURN(const std::string definition_text,
                   ReadFile(definition_path, kMaxDefinitionBytes));
  ASSIGN_OR_RETURN(*task.mutable_definition(),
                   ParseDefinitionJson(definition_text, definition_path));
  task.set_name(task.definition().name());
  const std::string folder_name = std::filesystem::path(folder).filename().string();
  if (folder_name != task.name()) {
    return absl::InvalidArgumentError(absl::StrCat(definition_path, ": name: is \"", task.name(),
                                                   "\", but the folder is \"", folder_name, "\""));
  }

  v1::TaskSettings settings;
  RETURN_IF_ERROR(ReadTextproto(absl::StrCat(folder, "/", kSettingsFile), &settings));
  if (settings.device() == v1::DEVICE_CLASS_UNSPECIFIED) {
    return SettingsError(folder, "device", "is missing");
  }
  RETURN_IF_ERROR(CheckTolerance(folder, settings.tolerance()));
  task.set_title(settings.title());
  task.set_device(settings.device());
  *task.mutable_tolerance() = settings.tolerance();
  *task.mutable_work() = settings.work();
  if (settings.has_objective()) {
    const double factor = settings.objective().guard_factor();
    if (factor != 0 && !(factor >= 1 && factor <= 1000)) {
      return SettingsError(folder, "objective.guard_factor", "must be from 1 to 1000");
    }
    *task.mutable_objective() = settings.objective();
  }
  if (settings.has_hidden()) {
    RETURN_IF_ERROR(CheckHidden(folder, settings.hidden(), task.definition()));
    *task.mutable_hidden() = settings.hidden();
  }

  ASSIGN_OR_RETURN(const std::string workloads_text, ReadFile(workloads_path, kMaxWorkloadsBytes));
  ASSIGN_OR_RETURN(std::vector<v1::Workload> workloads,
                   ParseWorkloadJsonl(workloads_text, workloads_path, task.definition()));
  if (workloads.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(workloads_path, ":1: there is no workload"));
  }
  for (v1::Workload& workload : workloads) *task.add_workloads() = std::move(workload);
  RETURN_IF_ERROR(MarkHeldOut(folder, settings, &task));

  RETURN_IF_ERROR(ReadSources(folder, "reference", task.device(), task.mutable_references()));
  RETURN_IF_ERROR(ReadSources(folder, "baseline", task.device(), task.mutable_baselines()));
  RETURN_IF_ERROR(
      Annotate(AddTorchPrograms(settings, &task), absl::StrCat(folder, "/", kSettingsFile)));
  if (task.references().empty()) {
    return absl::NotFoundError(absl::StrCat(folder, ": there is no reference", MainExtensions()));
  }
  if (task.baselines().empty()) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": there is no baseline", MainExtensions(),
                     ", and task.textproto names none (baseline: \"torch\")"));
  }

  const absl::StatusOr<std::string> header = KernelHeader(task.definition(), task.device());
  if (!header.ok()) return Annotate(header.status(), definition_path);
  for (const v1::Workload& workload : task.workloads()) {
    RETURN_IF_ERROR(Annotate(CheckWorkload(task.definition(), workload), workloads_path));
  }
  RETURN_IF_ERROR(Annotate(CheckMadeInputs(task), workloads_path));
  RETURN_IF_ERROR(CheckWork(folder, task));
  return task;
}

}  // namespace ksearch
