#include "coordinator/suites/readable_text.h"

#include <vector>

#include "common/utf8.h"
#include "google/protobuf/descriptor.h"

namespace ksearch {

void MakeTextsReadable(google::protobuf::Message* message) {
  const google::protobuf::Reflection* reflection = message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->type() != google::protobuf::FieldDescriptor::TYPE_STRING) continue;
    if (!field->is_repeated()) {
      reflection->SetString(message, field, AsUtf8(reflection->GetString(*message, field)));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      reflection->SetRepeatedString(message, field, i,
                                    AsUtf8(reflection->GetRepeatedString(*message, field, i)));
    }
  }
}

}  // namespace ksearch
