#include "coordinator/proposer/size_region.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ksearch {
namespace {

constexpr double kMostly = 0.8;
// Widths of vector accesses, in elements; a size that is not a multiple needs a tail.
constexpr int64_t kMultiples[] = {16, 8, 4, 2};
constexpr size_t kMaxAxes = 3;

std::vector<int64_t> ValuesOf(const v1::Task& task, const std::vector<std::string>& uuids,
                              const std::string& axis) {
  std::vector<int64_t> values;
  for (const v1::Workload& workload : task.workloads()) {
    if (!absl::c_linear_search(uuids, workload.uuid())) continue;
    for (const v1::AxisValue& value : workload.axes()) {
      if (value.axis() == axis) values.push_back(value.value());
    }
  }
  return values;
}

std::string Magnitude(const std::string& axis, const std::vector<int64_t>& values,
                      const std::vector<int64_t>& others) {
  int below = 0;
  int above = 0;
  for (const int64_t value : values) {
    for (const int64_t other : others) {
      below += value < other ? 1 : 0;
      above += value > other ? 1 : 0;
    }
  }
  const auto pairs = static_cast<double>(values.size() * others.size());
  for (const auto& [count, word] : {std::pair(below, "small"), std::pair(above, "large")}) {
    if (count == pairs) return absl::StrCat(axis, " is ", word);
    if (count >= kMostly * pairs) return absl::StrCat(axis, " is mostly ", word);
  }
  return "";
}

std::string Divisibility(const std::string& axis, const std::vector<int64_t>& values,
                         const std::vector<int64_t>& others) {
  for (const int64_t divisor : kMultiples) {
    const auto divides = [divisor](int64_t value) { return value % divisor == 0; };
    if (absl::c_none_of(values, divides) && absl::c_all_of(others, divides)) {
      return absl::StrCat(axis, " is not a multiple of ", divisor);
    }
  }
  return "";
}

}  // namespace

std::string SizeRegion(const v1::Task& task, const std::vector<std::string>& uuids,
                       const std::vector<std::string>& others) {
  std::vector<std::string> parts;
  for (const v1::Axis& axis : task.definition().axes()) {
    if (axis.has_const_value() || parts.size() >= kMaxAxes) continue;
    const std::vector<int64_t> values = ValuesOf(task, uuids, axis.name());
    const std::vector<int64_t> other_values = ValuesOf(task, others, axis.name());
    if (values.empty() || other_values.empty()) continue;
    std::string part = Magnitude(axis.name(), values, other_values);
    if (!part.empty()) parts.push_back(std::move(part));
    part = Divisibility(axis.name(), values, other_values);
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts.empty() ? "" : absl::StrCat("where ", absl::StrJoin(parts, " and "));
}

}  // namespace ksearch
