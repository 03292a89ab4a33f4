#include "coordinator/suites/suite_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/names.h"
#include "common/status_macros.h"
#include "coordinator/suites/composite_suite.h"
#include "coordinator/suites/flashinfer/flashinfer_suite.h"
#include "coordinator/suites/gpumode/gpumode_suite.h"
#include "coordinator/suites/kernelbench_suite.h"
#include "coordinator/tasks/directory_suite.h"

namespace ksearch {
namespace {

using MadeSuite = absl::StatusOr<std::unique_ptr<TaskSuite>>;

// The coordinator's objects that suites borrow.
struct Surroundings {
  const Descriptions* descriptions;
  RecordedBlobs* blobs;
};

MadeSuite MakeFolders(const v1::SuiteConfig& config, const Surroundings&) {
  MadeSuite suite = MakeDirectorySuite({config.path()});
  if (!suite.ok()) return Annotate(suite.status(), "path");
  return suite;
}

MadeSuite MakeFlashInfer(const v1::SuiteConfig& config, const Surroundings& surroundings) {
  return MakeFlashInferSuite(config, surroundings.blobs);
}

MadeSuite MakeGpuMode(const v1::SuiteConfig& config, const Surroundings& surroundings) {
  return MakeGpuModeSuite(config, surroundings.descriptions);
}

MadeSuite MakeKernelBench(const v1::SuiteConfig& config, const Surroundings& surroundings) {
  return MakeKernelBenchSuite(config, surroundings.descriptions);
}

struct SuiteKind {
  absl::string_view name;
  bool has_precision;  // SuiteConfig.precision and .baseline apply to it
  MadeSuite (*make)(const v1::SuiteConfig& config, const Surroundings& surroundings);
};

constexpr SuiteKind kKinds[] = {
    {"flashinfer", false, MakeFlashInfer},
    {"folders", false, MakeFolders},
    {"gpumode", false, MakeGpuMode},
    {"kernelbench", true, MakeKernelBench},
};

MadeSuite MakeSuite(const v1::SuiteConfig& config, const Surroundings& surroundings) {
  const auto* const kind =
      std::find_if(std::begin(kKinds), std::end(kKinds),
                   [&](const auto& each) { return each.name == config.kind(); });
  if (kind == std::end(kKinds)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kind: '", config.kind(), "' is not a kind of suite; known: ",
                     absl::StrJoin(kKinds, ", ", [](std::string* out, const SuiteKind& each) {
                       absl::StrAppend(out, each.name);
                     })));
  }
  if (config.path().empty()) return absl::InvalidArgumentError("path: is missing");
  for (const auto& [field, value] :
       {std::pair("precision", &config.precision()), std::pair("baseline", &config.baseline())}) {
    if (kind->has_precision || value->empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": tasks of kind '", config.kind(), "' say this themselves"));
  }
  return kind->make(config, surroundings);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskSuite>> MakeTaskSuites(
    std::vector<std::string> task_dirs,
    const google::protobuf::RepeatedPtrField<v1::SuiteConfig>& suites,
    const Descriptions* descriptions, RecordedBlobs* blobs) {
  ASSIGN_OR_RETURN(std::unique_ptr<TaskSuite> folders, MakeDirectorySuite(std::move(task_dirs)));
  if (suites.empty()) return folders;
  std::vector<NamedSuite> named;
  std::set<std::string> names;
  for (int i = 0; i < suites.size(); ++i) {
    const std::string field = absl::StrCat("suites[", i, "]");
    const std::string& name = suites[i].name().empty() ? suites[i].kind() : suites[i].name();
    MadeSuite suite = MakeSuite(suites[i], {descriptions, blobs});
    if (!suite.ok()) {
      return absl::Status(suite.status().code(),
                          absl::StrCat(field, ".", suite.status().message()));
    }
    if (!IsTaskName(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, ".name: '", name,
          "' may hold only letters, digits, '_', '.' and '-', and begins with no '.'"));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".name: '", name,
                       "' is the name of an earlier suite; give it another one (--suite "
                       "NAME=KIND:PATH)"));
    }
    named.push_back({name, *std::move(suite)});
  }
  return MakeCompositeSuite(std::move(folders), std::move(named));
}

}  // namespace ksearch
