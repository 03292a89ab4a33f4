#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_FIELD_READER_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_FIELD_READER_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace ksearch {

// Reads typed fields of JSON objects and collects every fault with the path of its field. `path`
// arguments are those of the object, ending in '.' unless empty. JSON null counts as absent. With
// clamping, minor faults are tolerated as in the published system: a number moves to the nearest
// bound, a text is truncated, anything else counts as absent. Thread-compatible.
class FieldReader {
 public:
  explicit FieldReader(bool clamp) : clamp_(clamp) {}

  bool clamp() const { return clamp_; }

  void Fault(absl::string_view path, absl::string_view what);
  void MildFault(absl::string_view path, absl::string_view what) {
    if (!clamp_) Fault(path, what);
  }
  // Returns INVALID_ARGUMENT with a limited number of "path: what" lines, or OK if there was no
  // fault.
  absl::Status status() const;

  // Returns the member, or null.
  static const google::protobuf::Value* Find(const google::protobuf::Struct& object,
                                             absl::string_view key);
  const google::protobuf::Struct* FindObject(const google::protobuf::Struct& object,
                                             absl::string_view key, absl::string_view path);

  // Control characters are removed.
  std::optional<std::string> Text(const google::protobuf::Struct& object, absl::string_view key,
                                  absl::string_view path, size_t max_bytes);
  // As Text, for a value that is not a member; `path` is the value's own.
  std::optional<std::string> TextOf(const google::protobuf::Value& value, absl::string_view path,
                                    size_t max_bytes);
  // Must be finite and within [low, high].
  std::optional<double> Number(const google::protobuf::Struct& object, absl::string_view key,
                               absl::string_view path, double low, double high);
  std::optional<int> Integer(const google::protobuf::Struct& object, absl::string_view key,
                             absl::string_view path, int low, int high);
  // Reads a node id; "" if it is absent or invalid.
  std::string RequiredId(const google::protobuf::Struct& object, absl::string_view key,
                         absl::string_view path);
  std::string OptionalId(const google::protobuf::Struct& object, absl::string_view key,
                         absl::string_view path);

  // Returns a short form of a value for messages.
  static std::string Shown(const google::protobuf::Value& value);

 private:
  const bool clamp_;
  int fault_count_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FIELD_READER_H_
