#include "cli/json_output.h"

#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/options.h"
#include "common/textproto.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {
namespace {

google::protobuf::Struct StructOf(const std::map<std::string, std::string>& fields) {
  google::protobuf::Struct object;
  for (const auto& [name, text] : fields) {
    (*object.mutable_fields())[name].set_string_value(text);
  }
  return object;
}

}  // namespace

int PrintJson(const google::protobuf::Message& message) {
  std::printf("%s\n", std::string(absl::StripTrailingAsciiWhitespace(ToJson(message))).c_str());
  return kExitOk;
}

int PrintJson(const std::map<std::string, std::string>& fields) {
  return PrintJson(StructOf(fields));
}

void PrintJsonLine(const google::protobuf::Message& message) {
  std::printf("%s\n", ToJson(message, /*with_defaults=*/false, /*pretty=*/false).c_str());
  std::fflush(stdout);
}

std::string WithField(const std::string& json, const std::string& name, const std::string& text) {
  return Joined(json, ToJson(StructOf({{name, text}}), false, /*pretty=*/false));
}

std::string Joined(const std::string& first, const std::string& second) {
  // Edited as text: a parsed double might be printed differently.
  std::string object(absl::StripTrailingAsciiWhitespace(first));
  const absl::string_view more = absl::StripTrailingAsciiWhitespace(second);
  if (!absl::EndsWith(object, "}") || !absl::StartsWith(more, "{")) return first;
  object.pop_back();
  object = std::string(absl::StripTrailingAsciiWhitespace(object));
  return absl::StrCat(object, absl::EndsWith(object, "{") ? "" : ",", "\n ",
                      absl::StripLeadingAsciiWhitespace(more.substr(1)));
}

}  // namespace ksearch
