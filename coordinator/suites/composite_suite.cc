#include "coordinator/suites/composite_suite.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "coordinator/suites/readable_text.h"
#include "coordinator/tasks/near_names.h"

namespace ksearch {
namespace {

class CompositeSuite final : public TaskSuite {
 public:
  CompositeSuite(std::unique_ptr<TaskSuite> unnamed, std::vector<NamedSuite> named)
      : unnamed_(std::move(unnamed)), named_(std::move(named)) {}

  std::vector<v1::TaskSummary> List() const override {
    std::vector<v1::TaskSummary> summaries = unnamed_->List();
    for (const NamedSuite& each : named_) {
      for (v1::TaskSummary& summary : each.suite->List()) {
        summary.set_suite(each.name);
        summary.set_name(absl::StrCat(each.name, "/", summary.name()));
        summaries.push_back(std::move(summary));
      }
    }
    for (v1::TaskSummary& summary : summaries) MakeTextsReadable(&summary);
    std::stable_sort(
        summaries.begin(), summaries.end(),
        [](const v1::TaskSummary& a, const v1::TaskSummary& b) { return a.name() < b.name(); });
    return summaries;
  }

  absl::StatusOr<ProblemProgram> DescribingProgramOf(const std::string& name) const override {
    const auto [suite, rest] = Find(name);
    if (suite == nullptr) return unnamed_->DescribingProgramOf(name);
    return suite->suite->DescribingProgramOf(rest);
  }

  absl::StatusOr<v1::SourceFile> ToUpstream(const std::string& name,
                                            const v1::Sources& program) const override {
    const auto [suite, rest] = Find(name);
    return suite == nullptr ? unnamed_->ToUpstream(name, program)
                            : suite->suite->ToUpstream(rest, program);
  }

  absl::Status Adapt(const std::string& name, v1::Sources* sources) const override {
    const auto [suite, rest] = Find(name);
    return suite == nullptr ? unnamed_->Adapt(name, sources) : suite->suite->Adapt(rest, sources);
  }

  absl::StatusOr<std::vector<v1::SolutionSummary>> Solutions(
      const std::string& name) const override {
    const auto [suite, rest] = Find(name);
    absl::StatusOr<std::vector<v1::SolutionSummary>> solutions =
        suite == nullptr ? unnamed_->Solutions(name) : suite->suite->Solutions(rest);
    if (!solutions.ok()) return Located(solutions.status(), suite);
    for (v1::SolutionSummary& solution : *solutions) MakeTextsReadable(&solution);
    return solutions;
  }

  absl::StatusOr<v1::Sources> LoadSolution(const std::string& name,
                                           const std::string& solution) const override {
    const auto [suite, rest] = Find(name);
    absl::StatusOr<v1::Sources> program = suite == nullptr
                                              ? unnamed_->LoadSolution(name, solution)
                                              : suite->suite->LoadSolution(rest, solution);
    if (!program.ok()) return Located(program.status(), suite);
    return program;
  }

  absl::Status SetMode(const std::string& name, const std::string& mode,
                       v1::EvaluateRequest* request, v1::Task* task) const override {
    const auto [suite, rest] = Find(name);
    if (suite == nullptr) return unnamed_->SetMode(name, mode, request, task);
    RETURN_IF_ERROR(suite->suite->SetMode(rest, mode, request, task));
    task->set_name(name);
    return absl::OkStatus();
  }

  std::vector<v1::SuiteScore> Scores(const std::string& name,
                                     const v1::JobResult& result) const override {
    const auto [suite, rest] = Find(name);
    return suite == nullptr ? unnamed_->Scores(name, result) : suite->suite->Scores(rest, result);
  }

  absl::StatusOr<v1::Task> Load(const std::string& name) const override {
    if (const auto [suite, rest] = Find(name); suite != nullptr) {
      absl::StatusOr<v1::Task> task = suite->suite->Load(rest);
      if (!task.ok()) return Located(task.status(), suite);
      task->set_name(name);
      return task;
    }
    absl::StatusOr<v1::Task> task = unnamed_->Load(name);
    if (named_.empty() || !absl::IsNotFound(task.status())) return task;
    // The user may have left out the suite's name.
    std::vector<std::string> names;
    for (const v1::TaskSummary& summary : List()) {
      if (!summary.suite().empty()) names.push_back(summary.name());
    }
    return absl::NotFoundError(
        absl::StrCat(task.status().message(), "; nor in the suites ",
                     absl::StrJoin(named_, ", ",
                                   [](std::string* out, const NamedSuite& each) {
                                     absl::StrAppend(out, "'", each.name, "'");
                                   }),
                     names.empty() ? "" : "; nearest there: ",
                     names.empty() ? "" : absl::StrJoin(NearNames(name, names), ", ")));
  }

 private:
  // Messages of a suite name tasks as it does.
  static absl::Status Located(const absl::Status& status, const NamedSuite* suite) {
    return suite == nullptr ? status : Annotate(status, absl::StrCat("suite '", suite->name, "'"));
  }
  // The named suite that a task belongs to, and the task's name there; null: the unnamed one.
  std::pair<const NamedSuite*, std::string> Find(const std::string& name) const {
    const size_t slash = name.find('/');
    for (const NamedSuite& each : named_) {
      if (slash != std::string::npos && each.name == name.substr(0, slash)) {
        return {&each, name.substr(slash + 1)};
      }
    }
    return {nullptr, name};
  }

  const std::unique_ptr<TaskSuite> unnamed_;
  const std::vector<NamedSuite> named_;
};

}  // namespace

std::unique_ptr<TaskSuite> MakeCompositeSuite(std::unique_ptr<TaskSuite> unnamed,
                                              std::vector<NamedSuite> named) {
  return std::make_unique<CompositeSuite>(std::move(unnamed), std::move(named));
}

}  // namespace ksearch
