#ifndef KSEARCH_COORDINATOR_TASKS_LOCATED_JSON_H_
#define KSEARCH_COORDINATOR_TASKS_LOCATED_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A JSON value with its position in the file. Objects keep the order of their members, and integers
// are kept apart from floats (0 and 0.0), because FlashInfer-trace distinguishes them.
struct LocatedJson {
  enum class Kind { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };
  struct Member;

  Kind kind = Kind::kNull;
  int line = 0;  // from 1; 0 for values that were not parsed
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;  // of kFloat; also of integers beyond int64
  std::string text;
  std::vector<LocatedJson> items;
  std::vector<Member> members;

  static LocatedJson Bool(bool value);
  static LocatedJson Integer(int64_t value);
  static LocatedJson Float(double value);
  static LocatedJson String(absl::string_view value);
  static LocatedJson Array();
  static LocatedJson Object();

  // Adds a member at the end and returns it (valid until the next call).
  LocatedJson& Set(absl::string_view name, LocatedJson value);
  // Returns the member, or null if it is absent. Only for objects.
  const LocatedJson* Find(absl::string_view name) const;
};

struct LocatedJson::Member {
  std::string name;
  LocatedJson value;
};

// "an object", "a string", ... for error messages.
absl::string_view KindName(LocatedJson::Kind kind);

// The deepest nesting that is accepted; the format needs 5.
inline constexpr int kMaxJsonDepth = 32;

// Parses one JSON text whose first line is `first_line` of `file`. INVALID_ARGUMENT "<file>:<line>:
// <what>" for bad syntax, a repeated member, or nesting that is too deep.
absl::StatusOr<LocatedJson> ParseLocatedJson(absl::string_view text, absl::string_view file,
                                             int first_line = 1);

// Returns the text of `value`: on one line if `indent` is negative, otherwise indented by that many
// spaces. Invalid UTF-8 is replaced.
std::string WriteJson(const LocatedJson& value, int indent);

// INVALID_ARGUMENT "<file>:<line>: <field>: <what>".
absl::Status JsonError(absl::string_view file, const LocatedJson& at, absl::string_view field,
                       absl::string_view what);

// Reads object members with their types, for parsers of a format: every error names file, line and
// field. `field` is the dotted path of `object` ("" for the top level).
class JsonFields {
 public:
  JsonFields(absl::string_view file, const LocatedJson& object, std::string field);

  // Returns OK if the value is an object. Call it first.
  absl::Status CheckObject() const;
  std::string Path(absl::string_view name) const;
  absl::Status Error(absl::string_view name, absl::string_view what) const;

  // Returns the member, which must exist and be of this kind.
  absl::StatusOr<const LocatedJson*> Required(absl::string_view name, LocatedJson::Kind kind) const;
  // Must be non-empty and at most `max_bytes` long.
  absl::StatusOr<std::string> RequiredText(absl::string_view name, int64_t max_bytes) const;
  // "" if absent or null.
  absl::StatusOr<std::string> OptionalText(absl::string_view name, int64_t max_bytes) const;
  // Empty if absent or null.
  absl::StatusOr<std::vector<std::string>> OptionalTexts(absl::string_view name) const;

 private:
  absl::string_view file_;
  const LocatedJson& object_;
  std::string field_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_LOCATED_JSON_H_
