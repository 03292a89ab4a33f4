#include "cli/option_kinds.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/language.h"

namespace ksearch {
namespace {

absl::StatusOr<absl::Duration> ParseTime(const std::string& text) {
  double seconds = 0;
  absl::Duration duration;
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not of the form 90 (seconds), 45m or 2h30m"));
  }
  if (duration <= absl::ZeroDuration() || duration > absl::Hours(24 * 366)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' must be above 0 and at most a year"));
  }
  return duration;
}

}  // namespace

CLI::Option* AddDuration(CLI::App* app, const std::string& flag, const std::string& help,
                         std::function<void(const absl::Duration&)> take) {
  return app->add_option_function<std::string>(
      flag,
      [flag, take = std::move(take)](const std::string& text) {
        const absl::StatusOr<absl::Duration> time = ParseTime(text);
        if (!time.ok()) throw CLI::ValidationError(flag, std::string(time.status().message()));
        take(*time);
      },
      help);
}

CLI::IsMember LanguageWord() {
  std::vector<std::string> words;
  for (const LanguageFacts& language : Languages()) {
    words.emplace_back(language.name);
    for (const absl::string_view alias : language.aliases) words.emplace_back(alias);
  }
  return CLI::IsMember(words);
}

}  // namespace ksearch
