#include "coordinator/proposer/reply/json_document.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/proposer/reply/json_spans.h"
#include "coordinator/proposer/text_safety.h"

namespace ksearch {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using nlohmann::json;

// Doubles hold every whole number up to here.
constexpr double kMaxExactInteger = 9007199254740992.0;  // 2^53

// Recursion is bounded by the depth checked before parsing.
Value FromJson(const json& source) {
  Value value;
  switch (source.type()) {
    case json::value_t::object:
      value.mutable_struct_value();
      for (const auto& [key, member] : source.items()) {
        (*value.mutable_struct_value()->mutable_fields())[key] = FromJson(member);
      }
      break;
    case json::value_t::array:
      value.mutable_list_value();
      for (const json& element : source)
        *value.mutable_list_value()->add_values() = FromJson(element);
      break;
    case json::value_t::string:
      value.set_string_value(source.get_ref<const std::string&>());
      break;
    case json::value_t::boolean:
      value.set_bool_value(source.get<bool>());
      break;
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
    case json::value_t::number_float:
      value.set_number_value(source.get<double>());
      break;
    default:
      value.set_null_value(google::protobuf::NULL_VALUE);
  }
  return value;
}

json ToJsonValue(const Value& value) {
  switch (value.kind_case()) {
    case Value::kStructValue: {
      json object = json::object();
      for (const auto& [key, member] : value.struct_value().fields()) {
        object[key] = ToJsonValue(member);
      }
      return object;
    }
    case Value::kListValue: {
      json array = json::array();
      for (const Value& element : value.list_value().values())
        array.push_back(ToJsonValue(element));
      return array;
    }
    case Value::kStringValue:
      return value.string_value();
    case Value::kBoolValue:
      return value.bool_value();
    case Value::kNumberValue: {
      const double number = value.number_value();
      if (number == std::floor(number) && std::abs(number) < kMaxExactInteger) {
        return static_cast<int64_t>(number);
      }
      return number;
    }
    default:
      return nullptr;
  }
}

}  // namespace

absl::StatusOr<Struct> ParseJsonObject(absl::string_view text, int max_depth) {
  if (JsonDepth(text) > max_depth) {
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON object nests deeper than ", max_depth, " levels"));
  }
  try {
    const json parsed = json::parse(text.begin(), text.end());
    if (!parsed.is_object()) return absl::InvalidArgumentError("the JSON value is not an object");
    return std::move(*FromJson(parsed).mutable_struct_value());
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const absl::string_view what = error.what();
    const size_t tag = what.find("] ");
    return absl::InvalidArgumentError(
        absl::StrCat("the JSON object is malformed: ",
                     SafeLine(tag == absl::string_view::npos ? what : what.substr(tag + 2), 300)));
  }
}

std::string ToPrettyJson(const Struct& object) {
  Value value;
  *value.mutable_struct_value() = object;
  return ToJsonValue(value).dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

std::string ToCompactJson(const Value& value) {
  return ToJsonValue(value).dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

}  // namespace ksearch
