#ifndef KSEARCH_COORDINATOR_EVENTS_SINKS_WIRE_MESSAGE_H_
#define KSEARCH_COORDINATOR_EVENTS_SINKS_WIRE_MESSAGE_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch::sinks {

// A protobuf message of another program, field by field: of those only a few numbers are needed,
// and their names are taken in other processes' pools.
class WireMessage {
 public:
  WireMessage& Varint(int field, int64_t value) {
    return Write([&](google::protobuf::io::CodedOutputStream* out) {
      WireFormat::WriteInt64(field, value, out);
    });
  }
  WireMessage& Double(int field, double value) {
    return Write([&](google::protobuf::io::CodedOutputStream* out) {
      WireFormat::WriteDouble(field, value, out);
    });
  }
  WireMessage& Float(int field, float value) {
    return Write([&](google::protobuf::io::CodedOutputStream* out) {
      WireFormat::WriteFloat(field, value, out);
    });
  }
  // A string, or bytes. Strings are valid UTF-8.
  WireMessage& Bytes(int field, absl::string_view value) {
    return Write([&](google::protobuf::io::CodedOutputStream* out) {
      WireFormat::WriteBytes(field, std::string(value), out);
    });
  }
  WireMessage& Message(int field, const WireMessage& value) { return Bytes(field, value.bytes()); }

  const std::string& bytes() const { return bytes_; }

 private:
  using WireFormat = google::protobuf::internal::WireFormatLite;

  template <typename Writer>
  WireMessage& Write(Writer writer) {
    google::protobuf::io::StringOutputStream stream(&bytes_);
    google::protobuf::io::CodedOutputStream out(&stream);
    writer(&out);
    return *this;
  }

  std::string bytes_;
};

}  // namespace ksearch::sinks

#endif  // KSEARCH_COORDINATOR_EVENTS_SINKS_WIRE_MESSAGE_H_
