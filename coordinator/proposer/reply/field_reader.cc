#include "coordinator/proposer/reply/field_reader.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/proposer/reply/edit_fields.h"
#include "coordinator/proposer/reply/json_document.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

using edit_fields::kMaxFaultsListed;
using edit_fields::kMaxNodeIdBytes;
using google::protobuf::Struct;
using google::protobuf::Value;

bool IsNodeId(absl::string_view id) {
  if (id.empty() || id.size() > kMaxNodeIdBytes) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  });
}

absl::string_view Kind(const Value& value) {
  switch (value.kind_case()) {
    case Value::kStructValue:
      return "an object";
    case Value::kListValue:
      return "an array";
    case Value::kStringValue:
      return "a string";
    case Value::kBoolValue:
      return "a boolean";
    case Value::kNumberValue:
      return "a number";
    default:
      return "null";
  }
}

std::string IdRule(const Value& value) {
  return absl::StrCat("must be 1 to ", kMaxNodeIdBytes, " characters of [A-Za-z0-9_.-], not ",
                      FieldReader::Shown(value));
}

}  // namespace

void FieldReader::Fault(absl::string_view path, absl::string_view what) {
  if (++fault_count_ <= kMaxFaultsListed) faults_.push_back(absl::StrCat(path, ": ", what));
}

absl::Status FieldReader::status() const {
  if (fault_count_ == 0) return absl::OkStatus();
  if (fault_count_ <= kMaxFaultsListed) {
    return absl::InvalidArgumentError(absl::StrJoin(faults_, "\n"));
  }
  // The last line counts the remaining faults, so that there are never more lines than the limit.
  return absl::InvalidArgumentError(
      absl::StrCat(absl::StrJoin(faults_.begin(), faults_.end() - 1, "\n"), "\n... and ",
                   fault_count_ - kMaxFaultsListed + 1, " more faults"));
}

const Value* FieldReader::Find(const Struct& object, absl::string_view key) {
  const auto it = object.fields().find(std::string(key));
  return it == object.fields().end() || it->second.has_null_value() ? nullptr : &it->second;
}

const Struct* FieldReader::FindObject(const Struct& object, absl::string_view key,
                                      absl::string_view path) {
  const Value* member = Find(object, key);
  if (member == nullptr) return nullptr;
  if (member->has_struct_value()) return &member->struct_value();
  MildFault(absl::StrCat(path, key), absl::StrCat("must be an object, not ", Kind(*member)));
  return nullptr;
}

std::optional<std::string> FieldReader::Text(const Struct& object, absl::string_view key,
                                             absl::string_view path, size_t max_bytes) {
  const Value* member = Find(object, key);
  if (member == nullptr) return std::nullopt;
  return TextOf(*member, absl::StrCat(path, key), max_bytes);
}

std::optional<std::string> FieldReader::TextOf(const Value& value, absl::string_view path,
                                               size_t max_bytes) {
  if (!value.has_string_value()) {
    MildFault(path, absl::StrCat("must be a string, not ", Kind(value)));
    return std::nullopt;
  }
  std::string text = SafeText(value.string_value());
  if (text.size() <= max_bytes) return text;
  MildFault(path, absl::StrCat("has ", text.size(), " bytes; at most ", max_bytes, " are allowed"));
  return Shortened(text, max_bytes, Keep::kHead);
}

std::optional<double> FieldReader::Number(const Struct& object, absl::string_view key,
                                          absl::string_view path, double low, double high) {
  const Value* member = Find(object, key);
  if (member == nullptr) return std::nullopt;
  double value = member->number_value();
  bool usable = member->has_number_value();
  if (!usable && clamp_ && member->has_string_value()) {
    usable = absl::SimpleAtod(member->string_value(), &value);
  }
  usable = usable && std::isfinite(value);
  if (!usable || value < low || value > high) {
    MildFault(absl::StrCat(path, key),
              absl::StrCat("must be a number in [", low, ", ", high, "], not ", Shown(*member)));
  }
  if (!usable) return std::nullopt;
  return std::clamp(value, low, high) + 0.0;  // turns negative zero into zero
}

std::optional<int> FieldReader::Integer(const Struct& object, absl::string_view key,
                                        absl::string_view path, int low, int high) {
  const std::optional<double> value = Number(object, key, path, low, high);
  if (!value.has_value()) return std::nullopt;
  if (*value != std::floor(*value)) {
    MildFault(absl::StrCat(path, key),
              absl::StrCat("must be a whole number in [", low, ", ", high, "], not ", *value));
  }
  // If a fraction is allowed, it is truncated, as in the published system.
  return static_cast<int>(std::trunc(*value));
}

std::string FieldReader::RequiredId(const Struct& object, absl::string_view key,
                                    absl::string_view path) {
  const Value* member = Find(object, key);
  if (member == nullptr) {
    MildFault(absl::StrCat(path, key), "is required");
  } else if (!member->has_string_value() || !IsNodeId(member->string_value())) {
    MildFault(absl::StrCat(path, key), IdRule(*member));
  } else {
    return member->string_value();
  }
  return "";
}

std::string FieldReader::OptionalId(const Struct& object, absl::string_view key,
                                    absl::string_view path) {
  const Value* member = Find(object, key);
  if (member == nullptr) return "";
  if (member->has_string_value() &&
      (member->string_value().empty() || IsNodeId(member->string_value()))) {
    return member->string_value();
  }
  MildFault(absl::StrCat(path, key), IdRule(*member));
  return "";
}

std::string FieldReader::Shown(const Value& value) {
  // Structures would not fit anyway: name only their kind.
  if (value.has_struct_value() || value.has_list_value()) return std::string(Kind(value));
  if (value.has_string_value()) {
    Value start;
    start.set_string_value(SafeLine(value.string_value(), 60));
    return ToCompactJson(start);
  }
  return ToCompactJson(value);
}

}  // namespace ksearch
