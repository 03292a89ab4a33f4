#include "common/canonical_encoding.h"

#include <gtest/gtest.h>

#include <string>

#include "google/protobuf/struct.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {
namespace {

std::string Name(const google::protobuf::Message& message) {
  return CanonicalName("test/1", message);
}

TEST(CanonicalEncodingTest, TheVersionIsPartOfTheName) {
  const v1::Task task;
  EXPECT_NE(CanonicalName("task/2", task), CanonicalName("task/3", task));
}

TEST(CanonicalEncodingTest, ADefaultWithoutPresenceIsLeftOut) {
  v1::RandomRecipe recipe;
  const std::string empty = Name(recipe);
  recipe.set_offset(1);
  recipe.set_offset(0);
  EXPECT_EQ(Name(recipe), empty);
}

TEST(CanonicalEncodingTest, PresenceCountsEvenAtTheDefault) {
  v1::Axis axis;
  const std::string variable = Name(axis);
  axis.set_const_value(0);
  EXPECT_NE(Name(axis), variable);

  v1::ScalarRecipe scalar;
  const std::string unset = Name(scalar);
  scalar.set_int_value(0);
  const std::string zero = Name(scalar);
  scalar.set_float_value(0);
  const std::string zero_point = Name(scalar);
  EXPECT_NE(zero, unset);
  EXPECT_NE(zero, zero_point);

  v1::Task task;
  const std::string bare = Name(task);
  task.mutable_hidden();
  EXPECT_NE(Name(task), bare);
}

TEST(CanonicalEncodingTest, FloatsCountByTheirBits) {
  v1::RandomRecipe recipe;
  const std::string zero = Name(recipe);
  recipe.set_offset(-0.0);
  EXPECT_NE(Name(recipe), zero);
}

TEST(CanonicalEncodingTest, ElementsDoNotRunIntoEachOther) {
  v1::TensorSpec one, two;
  one.add_shape("ab");
  one.add_shape("c");
  two.add_shape("a");
  two.add_shape("bc");
  EXPECT_NE(Name(one), Name(two));

  v1::Definition first, second;
  first.add_inputs()->set_name("x");
  second.add_outputs()->set_name("x");
  EXPECT_NE(Name(first), Name(second));
}

TEST(CanonicalEncodingTest, OrderCountsUnlessTheFieldSaysOtherwise) {
  v1::Workload one, two;
  for (const char* axis : {"m", "n"}) one.add_axes()->set_axis(axis);
  for (const char* axis : {"n", "m"}) two.add_axes()->set_axis(axis);
  EXPECT_NE(Name(one), Name(two));

  v1::Sources ab, ba;
  for (const char* path : {"a", "b"}) ab.add_files()->set_path(path);
  for (const char* path : {"b", "a"}) ba.add_files()->set_path(path);
  EXPECT_EQ(Name(ab), Name(ba));
}

TEST(CanonicalEncodingTest, MapsCountByTheirKeys) {
  google::protobuf::Struct forward, backward;
  for (int i = 0; i < 40; ++i) {
    (*forward.mutable_fields())[std::to_string(i)].set_number_value(i);
    (*backward.mutable_fields())[std::to_string(39 - i)].set_number_value(39 - i);
  }
  EXPECT_EQ(Name(forward), Name(backward));
  (*backward.mutable_fields())["7"].set_number_value(8);
  EXPECT_NE(Name(forward), Name(backward));
}

TEST(CanonicalEncodingTest, FieldsMarkedSoAreNotIdentity) {
  v1::Definition definition;
  const std::string name = Name(definition);
  definition.add_tags("stage:decode");
  EXPECT_EQ(Name(definition), name);
}

TEST(CanonicalEncodingTest, UnknownFieldsAreLeftOut) {
  v1::Axis axis;
  axis.set_name("m");
  const std::string name = Name(axis);
  axis.GetReflection()->MutableUnknownFields(&axis)->AddVarint(1000, 1);
  EXPECT_EQ(Name(axis), name);
}

}  // namespace
}  // namespace ksearch
