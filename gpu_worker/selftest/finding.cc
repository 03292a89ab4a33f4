#include "gpu_worker/selftest/finding.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace ksearch {
namespace {

const char* LevelName(Finding::Level level) {
  switch (level) {
    case Finding::Level::kOk:
      return "OK";
    case Finding::Level::kWarn:
      return "WARN";
    case Finding::Level::kFail:
      return "FAIL";
  }
  return "";
}

std::string OneLine(const std::string& text) { return absl::StrReplaceAll(text, {{"\n", "; "}}); }

}  // namespace

Finding Finding::Ok(std::string what, std::string text) {
  return {Level::kOk, std::move(what), std::move(text), ""};
}
Finding Finding::Warn(std::string what, std::string text, std::string fix) {
  return {Level::kWarn, std::move(what), std::move(text), std::move(fix)};
}
Finding Finding::Fail(std::string what, std::string text, std::string fix) {
  return {Level::kFail, std::move(what), std::move(text), std::move(fix)};
}

bool Usable(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Finding::Level::kFail;
  });
}

std::string FindingsText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    absl::StrAppend(&text,
                    absl::StrFormat("%-4s  %-17s  %s%s%s\n", LevelName(finding.level), finding.what,
                                    OneLine(finding.text), finding.fix.empty() ? "" : " -> ",
                                    OneLine(finding.fix)));
  }
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings) {
  google::protobuf::Struct json;
  (*json.mutable_fields())["usable"].set_bool_value(Usable(findings));
  auto* const list = (*json.mutable_fields())["findings"].mutable_list_value();
  for (const Finding& finding : findings) {
    auto& fields = *list->add_values()->mutable_struct_value()->mutable_fields();
    fields["level"].set_string_value(LevelName(finding.level));
    fields["what"].set_string_value(finding.what);
    fields["text"].set_string_value(finding.text);
    fields["fix"].set_string_value(finding.fix);
  }
  std::string out;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  // Fails only for a message with an invalid string.
  if (!google::protobuf::util::MessageToJsonString(json, &out, options).ok()) return "{}\n";
  return out;
}

}  // namespace ksearch
