#include "cli/task/axis_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/names.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 31;

using AxisChoices = std::vector<std::pair<std::string, std::vector<int64_t>>>;

absl::StatusOr<AxisChoices> ParseArgument(const std::string& argument) {
  const auto wrong = [&](absl::string_view what) {
    constexpr size_t kMostQuoted = 200;
    return absl::InvalidArgumentError(
        absl::StrCat("--shapes '", absl::string_view(argument).substr(0, kMostQuoted),
                     argument.size() > kMostQuoted ? "..." : "", "': ", what));
  };
  AxisChoices axes;
  for (absl::string_view word : absl::StrSplit(argument, ',')) {
    word = absl::StripAsciiWhitespace(word);
    if (const size_t equals = word.find('='); equals != absl::string_view::npos) {
      const absl::string_view name = absl::StripAsciiWhitespace(word.substr(0, equals));
      if (!IsIdentifier(name)) {
        return wrong(absl::StrCat("'", name, "' cannot name an axis: use letters, digits and '_'"));
      }
      for (const auto& [other, values] : axes) {
        if (other == name) return wrong(absl::StrCat("the axis '", name, "' stands there twice"));
      }
      if (axes.size() == kMostAxes) return wrong(absl::StrCat("more than ", kMostAxes, " axes"));
      axes.emplace_back(std::string(name), std::vector<int64_t>());
      word = absl::StripAsciiWhitespace(word.substr(equals + 1));
    } else if (axes.empty()) {
      return wrong("must begin with AXIS=VALUE, as in n=1024,4096");
    }
    int64_t value = 0;
    if (!absl::SimpleAtoi(word, &value) || value < 1 || value > kMostExtent) {
      return wrong(absl::StrCat("'", word, "' of the axis '", axes.back().first,
                                "' must be a whole number from 1 to ", kMostExtent));
    }
    axes.back().second.push_back(value);
  }
  size_t workloads = 1;
  for (const auto& [name, values] : axes) {
    workloads *= values.size();
    if (workloads > kMostShapes) {
      return wrong(absl::StrCat("stands for more than ", kMostShapes, " workloads"));
    }
  }
  return axes;
}

}  // namespace

absl::StatusOr<std::vector<AxisValues>> ParseShapes(const std::vector<std::string>& arguments) {
  std::vector<AxisValues> workloads;
  std::vector<std::string> names;
  for (const std::string& argument : arguments) {
    ASSIGN_OR_RETURN(AxisChoices axes, ParseArgument(argument));
    if (names.empty()) {
      for (const auto& [name, values] : axes) names.push_back(name);
    }
    const auto place = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    const bool same =
        axes.size() == names.size() && std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
          return place(axis.first) < static_cast<int64_t>(names.size());
        });
    if (!same) {
      return absl::InvalidArgumentError(absl::StrCat("--shapes '", argument,
                                                     "': must have the axes of the first, ",
                                                     absl::StrJoin(names, ", ")));
    }
    std::sort(axes.begin(), axes.end(),
              [&](const auto& a, const auto& b) { return place(a.first) < place(b.first); });
    std::vector<AxisValues> made = {{}};
    for (const auto& [name, values] : axes) {
      std::vector<AxisValues> longer;
      for (const AxisValues& before : made) {
        for (const int64_t value : values) {
          longer.push_back(before);
          longer.back().emplace_back(name, value);
        }
      }
      made = std::move(longer);
    }
    for (AxisValues& workload : made) {
      if (std::find(workloads.begin(), workloads.end(), workload) == workloads.end()) {
        workloads.push_back(std::move(workload));
      }
    }
    if (workloads.size() > kMostShapes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--shapes '", argument, "': with it there are more than ", kMostShapes, " workloads"));
    }
  }
  if (workloads.empty()) {
    return absl::InvalidArgumentError("--shapes is missing; give for example --shapes n=1024,4096");
  }
  return workloads;
}

std::string ShapeText(const AxisValues& axes) {
  return absl::StrJoin(axes, ",", absl::PairFormatter("="));
}

}  // namespace ksearch
