#include "common/canonical_encoding.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "proto/task.pb.h"

namespace ksearch {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Reflection compares a float with 0.0 and so takes -0.0 for absent.
bool IsSet(const Message& message, const FieldDescriptor* field) {
  const Reflection& reflection = *message.GetReflection();
  if (field->is_repeated()) return reflection.FieldSize(message, field) > 0;
  if (field->has_presence()) return reflection.HasField(message, field);
  uint64_t bits = 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const double value = reflection.GetDouble(message, field);
      std::memcpy(&bits, &value, sizeof value);
      return bits != 0;
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const float value = reflection.GetFloat(message, field);
      std::memcpy(&bits, &value, sizeof value);
      return bits != 0;
    }
    default:
      return reflection.HasField(message, field);
  }
}

// The value of a singular field, or, with index >= 0, one element of a repeated one.
void AddValue(const Message& message, const FieldDescriptor* field, int index,
              CanonicalBytes* bytes) {
  const Reflection& reflection = *message.GetReflection();
  const bool element = index >= 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      bytes->Add(int64_t{element ? reflection.GetRepeatedInt32(message, field, index)
                                 : reflection.GetInt32(message, field)});
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      bytes->Add(element ? reflection.GetRepeatedInt64(message, field, index)
                         : reflection.GetInt64(message, field));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      bytes->Add(int64_t{element ? reflection.GetRepeatedUInt32(message, field, index)
                                 : reflection.GetUInt32(message, field)});
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      bytes->Add(static_cast<int64_t>(element ? reflection.GetRepeatedUInt64(message, field, index)
                                              : reflection.GetUInt64(message, field)));
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      bytes->Add(int64_t{element ? reflection.GetRepeatedBool(message, field, index)
                                 : reflection.GetBool(message, field)});
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      bytes->Add(int64_t{element ? reflection.GetRepeatedEnumValue(message, field, index)
                                 : reflection.GetEnumValue(message, field)});
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      bytes->AddDouble(element ? reflection.GetRepeatedDouble(message, field, index)
                               : reflection.GetDouble(message, field));
      return;
    case FieldDescriptor::CPPTYPE_FLOAT:
      // Every float converts to exactly one double.
      bytes->AddDouble(element ? reflection.GetRepeatedFloat(message, field, index)
                               : reflection.GetFloat(message, field));
      return;
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      bytes->Add(element ? reflection.GetRepeatedStringReference(message, field, index, &scratch)
                         : reflection.GetStringReference(message, field, &scratch));
      return;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      AddCanonical(element ? reflection.GetRepeatedMessage(message, field, index)
                           : reflection.GetMessage(message, field),
                   bytes);
      return;
  }
}

void AddRepeated(const Message& message, const FieldDescriptor* field, CanonicalBytes* bytes) {
  const int size = message.GetReflection()->FieldSize(message, field);
  bytes->Add(int64_t{size});
  // A map's entries come in hash order; sorting orders them by key, which comes first.
  if (!field->is_map() && !field->options().GetExtension(v1::unordered)) {
    for (int i = 0; i < size; ++i) AddValue(message, field, i, bytes);
    return;
  }
  std::vector<std::string> elements;
  for (int i = 0; i < size; ++i) {
    CanonicalBytes element;
    AddValue(message, field, i, &element);
    elements.push_back(element.bytes());
  }
  std::sort(elements.begin(), elements.end());
  for (const std::string& element : elements) bytes->Add(element);
}

}  // namespace

void AddCanonical(const Message& message, CanonicalBytes* bytes) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < type.field_count(); ++i) fields.push_back(type.field(i));
  std::sort(fields.begin(), fields.end(), [](const FieldDescriptor* a, const FieldDescriptor* b) {
    return a->number() < b->number();
  });
  for (const FieldDescriptor* field : fields) {
    if (field->options().GetExtension(v1::not_identity) || !IsSet(message, field)) continue;
    bytes->Add(int64_t{field->number()});
    if (field->is_repeated()) {
      AddRepeated(message, field, bytes);
    } else {
      AddValue(message, field, -1, bytes);
    }
  }
  bytes->Add(int64_t{0});
}

std::string CanonicalName(absl::string_view version, const Message& message) {
  CanonicalBytes bytes;
  bytes.Add(version);
  AddCanonical(message, &bytes);
  return bytes.Sha256();
}

}  // namespace ksearch
