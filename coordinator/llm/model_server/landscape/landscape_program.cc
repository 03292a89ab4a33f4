#include "coordinator/llm/model_server/landscape/landscape_program.h"

#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ksearch {
namespace {

constexpr absl::string_view kChoicesMark = "// choices: ";
constexpr absl::string_view kRemarkMark = "// remark: ";

// Each step needs the one before it, so that neither compiler nor processor does two at once.
// Whether the steps end at `kNever` cannot be known before they are done, and practically never
// happens.
constexpr absl::string_view kTemplate = R"(// output = scale * input, with the choices below.
{choices}
{remark}#include <cstdint>

#include "ksearch_task.h"

namespace {

constexpr std::int64_t kWork = {work};
constexpr float kScale = {scale}f;
constexpr std::uint64_t kNever = 0x9e3779b97f4a7c15u;

std::uint64_t Steps(std::uint64_t state) {
  for (std::int64_t i = 0; i < kWork; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  return state;
}

}  // namespace

extern "C" int ksearch_run(const KsearchArgs* args) {
  const std::int64_t elements = {elements};
  const auto seed = static_cast<std::uint64_t>(args->{input}[0] > 0);
  const float rest = Steps(seed) == kNever ? 1.0f : 0.0f;
{defect}  for (std::int64_t i = 0; i < elements; ++i) args->{output}[i] = kScale * args->{input}[i] + rest;
  return 0;
}
)";

struct DefectText {
  v1::LandscapeFailure::Kind kind;
  const char* line;
};
constexpr DefectText kDefects[] = {
    {v1::LandscapeFailure::COMPILE_ERROR, "  undeclared_step(elements);\n"},
    {v1::LandscapeFailure::WRONG, "  return args->{output}[0] = kScale, 0;\n"},
    {v1::LandscapeFailure::CRASH, "  __builtin_trap();\n"},
};

std::string DefectLine(const Landscape& landscape, v1::LandscapeFailure::Kind kind) {
  for (const DefectText& defect : kDefects) {
    if (defect.kind != kind) continue;
    return absl::StrReplaceAll(defect.line, {{"{output}", landscape.spec().program().output()}});
  }
  return "";
}

}  // namespace

std::string RenderProgram(const Landscape& landscape, const LandscapeCode& code) {
  const v1::LandscapeProgram& program = landscape.spec().program();
  std::string scale = absl::StrCat(program.scale());
  if (scale.find_first_of(".e") == std::string::npos) scale += ".0";
  return absl::StrReplaceAll(
      kTemplate,
      {{"{choices}", absl::StrCat(kChoicesMark, landscape.Write(code.point))},
       {"{remark}", code.remark.empty() ? "" : absl::StrCat(kRemarkMark, code.remark, "\n")},
       {"{work}", absl::StrCat(landscape.Work(code.point))},
       {"{scale}", scale},
       {"{elements}", program.elements()},
       {"{input}", program.input()},
       {"{output}", program.output()},
       {"{defect}", DefectLine(landscape, code.defect)}});
}

std::optional<LandscapeCode> ReadProgram(const Landscape& landscape, absl::string_view source) {
  LandscapeCode code;
  bool found = false;
  for (absl::string_view line : absl::StrSplit(source, '\n')) {
    if (absl::StartsWith(line, kChoicesMark)) {
      const auto point = landscape.Read(absl::StripPrefix(line, kChoicesMark));
      if (!point.has_value() || found) return std::nullopt;
      code.point = *point;
      found = true;
    } else if (absl::StartsWith(line, kRemarkMark)) {
      code.remark = std::string(absl::StripPrefix(line, kRemarkMark));
    }
  }
  if (!found) return std::nullopt;
  for (const DefectText& defect : kDefects) {
    if (absl::StrContains(source, DefectLine(landscape, defect.kind))) code.defect = defect.kind;
  }
  return code;
}

}  // namespace ksearch
