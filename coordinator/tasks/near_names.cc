#include "coordinator/tasks/near_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ksearch {
namespace {

constexpr size_t kMaxNearNames = 5;
constexpr size_t kMaxNameBytes = 200;

// Edits (insert, delete, replace) between two names.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> NearNames(const std::string& wanted,
                                   const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& name : names) {
    const bool part = !wanted.empty() && absl::StrContains(name, wanted);
    const size_t distance = part ? 0 : EditDistance(wanted.substr(0, kMaxNameBytes), name);
    ranked.emplace_back(distance, name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> near;
  for (const auto& [distance, name] : ranked) {
    if (near.size() == kMaxNearNames) break;
    if (near.empty() || near.back() != name) near.push_back(name);
  }
  return near;
}

absl::Status NotAmong(absl::string_view kind, const std::string& wanted, absl::string_view folder,
                      const std::vector<std::string>& names) {
  if (names.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no ", kind, " '", wanted, "': ", folder, " has none, or is no longer there"));
  }
  return absl::NotFoundError(absl::StrCat("no ", kind, " '", wanted, "' in ", folder, "; nearest: ",
                                          absl::StrJoin(NearNames(wanted, names), ", ")));
}

}  // namespace ksearch
