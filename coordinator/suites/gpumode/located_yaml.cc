#include "coordinator/suites/gpumode/located_yaml.h"

#include <yaml.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/status_macros.h"
#include "common/utf8.h"

namespace ksearch {
namespace {

using Kind = LocatedJson::Kind;

// Owns an event of libyaml.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&event_); }
  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_ = {};
};

bool IsOneOf(absl::string_view word, std::initializer_list<absl::string_view> words) {
  for (const absl::string_view each : words) {
    if (absl::EqualsIgnoreCase(word, each)) return true;
  }
  return false;
}

bool AreDigits(absl::string_view text) {
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return !text.empty();
}

// An integer in decimal or hexadecimal digits. The caller refuses octal numbers, which begin with
// a 0 in YAML 1.1: they are hardly ever intended.
bool ReadInteger(absl::string_view word, bool* fits, int64_t* value) {
  absl::string_view digits = word;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (AreDigits(digits)) {
    *fits = absl::SimpleAtoi(word, value) && (digits.size() == 1 || digits[0] != '0');
    return true;
  }
  if (!absl::StartsWith(digits, "0x") || digits.size() < 3) return false;
  for (const char c : digits.substr(2)) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
  }
  *fits = absl::SimpleHexAtoi(digits, value);
  if (word[0] == '-') *value = -*value;
  return true;
}

// A fraction in YAML 1.1 has a point.
bool ReadFraction(absl::string_view word, double* value) {
  const bool numeric = word.find_first_not_of("0123456789+-.eE") == absl::string_view::npos;
  return numeric && absl::StrContains(word, '.') && absl::SimpleAtod(word, value);
}

class Reader {
 public:
  Reader(absl::string_view text, absl::string_view file) : file_(file) {
    ok_ = yaml_parser_initialize(&parser_) != 0;
    if (!ok_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // Otherwise it counts as a blank before the first line alone.
    absl::ConsumePrefix(&text, kByteOrderMark);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (ok_) yaml_parser_delete(&parser_);
  }

  absl::StatusOr<LocatedJson> ReadDocument() {
    if (!ok_) return absl::ResourceExhaustedError("no memory for a parser of YAML");
    RETURN_IF_ERROR(Skip(YAML_STREAM_START_EVENT, ""));
    RETURN_IF_ERROR(Skip(YAML_DOCUMENT_START_EVENT, "the file is empty"));
    Event event;
    RETURN_IF_ERROR(Next(&event));
    LocatedJson value;
    RETURN_IF_ERROR(ReadValue(*event.get(), 0, &value));
    RETURN_IF_ERROR(Skip(YAML_DOCUMENT_END_EVENT, "the document goes on"));
    RETURN_IF_ERROR(Skip(YAML_STREAM_END_EVENT, "has more than one document"));
    return value;
  }

 private:
  absl::Status Error(size_t line, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line + 1, ": ", what));
  }

  absl::Status Next(Event* event) {
    if (yaml_parser_parse(&parser_, event->get()) != 0) return absl::OkStatus();
    return Error(parser_.problem_mark.line,
                 parser_.problem == nullptr ? "is not YAML" : parser_.problem);
  }

  absl::Status Skip(yaml_event_type_t type, absl::string_view otherwise) {
    Event event;
    RETURN_IF_ERROR(Next(&event));
    return event->type == type ? absl::OkStatus() : Error(event->start_mark.line, otherwise);
  }

  absl::Status ReadValue(const yaml_event_t& event, int depth, LocatedJson* value) {
    const size_t line = event.start_mark.line;
    if (++values_ > kMaxYamlValues) return Error(line, "has more than 20000 values");
    if (depth >= kMaxJsonDepth) return Error(line, "is nested too deeply");
    value->line = static_cast<int>(line) + 1;
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return ReadScalar(event, value);
      case YAML_SEQUENCE_START_EVENT:
        if (event.data.sequence_start.anchor != nullptr) return Error(line, "anchors are not read");
        if (event.data.sequence_start.tag != nullptr) return Error(line, "tags are not read");
        return ReadSequence(depth, value);
      case YAML_MAPPING_START_EVENT:
        if (event.data.mapping_start.anchor != nullptr) return Error(line, "anchors are not read");
        if (event.data.mapping_start.tag != nullptr) return Error(line, "tags are not read");
        return ReadMapping(depth, value);
      case YAML_ALIAS_EVENT:
        return Error(line, "aliases are not read");
      default:
        return Error(line, "a value is missing");
    }
  }

  absl::Status ReadSequence(int depth, LocatedJson* value) {
    value->kind = Kind::kArray;
    while (true) {
      Event event;
      RETURN_IF_ERROR(Next(&event));
      if (event->type == YAML_SEQUENCE_END_EVENT) return absl::OkStatus();
      value->items.emplace_back();
      RETURN_IF_ERROR(ReadValue(*event.get(), depth + 1, &value->items.back()));
    }
  }

  absl::Status ReadMapping(int depth, LocatedJson* value) {
    value->kind = Kind::kObject;
    std::set<std::string> names;
    while (true) {
      Event key;
      RETURN_IF_ERROR(Next(&key));
      if (key->type == YAML_MAPPING_END_EVENT) return absl::OkStatus();
      LocatedJson name;
      RETURN_IF_ERROR(ReadValue(*key.get(), depth + 1, &name));
      if (name.kind != Kind::kString) return Error(key->start_mark.line, "a key must be text");
      if (!names.insert(name.text).second) {
        return Error(key->start_mark.line, absl::StrCat("'", name.text, "' occurs twice"));
      }
      Event event;
      RETURN_IF_ERROR(Next(&event));
      LocatedJson member;
      RETURN_IF_ERROR(ReadValue(*event.get(), depth + 1, &member));
      value->members.push_back({std::move(name.text), std::move(member)});
    }
  }

  absl::Status ReadScalar(const yaml_event_t& event, LocatedJson* value) const {
    const auto& scalar = event.data.scalar;
    const size_t line = event.start_mark.line;
    if (scalar.anchor != nullptr) return Error(line, "anchors are not read");
    if (scalar.tag != nullptr) return Error(line, "tags are not read");
    const absl::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (ValidSourceBytes(text) < text.size()) {
      return Error(line, "is not UTF-8 text");
    }
    if (scalar.style == YAML_PLAIN_SCALAR_STYLE) {
      bool fits = true;
      if (text.empty() || text == "~" || IsOneOf(text, {"null"})) return absl::OkStatus();
      if (IsOneOf(text, {"true", "yes", "on", "false", "no", "off"})) {
        value->kind = Kind::kBool;
        value->boolean = IsOneOf(text, {"true", "yes", "on"});
        return absl::OkStatus();
      }
      if (ReadInteger(text, &fits, &value->integer)) {
        value->kind = Kind::kInteger;
        return fits ? absl::OkStatus()
                    : Error(line, "is not a whole number of 64 bits without leading zeros");
      }
      if (ReadFraction(text, &value->number)) {
        value->kind = Kind::kFloat;
        return std::isfinite(value->number) ? absl::OkStatus() : Error(line, "is too large");
      }
      if (IsOneOf(text, {".inf", "-.inf", "+.inf", ".nan"})) {
        return Error(line, "is not a finite number");
      }
    }
    value->kind = Kind::kString;
    value->text = std::string(text);
    return absl::OkStatus();
  }

  absl::string_view file_;
  yaml_parser_t parser_ = {};
  bool ok_ = false;
  int values_ = 0;
};

}  // namespace

absl::StatusOr<LocatedJson> ParseLocatedYaml(absl::string_view text, absl::string_view file) {
  if (static_cast<int64_t>(text.size()) > kMaxYamlBytes) {
    return absl::InvalidArgumentError(absl::StrCat(file, ":1: is longer than 256 KiB"));
  }
  return Reader(text, file).ReadDocument();
}

}  // namespace ksearch
