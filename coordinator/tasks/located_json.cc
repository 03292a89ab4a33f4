#include "coordinator/tasks/located_json.h"

#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

// The lexer's position. It reads one character past a number, which may be the end of the line.
struct Position {
  int line = 1;
  char last = 0;
};

// Feeds the lexer and counts lines; the library itself does not say where a value stood.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    position_->last = *at_;
    if (*at_ == '\n') ++position_->line;
    ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_ = nullptr;
  Position* position_ = nullptr;
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  explicit TreeBuilder(const Position* position) : position_(position) {}

  bool null() override { return Add(LocatedJson()); }
  bool boolean(bool value) override { return Add(LocatedJson::Bool(value)); }
  bool number_integer(number_integer_t value) override {
    return AddNumber(LocatedJson::Integer(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return AddNumber(LocatedJson::Float(static_cast<double>(value)));
    }
    return AddNumber(LocatedJson::Integer(static_cast<int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override {
    return AddNumber(LocatedJson::Float(value));
  }
  bool string(string_t& value) override { return Add(LocatedJson::String(value)); }
  bool binary(binary_t&) override { return Fail("binary value"); }
  bool start_object(std::size_t) override { return Open(LocatedJson::Object()); }
  bool start_array(std::size_t) override { return Open(LocatedJson::Array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) {
      return Fail(absl::StrCat("member '", name, "' occurs twice"));
    }
    key_ = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...": the
    // line in it is relative to the text, so only the part after it is kept.
    const std::string_view what = error.what();
    const size_t cut = what.find(": ");
    const std::string_view reason = cut == std::string_view::npos ? what : what.substr(cut + 2);
    return Fail(absl::string_view(reason.data(), reason.size()));
  }

  LocatedJson Take() { return std::move(root_); }
  const std::string& error() const { return error_; }
  int error_line() const { return error_line_; }

 private:
  bool Fail(absl::string_view what) {
    if (error_.empty()) {
      error_ = std::string(what.substr(0, 300));
      error_line_ = position_->line - (position_->last == '\n' ? 1 : 0);
    }
    return false;
  }
  bool AddNumber(LocatedJson value) {
    value.line = position_->line - (position_->last == '\n' ? 1 : 0);
    Place(std::move(value));
    return true;
  }
  bool Add(LocatedJson value) {
    value.line = position_->line;
    Place(std::move(value));
    return true;
  }
  LocatedJson* Place(LocatedJson value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    LocatedJson& parent = *open_.back();
    if (parent.kind == Kind::kArray) {
      parent.items.push_back(std::move(value));
      return &parent.items.back();
    }
    parent.members.push_back({std::move(key_), std::move(value)});
    return &parent.members.back().value;
  }
  bool Open(LocatedJson value) {
    if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      return Fail(absl::StrCat("nested deeper than ", kMaxJsonDepth));
    }
    value.line = position_->line;
    // The pointer stays valid: the parent gets no further element before this one is closed.
    open_.push_back(Place(std::move(value)));
    names_.emplace_back();
    return true;
  }
  bool Close() {
    open_.pop_back();
    names_.pop_back();
    return true;
  }

  const Position* position_;
  LocatedJson root_;
  std::vector<LocatedJson*> open_;
  std::vector<absl::flat_hash_set<std::string>> names_;
  std::string key_;
  std::string error_;
  int error_line_ = 0;
};

nlohmann::ordered_json ToNlohmann(const LocatedJson& value) {
  switch (value.kind) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBool:
      return value.boolean;
    case Kind::kInteger:
      return value.integer;
    case Kind::kFloat:
      return value.number;
    case Kind::kString:
      return value.text;
    case Kind::kArray: {
      nlohmann::ordered_json array = nlohmann::ordered_json::array();
      for (const LocatedJson& item : value.items) array.push_back(ToNlohmann(item));
      return array;
    }
    case Kind::kObject: {
      nlohmann::ordered_json object = nlohmann::ordered_json::object();
      for (const auto& [name, member] : value.members) object[name] = ToNlohmann(member);
      return object;
    }
  }
  return nullptr;
}

}  // namespace

LocatedJson LocatedJson::Bool(bool value) {
  LocatedJson json;
  json.kind = Kind::kBool;
  json.boolean = value;
  return json;
}

LocatedJson LocatedJson::Integer(int64_t value) {
  LocatedJson json;
  json.kind = Kind::kInteger;
  json.integer = value;
  json.number = static_cast<double>(value);
  return json;
}

LocatedJson LocatedJson::Float(double value) {
  LocatedJson json;
  json.kind = Kind::kFloat;
  json.number = value;
  return json;
}

LocatedJson LocatedJson::String(absl::string_view value) {
  LocatedJson json;
  json.kind = Kind::kString;
  json.text = std::string(value);
  return json;
}

LocatedJson LocatedJson::Array() {
  LocatedJson json;
  json.kind = Kind::kArray;
  return json;
}

LocatedJson LocatedJson::Object() {
  LocatedJson json;
  json.kind = Kind::kObject;
  return json;
}

LocatedJson& LocatedJson::Set(absl::string_view name, LocatedJson value) {
  members.push_back({std::string(name), std::move(value)});
  return members.back().value;
}

const LocatedJson* LocatedJson::Find(absl::string_view name) const {
  for (const auto& [member_name, value] : members) {
    if (name == member_name) return &value;
  }
  return nullptr;
}

absl::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInteger:
      return "an integer";
    case Kind::kFloat:
      return "a float";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

absl::StatusOr<LocatedJson> ParseLocatedJson(absl::string_view text, absl::string_view file,
                                             int first_line) {
  Position position;
  position.line = first_line;
  TreeBuilder builder(&position);
  const bool ok = nlohmann::ordered_json::sax_parse(
      CountingIterator(text.data(), &position),
      CountingIterator(text.data() + text.size(), &position), &builder);
  if (!ok) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ":", builder.error_line(), ": ",
                     builder.error().empty() ? absl::string_view("not JSON") : builder.error()));
  }
  return builder.Take();
}

std::string WriteJson(const LocatedJson& value, int indent) {
  return ToNlohmann(value).dump(indent, ' ', false,
                                nlohmann::ordered_json::error_handler_t::replace);
}

absl::Status JsonError(absl::string_view file, const LocatedJson& at, absl::string_view field,
                       absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ":", at.line, ": ", field, field.empty() ? "" : ": ", what));
}

JsonFields::JsonFields(absl::string_view file, const LocatedJson& object, std::string field)
    : file_(file), object_(object), field_(std::move(field)) {}

absl::Status JsonFields::CheckObject() const {
  if (object_.kind == Kind::kObject) return absl::OkStatus();
  return JsonError(file_, object_, field_,
                   absl::StrCat("must be an object, is ", KindName(object_.kind)));
}

std::string JsonFields::Path(absl::string_view name) const {
  return field_.empty() ? std::string(name) : absl::StrCat(field_, ".", name);
}

absl::Status JsonFields::Error(absl::string_view name, absl::string_view what) const {
  const LocatedJson* member = object_.Find(name);
  return JsonError(file_, member == nullptr ? object_ : *member, Path(name), what);
}

absl::StatusOr<const LocatedJson*> JsonFields::Required(absl::string_view name, Kind kind) const {
  const LocatedJson* member = object_.Find(name);
  if (member == nullptr) return Error(name, "is missing");
  if (member->kind != kind) {
    return Error(name, absl::StrCat("must be ", KindName(kind), ", is ", KindName(member->kind)));
  }
  return member;
}

absl::StatusOr<std::string> JsonFields::RequiredText(absl::string_view name,
                                                     int64_t max_bytes) const {
  ASSIGN_OR_RETURN(const LocatedJson* member, Required(name, Kind::kString));
  if (member->text.empty()) return Error(name, "must not be empty");
  if (static_cast<int64_t>(member->text.size()) > max_bytes) {
    return Error(name, absl::StrCat("longer than ", max_bytes, " bytes"));
  }
  return member->text;
}

absl::StatusOr<std::string> JsonFields::OptionalText(absl::string_view name,
                                                     int64_t max_bytes) const {
  const LocatedJson* member = object_.Find(name);
  if (member == nullptr || member->kind == Kind::kNull) return std::string();
  if (member->kind == Kind::kString && member->text.empty()) return std::string();
  return RequiredText(name, max_bytes);
}

absl::StatusOr<std::vector<std::string>> JsonFields::OptionalTexts(absl::string_view name) const {
  std::vector<std::string> texts;
  const LocatedJson* member = object_.Find(name);
  if (member == nullptr || member->kind == Kind::kNull) return texts;
  RETURN_IF_ERROR(Required(name, Kind::kArray).status());
  for (size_t i = 0; i < member->items.size(); ++i) {
    const LocatedJson& item = member->items[i];
    if (item.kind != Kind::kString) {
      return JsonError(file_, item, absl::StrCat(Path(name), "[", i, "]"),
                       absl::StrCat("must be a string, is ", KindName(item.kind)));
    }
    texts.push_back(item.text);
  }
  return texts;
}

}  // namespace ksearch
