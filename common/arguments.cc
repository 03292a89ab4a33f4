#include "common/arguments.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr absl::string_view kPayload = "ksearch.dev/usage_error";
constexpr int kUsage = 2;
constexpr int kConfig = 3;

}  // namespace

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kPayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

int ExitCodeOfBadStart(const absl::Status& status) {
  return IsUsageError(status) ? kUsage : kConfig;
}

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
      return UsageError(absl::StrCat("argument ", args[i], " needs a value, or is not known"));
    }
  }
  return split;
}

}  // namespace ksearch
