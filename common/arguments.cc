#include "common/arguments.h"

#include "absl/strings/str_cat.h"

namespace ksearch {

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SplitArguments(
    const std::vector<std::string>& args) {
  std::vector<std::pair<std::string, std::string>> split;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t equals = args[i].find('=');
    if (equals != std::string::npos) {
      split.emplace_back(args[i].substr(0, equals), args[i].substr(equals + 1));
    } else if (i + 1 < args.size()) {
      split.emplace_back(args[i], args[i + 1]);
      ++i;
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", args[i], " needs a value, or is none of this program's"));
    }
  }
  return split;
}

}  // namespace ksearch
