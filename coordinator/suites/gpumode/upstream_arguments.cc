#include "coordinator/suites/gpumode/upstream_arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

// Digits after at most one sign.
bool IsWholeNumber(absl::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return absl::ascii_isdigit(c); });
}

// The widest of upstream's patterns for words; most evaluators take letters alone.
bool IsWord(absl::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

absl::StatusOr<LocatedJson> AsTuple(const LocatedJson& list) {
  if (std::any_of(list.items.begin(), list.items.end(),
                  [](const LocatedJson& item) { return item.kind != Kind::kInteger; })) {
    return absl::InvalidArgumentError("a list of other values than whole numbers");
  }
  LocatedJson tuple = LocatedJson::Object();
  tuple.Set("tuple", list);
  return tuple;
}

absl::StatusOr<LocatedJson> AsUpstreamReads(const LocatedJson& value, bool reads_lists) {
  switch (value.kind) {
    case Kind::kInteger:
      return value;
    case Kind::kBool:
      return LocatedJson::String(value.boolean ? "True" : "False");
    case Kind::kNull:
      return LocatedJson::String("None");
    case Kind::kString: {
      int64_t number = 0;
      const absl::string_view text = absl::StripAsciiWhitespace(value.text);
      if (IsWholeNumber(text) && absl::SimpleAtoi(text, &number)) {
        return LocatedJson::Integer(number);
      }
      if (IsWord(text)) return LocatedJson::String(text);
      return absl::InvalidArgumentError("text other than one word");
    }
    case Kind::kArray:
      return reads_lists ? AsTuple(value) : absl::InvalidArgumentError("a list");
    default:
      return absl::InvalidArgumentError("a fraction");
  }
}

}  // namespace

absl::StatusOr<std::vector<GpuModeCase>> CasesAsUpstreamReads(const GpuModeProblem& problem) {
  std::vector<GpuModeCase> cases = problem.cases;
  for (GpuModeCase& each : cases) {
    for (LocatedJson::Member& argument : each.arguments.members) {
      absl::StatusOr<LocatedJson> read = AsUpstreamReads(argument.value, problem.reads_lists);
      if (!read.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("upstream's eval.py refuses '",
                                                       argument.name, "' of ", each.uuid, ", ",
                                                       read.status().message()));
      }
      argument.value = *std::move(read);
    }
  }
  return cases;
}

bool SameArguments(const std::vector<GpuModeCase>& a, const std::vector<GpuModeCase>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const GpuModeCase& one, const GpuModeCase& other) {
                      return WriteJson(one.arguments, -1) == WriteJson(other.arguments, -1);
                    });
}

}  // namespace ksearch
