#include "coordinator/suites/gpumode/gpumode_programs.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "coordinator/suites/gpumode/python/problem_scripts.h"
#include "coordinator/suites/gpumode/upstream_arguments.h"
#include "coordinator/suites/problem_language.h"

namespace ksearch {
namespace {

constexpr char kInstructions[] =
    R"(- A function `custom_kernel(data)` at the top level. `data` is what `generate_input` of the reference returns,
  with the same nesting; it returns what `ref_kernel` returns, with the same nesting, in plain torch tensors of
  exactly the same shapes and dtypes.
- Results that the reference writes into a tensor of `data` and returns may be written there, too; all other
  tensors of `data` stay as they are.
- The file may import what the reference imports from `task` and `utils`, but not `reference`.
)";

constexpr char kWritesIntoData[] =
    R"(- `ref_kernel` returns nothing: a call's results are what is then in the tensors of `data` that it writes into.
  Write into the same tensors.
)";

// Instructions for a problem whose eval.py calls functions other than custom_kernel.
std::string OwnInstructions(const GpuModeDescription& description) {
  std::string text;
  for (const LocatedJson& call : description.spec.Find("entries")->Find("calls")->items) {
    const LocatedJson* const reference = call.Find("reference");
    absl::StrAppend(&text, "- A function `", call.Find("submission")->text,
                    "` at the top level with the arguments of the reference's `",
                    reference == nullptr ? "" : reference->text,
                    "`; it returns what that returns, in plain torch tensors of exactly the same "
                    "shapes and dtypes.\n");
  }
  return absl::StrCat(text,
                      "- All of them are called one after the other in each call, and measured "
                      "together. They do not change their arguments.\n"
                      "- The file may import what the reference imports from `task` and `utils`, "
                      "but not `reference`.\n");
}

// Any text in Python's spelling.
std::string HexOf(const LocatedJson& value) {
  return absl::BytesToHexString(WriteJson(value, /*indent=*/-1));
}

LocatedJson ArgumentsOf(const std::vector<GpuModeCase>& cases) {
  LocatedJson arguments = LocatedJson::Array();
  for (const GpuModeCase& each : cases) arguments.items.push_back(each.arguments);
  return arguments;
}

// The arguments of the cases as upstream's evaluator reads them; null if they are the same, or if
// it refuses them.
LocatedJson UpstreamsArguments(const GpuModeProblem& problem) {
  const auto cases = CasesAsUpstreamReads(problem);
  if (!cases.ok() || SameArguments(*cases, problem.cases)) return LocatedJson();
  return ArgumentsOf(*cases);
}

v1::Sources WithFiles(std::string own, const GpuModeProblem& problem, bool with_reference) {
  v1::Sources sources;
  sources.set_language(ProblemLanguage().id);
  v1::SourceFile* const main = sources.add_files();
  main->set_path(std::string(ProblemLanguage().main_path));
  main->set_content(std::move(own));
  for (const v1::SourceFile& file : problem.files) {
    if (with_reference || file.path() != kGpuModeReferenceFile) *sources.add_files() = file;
  }
  return sources;
}

// Roles of problem_entry.py.
constexpr absl::string_view kReferenceRole = "reference";
constexpr absl::string_view kBaselineRole = "baseline";
constexpr absl::string_view kSubmissionRole = "submission";

std::string Entry(const GpuModeProblem& problem, const GpuModeDescription& description,
                  absl::string_view role) {
  LocatedJson spec = description.spec;
  // Candidates do not get the arguments of cases.
  if (role != kSubmissionRole) spec.Set("cases", ArgumentsOf(problem.cases));
  return absl::StrCat(
      absl::StrReplaceAll(ProblemEntryScript(), {{"@SPEC@", HexOf(spec)}, {"@ROLE@", role}}),
      role == kReferenceRole ? JudgeOutputsScript() : "", PlacementScript(), NestedValuesScript(),
      ModulesOfClasses(description));
}

// Returns true if a line at the top level defines this function.
bool Defines(absl::string_view line, absl::string_view name) {
  if (absl::ConsumePrefix(&line, "def ")) return absl::StartsWith(line, absl::StrCat(name, "("));
  return absl::StartsWith(line, absl::StrCat(name, " =")) ||
         absl::StartsWith(line, absl::StrCat(name, "="));
}

}  // namespace

v1::Sources GpuModeDescribingProgram(const GpuModeProblem& problem) {
  const std::string script = absl::StrReplaceAll(
      DescribeProblemScript(), {{"@CASES@", HexOf(ArgumentsOf(problem.cases))},
                                {"@UPSTREAMS_CASES@", HexOf(UpstreamsArguments(problem))}});
  v1::Sources sources =
      WithFiles(absl::StrCat(script, PlacementScript(), NestedValuesScript(), "\n\nmain()\n"),
                problem, /*with_reference=*/true);
  if (!problem.evaluator.empty()) {
    v1::SourceFile* const evaluator = sources.add_files();
    evaluator->set_path(kGpuModeEvaluatorFile);
    evaluator->set_content(problem.evaluator);
  }
  return sources;
}

v1::Sources GpuModeReference(const GpuModeProblem& problem, const GpuModeDescription& description) {
  return WithFiles(Entry(problem, description, kReferenceRole), problem, /*with_reference=*/true);
}

v1::Sources GpuModeBaseline(const GpuModeProblem& problem, const GpuModeDescription& description) {
  return WithFiles(Entry(problem, description, kBaselineRole), problem, /*with_reference=*/true);
}

v1::ProgramForm GpuModeSubmissionForm(const GpuModeProblem& problem,
                                      const GpuModeDescription& description) {
  v1::ProgramForm form;
  form.set_name(absl::StrJoin(description.functions, ", "));
  form.set_language(ProblemLanguage().id);
  for (const std::string& function : description.functions) {
    form.add_begins(absl::StrCat("def ", function, "("));
    for (const char* assigned : {" =", "="}) form.add_begins(absl::StrCat(function, assigned));
  }
  for (const char* other : {"def run(", "run =", "run="}) form.add_begins_not(other);
  form.set_path(kGpuModeSubmissionFile);
  *form.mutable_files() =
      WithFiles(Entry(problem, description, kSubmissionRole), problem, /*with_reference=*/false)
          .files();
  if (!description.classes.empty()) {
    v1::SourceFile* const classes = form.add_files();
    classes->set_path(kGpuModeReferenceFile);
    classes->set_content(description.classes);
  }
  std::string instructions = description.spec.Find("entries")->kind == LocatedJson::Kind::kNull
                                 ? std::string(kInstructions)
                                 : OwnInstructions(description);
  if (description.spec.Find("result")->Find("in") != nullptr) {
    absl::StrAppend(&instructions, kWritesIntoData);
  }
  form.set_instructions(instructions);
  return form;
}

std::string ModulesOfClasses(const GpuModeDescription& description) {
  std::string imports, modules;
  for (const std::string& module : description.modules) {
    absl::StrAppend(&imports, "    import ", module, "\n");
    absl::StrAppend(&modules, modules.empty() ? "" : ", ", "\"", module, "\": ", module);
  }
  return absl::StrCat("\n\ndef module_of(name):\n", imports, "    return {", modules, "}[name]\n");
}

bool IsGpuModeSubmission(absl::string_view text, const std::vector<std::string>& functions) {
  bool has_entry = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (Defines(line, "run")) return false;
    has_entry |= std::any_of(functions.begin(), functions.end(),
                             [&](const std::string& name) { return Defines(line, name); });
  }
  return has_entry;
}

}  // namespace ksearch
