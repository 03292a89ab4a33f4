#include "coordinator/suites/readable_text.h"

#include <string>
#include <vector>

#include "common/utf8.h"
#include "google/protobuf/descriptor.h"

namespace ksearch {
namespace {

std::string Readable(std::string text) {
  size_t at = 0;
  while ((at += ValidUtf8Bytes(absl::string_view(text).substr(at))) < text.size()) {
    text[at++] = '?';
  }
  return text;
}

}  // namespace

void MakeTextsReadable(google::protobuf::Message* message) {
  const google::protobuf::Reflection* reflection = message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->type() != google::protobuf::FieldDescriptor::TYPE_STRING) continue;
    if (!field->is_repeated()) {
      reflection->SetString(message, field, Readable(reflection->GetString(*message, field)));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      reflection->SetRepeatedString(message, field, i,
                                    Readable(reflection->GetRepeatedString(*message, field, i)));
    }
  }
}

}  // namespace ksearch
