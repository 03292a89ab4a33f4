#include "common/yaml_json.h"

#include <google/protobuf/struct.pb.h>
#include <yaml.h>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kMostDepth = 64;
constexpr int kMostValues = 20000;

class Converter {
 public:
  Converter(absl::string_view text, absl::string_view name) : name_(name) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Converter() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  absl::StatusOr<YamlAsJson> Convert() {
    RETURN_IF_ERROR(Next());  // the stream's start
    RETURN_IF_ERROR(Next());
    google::protobuf::Value value;
    if (event_.type == YAML_STREAM_END_EVENT) {
      value.mutable_struct_value();
    } else {
      RETURN_IF_ERROR(Next());
      RETURN_IF_ERROR(Take("", 0, &value));
      RETURN_IF_ERROR(Next());  // the document's end
      RETURN_IF_ERROR(Next());
      if (event_.type != YAML_STREAM_END_EVENT) return Fault("a second document");
    }
    if (value.has_null_value()) value.mutable_struct_value();  // nothing but comments
    if (!value.has_struct_value()) return Fault("the document must be a mapping of fields");
    result_.json = ToJson(value, /*with_defaults=*/false, /*pretty=*/false);
    return std::move(result_);
  }

 private:
  absl::Status Fault(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", event_.start_mark.line + 1, ": ", what));
  }

  absl::Status Next() {
    yaml_event_delete(&event_);
    event_ = {};
    if (yaml_parser_parse(&parser_, &event_) != 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", parser_.problem_mark.line + 1, ": ",
                     parser_.problem == nullptr ? "this is no YAML" : parser_.problem));
  }

  std::string Scalar() const {
    return std::string(reinterpret_cast<const char*>(event_.data.scalar.value),
                       event_.data.scalar.length);
  }
  static bool IsMarked(const yaml_char_t* anchor, const yaml_char_t* tag) {
    return anchor != nullptr || tag != nullptr;
  }

  // The value that begins with the current event.
  absl::Status Take(const std::string& path, int depth, google::protobuf::Value* value) {
    if (depth > kMostDepth) return Fault("values are nested too deeply");
    if (++values_ > kMostValues) return Fault("too many values");
    result_.lines.emplace(path, static_cast<int>(event_.start_mark.line) + 1);
    switch (event_.type) {
      case YAML_SCALAR_EVENT: {
        if (IsMarked(event_.data.scalar.anchor, event_.data.scalar.tag)) {
          return Fault("anchors and tags have no meaning here");
        }
        const std::string text = Scalar();
        const bool plain = event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (plain && (text.empty() || text == "~" || text == "null")) {
          value->set_null_value(google::protobuf::NULL_VALUE);
        } else {
          value->set_string_value(text);
        }
        return absl::OkStatus();
      }
      case YAML_SEQUENCE_START_EVENT: {
        if (IsMarked(event_.data.sequence_start.anchor, event_.data.sequence_start.tag)) {
          return Fault("anchors and tags have no meaning here");
        }
        auto* const list = value->mutable_list_value();
        for (int i = 0;; ++i) {
          RETURN_IF_ERROR(Next());
          if (event_.type == YAML_SEQUENCE_END_EVENT) return absl::OkStatus();
          RETURN_IF_ERROR(Take(absl::StrCat(path, "[", i, "]"), depth + 1, list->add_values()));
        }
      }
      case YAML_MAPPING_START_EVENT: {
        if (IsMarked(event_.data.mapping_start.anchor, event_.data.mapping_start.tag)) {
          return Fault("anchors and tags have no meaning here");
        }
        auto& fields = *value->mutable_struct_value()->mutable_fields();
        while (true) {
          RETURN_IF_ERROR(Next());
          if (event_.type == YAML_MAPPING_END_EVENT) return absl::OkStatus();
          if (event_.type != YAML_SCALAR_EVENT) return Fault("a key must be a word");
          const std::string key = Scalar();
          if (fields.contains(key)) return Fault(absl::StrCat("'", key, "' stands here twice"));
          google::protobuf::Value& field = fields[key];
          RETURN_IF_ERROR(Next());
          RETURN_IF_ERROR(
              Take(path.empty() ? key : absl::StrCat(path, ".", key), depth + 1, &field));
        }
      }
      default:
        return Fault("aliases have no meaning here");
    }
  }

  const std::string name_;
  yaml_parser_t parser_ = {};
  yaml_event_t event_ = {};
  int values_ = 0;
  YamlAsJson result_;
};

}  // namespace

absl::StatusOr<YamlAsJson> YamlToJson(absl::string_view text, absl::string_view name) {
  return Converter(text, name).Convert();
}

}  // namespace ksearch
