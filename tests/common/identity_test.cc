#include "common/identity.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity_v1.h"
#include "google/protobuf/descriptor.h"

namespace ksearch {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kElements = 2;  // in every repeated field

void Fill(Message* message);

// Gives a singular field another value, or appends to a repeated one a value that follows from
// `variant`.
void Put(Message* message, const FieldDescriptor* field, int variant) {
  const Reflection& reflection = *message->GetReflection();
  const bool repeated = field->is_repeated();
  const int number = 3 + variant;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      repeated ? reflection.AddInt32(message, field, number)
               : reflection.SetInt32(message, field, number);
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      repeated ? reflection.AddInt64(message, field, number)
               : reflection.SetInt64(message, field, number);
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      repeated ? reflection.AddBool(message, field, variant % 2 == 0)
               : reflection.SetBool(message, field, variant % 2 == 0);
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      repeated ? reflection.AddDouble(message, field, number / 8.0)
               : reflection.SetDouble(message, field, number / 8.0);
      return;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* values = field->enum_type();
      // One name for each number, without aliases.
      std::vector<int> numbers;
      for (int i = 0; i < values->value_count(); ++i) {
        const int own = values->value(i)->number();
        if (values->FindValueByNumber(own) == values->value(i)) numbers.push_back(own);
      }
      const size_t others = numbers.size() - 1;
      int value = numbers[1 + static_cast<size_t>(variant) % others];
      if (repeated) {
        reflection.AddEnumValue(message, field, value);
        return;
      }
      if (value == reflection.GetEnumValue(*message, field)) value = values->value(0)->number();
      reflection.SetEnumValue(message, field, value);
      return;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      repeated ? reflection.AddString(message, field, absl::StrCat("text", variant))
               : reflection.SetString(message, field, absl::StrCat("text", variant));
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message* inner = repeated ? reflection.AddMessage(message, field)
                                : reflection.MutableMessage(message, field);
      Fill(inner);
      // Elements of one field must differ for their order to be seen.
      if (repeated) Put(inner, inner->GetDescriptor()->field(0), 5 + variant);
      return;
    }
    default:
      FAIL() << field->full_name() << ": a type this test does not know";
  }
}

// Sets every field of the message; of a oneof its last one.
void Fill(Message* message) {
  const auto& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* field = type.field(i);
    message->GetReflection()->ClearField(message, field);
    for (int k = 0; k < (field->is_repeated() ? kElements : 1); ++k) Put(message, field, k);
  }
}

// Makes every change of a single field of `at`, a part of `root`, and calls `changed` on the whole
// with each. `path` names the part.
class FieldChanges {
 public:
  using Changed = std::function<void(const std::string& what, bool identity)>;
  explicit FieldChanges(Changed changed) : changed_(std::move(changed)) {}

  void Visit(Message* at, const std::string& path, bool identity) {
    const auto& type = *at->GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor* field = type.field(i);
      VisitField(at, field, absl::StrCat(path, ".", field->name()),
                 identity && !field->options().GetExtension(v1::not_identity));
    }
  }

 private:
  void VisitField(Message* at, const FieldDescriptor* field, const std::string& path,
                  bool identity) {
    const Reflection& reflection = *at->GetReflection();
    const std::string before = at->SerializeAsString();
    const auto restore = [&] { ASSERT_TRUE(at->ParseFromString(before)); };
    if (field->is_repeated()) {
      Put(at, field, 9);
      changed_(path + " has one more", identity);
      restore();
      reflection.RemoveLast(at, field);
      changed_(path + " has one less", identity);
      restore();
      reflection.SwapElements(at, field, 0, 1);
      changed_(path + " has another order",
               identity && !field->options().GetExtension(v1::unordered));
      restore();
      reflection.RemoveLast(at, field);
      Put(at, field, 9);
      changed_(path + " has another element", identity);
      restore();
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Visit(reflection.MutableRepeatedMessage(at, field, 0), path + "[0]", identity);
      }
      return;
    }
    if (reflection.HasField(*at, field)) {
      reflection.ClearField(at, field);
      changed_(path + " is absent", identity);
      restore();
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      Put(at, field, 9);
      changed_(path + " is another", identity);
      restore();
      return;
    }
    // In a oneof this may be another case than the one that is set.
    if (!reflection.HasField(*at, field)) {
      Put(at, field, 0);
      changed_(path + " is the case", identity);
    }
    Visit(reflection.MutableMessage(at, field), path, identity);
    restore();
  }

  const Changed changed_;
};

// Every single change of a field that is identity changes the name, no other does; returns how many
// were tried.
template <typename T>
int ExpectEveryFieldNamed(std::string (*name_of)(const T&)) {
  T message;
  Fill(&message);
  const std::string name = name_of(message);
  int changes = 0;
  FieldChanges([&](const std::string& what, bool identity) {
    ++changes;
    if (identity) {
      EXPECT_NE(name_of(message), name) << what;
    } else {
      EXPECT_EQ(name_of(message), name) << what << ", which is not identity";
    }
  }).Visit(&message, T::descriptor()->name(), /*identity=*/true);
  EXPECT_EQ(name_of(message), name) << "the test did not undo its changes";
  return changes;
}

TEST(IdentityTest, EveryFieldOfATaskIsPartOfItsName) {
  EXPECT_GT(ExpectEveryFieldNamed<v1::Task>(TaskDigest), 150);
}

TEST(IdentityTest, EveryFieldOfAJobIsPartOfItsName) {
  EXPECT_GT(ExpectEveryFieldNamed<v1::JobSpec>(JobId), 70);
}

TEST(IdentityTest, CandidateIdDoesNotDependOnFileOrder) {
  v1::Sources one, two;
  for (v1::Sources* sources : {&one, &two}) sources->set_language(v1::LANGUAGE_CPP);
  const auto add = [](v1::Sources& sources, const char* path, const char* content) {
    auto* file = sources.add_files();
    file->set_path(path);
    file->set_content(content);
  };
  add(one, "a", "1");
  add(one, "b", "2");
  add(two, "b", "2");
  add(two, "a", "1");
  EXPECT_EQ(CandidateId(one), CandidateId(two));
  two.set_language(v1::LANGUAGE_CUDA);
  EXPECT_NE(CandidateId(one), CandidateId(two));
}

v1::JobSpec OldJob() {
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.set_task_sha256("t");
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  auto* file = spec.mutable_candidate()->add_files();
  file->set_path("a.cpp");
  file->set_content("int x;");
  spec.add_workload_uuids("w");
  return spec;
}

TEST(IdentityTest, NamesOfEarlierReleasesStayValid) {
  v1::JobSpec job = OldJob();
  // The name that the previous release computed.
  const std::string old_name = "150fbf0d6c20d9de6d3ef3f3a1663d553757de3534c252a521e00f778279da85";
  EXPECT_EQ(JobIdV1(job), old_name);
  EXPECT_NE(JobId(job), old_name);
  EXPECT_TRUE(IsJobName(old_name, job));
  EXPECT_TRUE(IsJobName(JobId(job), job));
  job.set_salt("again");
  EXPECT_FALSE(IsJobName(old_name, job));

  v1::Task task;
  task.set_name("softmax");
  const std::string old_digest = "ddba618e91237e3e29a64a13f923e0cfc1215b99e7be2c346f8d9fdcc8a1ff20";
  EXPECT_EQ(TaskDigestV1(task), old_digest);
  EXPECT_TRUE(IsTaskName(old_digest, task));
  EXPECT_TRUE(IsTaskName(TaskDigest(task), task));
  task.set_name("other");
  EXPECT_FALSE(IsTaskName(old_digest, task));
}

TEST(IdentityTest, AnOldNameSaysNothingOfAPlatform) {
  v1::JobSpec job = OldJob();
  const std::string old_name = JobIdV1(job);
  job.mutable_platform()->set_device_model("NVIDIA H200");
  EXPECT_EQ(JobIdV1(job), old_name);
  EXPECT_FALSE(IsJobName(old_name, job));
}

TEST(IdentityTest, AnOldNameSaysNothingOfTheTasksPrograms) {
  const std::string old_name = JobIdV1(OldJob());
  v1::JobSpec job = OldJob();
  job.mutable_reference()->set_id("r");
  EXPECT_FALSE(IsJobName(old_name, job));
  job = OldJob();
  job.mutable_baseline()->set_id("b");
  EXPECT_FALSE(IsJobName(old_name, job));
}

}  // namespace
}  // namespace ksearch
