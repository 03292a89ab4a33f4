// Programs one release apart read each other's messages, and a coordinator reads the rows of those
// before it: a field keeps its number, its type and whether it repeats, and a number that was in
// use means nothing else later. released_fields.txt has the fields of the last release;
// KSEARCH_WRITE_FIELDS=FILE makes this test write those of this tree, which the next release keeps.
#include <stdlib.h>

#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "proto/autoscaler.pb.h"
#include "proto/mailbox.pb.h"
#include "proto/run_state.pb.h"
#include "proto/search_service.pb.h"
#include "proto/search_state.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

// By message and number, "ksearch.v1.WorkerHello 1": what the number means, "int32".
using Fields = std::map<std::string, std::string>;

void AddEnum(const EnumDescriptor& described, Fields* fields) {
  for (int i = 0; i < described.value_count(); ++i) {
    const auto& value = *described.value(i);
    (*fields)[absl::StrCat(described.full_name(), " ", value.number())] = value.name();
  }
}

std::string TypeOf(const FieldDescriptor& field) {
  if (field.is_map()) {
    // The message of an entry is named after the field, which does not matter on the wire.
    const Descriptor& entry = *field.message_type();
    return absl::StrCat("map<", TypeOf(*entry.map_key()), ", ", TypeOf(*entry.map_value()), ">");
  }
  std::string type = field.type_name();
  if (field.message_type() != nullptr) type = field.message_type()->full_name();
  if (field.enum_type() != nullptr) type = field.enum_type()->full_name();
  return absl::StrCat(field.is_repeated() ? "repeated " : "", type);
}

void AddMessage(const Descriptor& message, Fields* fields) {
  if (message.options().map_entry()) return;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    (*fields)[absl::StrCat(message.full_name(), " ", field.number())] = TypeOf(field);
  }
  for (int i = 0; i < message.nested_type_count(); ++i) {
    AddMessage(*message.nested_type(i), fields);
  }
  for (int i = 0; i < message.enum_type_count(); ++i) AddEnum(*message.enum_type(i), fields);
}

void AddFile(const FileDescriptor& file, std::map<std::string, Fields>* files) {
  const std::string name = file.name();
  if (name.rfind("proto/", 0) != 0 || files->count(name) > 0) return;
  Fields& fields = (*files)[name];
  for (int i = 0; i < file.message_type_count(); ++i) AddMessage(*file.message_type(i), &fields);
  for (int i = 0; i < file.enum_type_count(); ++i) AddEnum(*file.enum_type(i), &fields);
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), files);
}

// The fields of all messages that programs of different releases exchange, or that a later one
// finds on disk. Verifier and runner are always of one release.
Fields FieldsOfThisTree() {
  std::map<std::string, Fields> files;
  for (const FileDescriptor* file :
       {v1::WorkerHello::descriptor()->file(), v1::RunStatus::descriptor()->file(),
        v1::RunEngineState::descriptor()->file(), v1::SearchState::descriptor()->file(),
        v1::MailboxMessage::descriptor()->file(), v1::AutoscalerConfig::descriptor()->file()}) {
    AddFile(*file, &files);
  }
  Fields all;
  for (const auto& [name, fields] : files) all.insert(fields.begin(), fields.end());
  return all;
}

Fields ReleasedFields() {
  const char* source = ::getenv("KSEARCH_SOURCE_DIR");
  std::ifstream file(
      absl::StrCat(source == nullptr ? "." : source, "/tests/proto/released_fields.txt"));
  Fields fields;
  for (std::string line; std::getline(file, line);) {
    const size_t meaning = line.find(": ");
    if (meaning != std::string::npos) fields[line.substr(0, meaning)] = line.substr(meaning + 2);
  }
  return fields;
}

// Returns true if a number of the last release can have no other meaning now: "message number".
bool IsReservedOrGone(const std::string& number) {
  const size_t space = number.rfind(' ');
  const int value = std::stoi(number.substr(space + 1));
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  if (const Descriptor* message = pool->FindMessageTypeByName(number.substr(0, space))) {
    return message->IsReservedNumber(value);
  }
  const EnumDescriptor* described = pool->FindEnumTypeByName(number.substr(0, space));
  return described == nullptr || described->IsReservedNumber(value);
}

TEST(WireTest, FieldsOfTheLastReleaseAreWhatTheyWere) {
  const Fields now = FieldsOfThisTree();
  if (const char* path = ::getenv("KSEARCH_WRITE_FIELDS")) {
    std::ofstream file(path);
    for (const auto& [number, meaning] : now) file << number << ": " << meaning << "\n";
  }
  const Fields released = ReleasedFields();
  ASSERT_GT(released.size(), 500u);
  for (const auto& [number, meaning] : released) {
    const auto found = now.find(number);
    if (found == now.end()) {
      EXPECT_TRUE(IsReservedOrGone(number)) << number << " was " << meaning << ": reserve it";
    } else {
      EXPECT_EQ(found->second, meaning) << number << ": give what is new another number";
    }
  }
}

}  // namespace
}  // namespace ksearch
