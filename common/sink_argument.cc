#include "common/sink_argument.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/arguments.h"

namespace ksearch {

absl::StatusOr<v1::SinkConfig> ParseSinkArgument(absl::string_view text) {
  v1::SinkConfig sink;
  const size_t colon = text.find(':');
  const bool has_folder = colon != absl::string_view::npos;
  absl::string_view kind = text.substr(0, colon);
  const size_t equal = kind.find('=');
  const bool has_name = equal != absl::string_view::npos;
  if (has_name) {
    sink.set_name(std::string(kind.substr(0, equal)));
    kind.remove_prefix(equal + 1);
  }
  sink.set_kind(std::string(kind));
  if (has_folder) sink.set_folder(std::string(text.substr(colon + 1)));
  const bool known =
      std::find(std::begin(kSinkKinds), std::end(kSinkKinds), kind) != std::end(kSinkKinds);
  if (!known || (has_folder && sink.folder().empty()) || (has_name && sink.name().empty())) {
    return UsageError(absl::StrCat(
        "--sink '", text, "' must be [NAME=]KIND[:FOLDER], e.g. wandb:/data/wandb; kinds: ",
        absl::StrJoin(kSinkKinds, ", ")));
  }
  if (has_folder) {
    std::error_code error;
    const auto folder = std::filesystem::absolute(sink.folder(), error).lexically_normal();
    if (!error) sink.set_folder(folder.string());
  }
  return sink;
}

}  // namespace ksearch
