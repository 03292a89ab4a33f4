#include "common/textproto.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/unique_fd.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"

namespace ksearch {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// The values of every enum that a field of this name has in `message` or what it holds.
void CollectEnums(const Descriptor* message, const std::string& field,
                  std::set<const Descriptor*>* seen, std::set<const EnumDescriptor*>* enums) {
  if (!seen->insert(message).second) return;
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* known = message->field(i);
    if (known->enum_type() != nullptr && known->name() == field) enums->insert(known->enum_type());
    if (known->message_type() != nullptr) {
      CollectEnums(known->message_type(), field, seen, enums);
    }
  }
}

std::string ValuesOf(const Descriptor* message, const std::string& field) {
  std::set<const Descriptor*> seen;
  std::set<const EnumDescriptor*> enums;
  CollectEnums(message, field, &seen, &enums);
  std::vector<std::string> values;
  for (const EnumDescriptor* known : enums) {
    for (int i = 0; i < known->value_count(); ++i) {
      // Skips "not set", and aliases of values that are listed under another name.
      const int number = known->value(i)->number();
      if (number != 0 && known->FindValueByNumber(number) == known->value(i)) {
        values.push_back(known->value(i)->name());
      }
    }
  }
  return absl::StrJoin(values, ", ");
}

class CollectErrors final : public google::protobuf::io::ErrorCollector {
 public:
  CollectErrors(absl::string_view name, absl::string_view text, const Descriptor* message)
      : name_(name), lines_(absl::StrSplit(text, '\n')), message_(message) {}
  void AddError(int line, int column, const std::string& message) override {
    if (errors_.size() >= 10) return;
    // Example: Unknown enumeration value of "CPU" for field "device".
    const std::vector<std::string> parts = absl::StrSplit(message, '"');
    if (parts.size() == 5 && absl::StartsWith(message, "Unknown enumeration value of ")) {
      Locate(parts[1], &line, &column);
      errors_.push_back(absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", parts[3], ": '",
                                     parts[1], "' must be one of ", ValuesOf(message_, parts[3])));
      return;
    }
    errors_.push_back(absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message));
  }
  std::string Joined() const { return absl::StrJoin(errors_, "; "); }

 private:
  // The parser reports a position past the wrong value: find the last such value before it.
  void Locate(const std::string& value, int* line, int* column) const {
    for (int at = std::min(*line, static_cast<int>(lines_.size()) - 1); at >= 0; --at) {
      const std::string text(lines_[static_cast<size_t>(at)]);
      const size_t found =
          at == *line ? text.rfind(value, static_cast<size_t>(*column)) : text.rfind(value);
      if (found == std::string::npos) continue;
      *line = at;
      *column = static_cast<int>(found);
      return;
    }
  }

  const std::string name_;
  const std::vector<absl::string_view> lines_;
  const Descriptor* const message_;
  std::vector<std::string> errors_;
};

absl::Status WriteAll(int fd, absl::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, absl::StrCat("write ", path));
    }
    content.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ParseTextproto(absl::string_view text, absl::string_view name,
                            google::protobuf::Message* message) {
  CollectErrors errors(name, text, message->GetDescriptor());
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.SetRecursionLimit(64);
  if (!parser.ParseFromString(std::string(text), message)) {
    return absl::InvalidArgumentError(errors.Joined());
  }
  return absl::OkStatus();
}

absl::Status ReadTextproto(const std::string& path, google::protobuf::Message* message) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, int64_t{1} << 20));
  return ParseTextproto(text, path, message);
}

std::string ToTextproto(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

std::string ToJson(const google::protobuf::Message& message, bool with_defaults, bool pretty) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = pretty;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = with_defaults;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return "{}";
  return json;
}

absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes) {
  // Opening a named pipe must not wait for a writer that may never come.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, absl::StrCat("stat ", path));
  if (S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder, not a file"));
  }
  if (S_ISFIFO(info.st_mode) && !absl::StartsWith(path, "/dev/")) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a named pipe, not a file"));
  }
  // A link to a terminal would be read for as long as nobody types.
  if (!S_ISREG(info.st_mode) && !absl::StartsWith(path, "/dev/")) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a device, not a file"));
  }
  // /dev/stdin, and the path that a shell substitutes for <(command), are read to their end.
  if (!S_ISREG(info.st_mode) && ::fcntl(fd.get(), F_SETFL, 0) != 0) {
    return ErrnoStatus(errno, absl::StrCat("open ", path));
  }
  std::string content;
  std::string buffer(64 << 10, '\0');
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return ErrnoStatus(errno, absl::StrCat("read ", path));
    }
    if (n == 0) return content;
    content.append(buffer.data(), static_cast<size_t>(n));
    if (static_cast<int64_t>(content.size()) > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, " is larger than ", max_bytes, " bytes"));
    }
  }
}

absl::Status WriteFileAtomically(const std::string& path, absl::string_view content, int mode) {
  const std::string temporary = absl::StrCat(path, ".tmp-", RandomHex(6));
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  // Messages name the file that the caller knows.
  if (!fd.ok()) return ErrnoStatus(errno, absl::StrCat("create ", path));
  absl::Status status = WriteAll(fd.get(), content, path);
  if (status.ok() && ::fsync(fd.get()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("fsync ", path));
  }
  fd.Reset();
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("rename to ", path));
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd folder_fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.ok() || ::fsync(folder_fd.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("fsync folder of ", path));
  }
  return absl::OkStatus();
}

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  google::protobuf::Duration proto;
  const int64_t seconds = absl::IDivDuration(duration, absl::Seconds(1), &duration);
  proto.set_seconds(seconds);
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return proto;
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  const absl::Duration since = time - absl::UnixEpoch();
  const int64_t seconds = absl::ToInt64Seconds(absl::Floor(since, absl::Seconds(1)));
  google::protobuf::Timestamp proto;
  proto.set_seconds(seconds);
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(since - absl::Seconds(seconds))));
  return proto;
}

}  // namespace ksearch
