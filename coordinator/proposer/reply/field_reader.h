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

// Reads typed fields out of JSON objects and collects every fault, each with the path of its field.
// `path` arguments are that of the object, ending in '.' unless empty. A JSON null counts as
// absent. When clamping, mild faults are passed over as the published system does: a number moves
// to the nearest bound, a text is cut, anything else counts as absent. Thread-compatible.
class FieldReader {
 public:
  explicit FieldReader(bool clamp) : clamp_(clamp) {}

  bool clamp() const { return clamp_; }

  void Fault(absl::string_view path, absl::string_view what);
  void MildFault(absl::string_view path, absl::string_view what) {
    if (!clamp_) Fault(path, what);
  }
  // INVALID_ARGUMENT with "path: what" lines, a bounded number of them; OK if there was no fault.
  absl::Status status() const;

  // The member, or null.
  static const google::protobuf::Value* Find(const google::protobuf::Struct& object,
                                             absl::string_view key);
  const google::protobuf::Struct* FindObject(const google::protobuf::Struct& object,
                                             absl::string_view key, absl::string_view path);

  // Cleaned of control characters.
  std::optional<std::string> Text(const google::protobuf::Struct& object, absl::string_view key,
                                  absl::string_view path, size_t max_bytes);
  // As Text, of a value that is no member; `path` is its own.
  std::optional<std::string> TextOf(const google::protobuf::Value& value, absl::string_view path,
                                    size_t max_bytes);
  // Finite and within [low, high].
  std::optional<double> Number(const google::protobuf::Struct& object, absl::string_view key,
                               absl::string_view path, double low, double high);
  std::optional<int> Integer(const google::protobuf::Struct& object, absl::string_view key,
                             absl::string_view path, int low, int high);
  // A node id; "" if it is absent or bad.
  std::string RequiredId(const google::protobuf::Struct& object, absl::string_view key,
                         absl::string_view path);
  std::string OptionalId(const google::protobuf::Struct& object, absl::string_view key,
                         absl::string_view path);

  // A value in a few characters, for a message.
  static std::string Shown(const google::protobuf::Value& value);

 private:
  const bool clamp_;
  int fault_count_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FIELD_READER_H_
