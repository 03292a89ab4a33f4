#include "common/kernel_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Definition Attention() {
  v1::Definition definition;
  definition.set_name("attention");
  auto* batch = definition.add_axes();
  batch->set_name("B");
  auto* dim = definition.add_axes();
  dim->set_name("D");
  dim->set_const_value(128);
  auto* q = definition.add_inputs();
  q->set_name("q");
  q->set_dtype(v1::DTYPE_BFLOAT16);
  q->add_shape("B");
  q->add_shape("D");
  auto* scale = definition.add_inputs();
  scale->set_name("scale");
  scale->set_scalar(true);
  scale->set_dtype(v1::DTYPE_FLOAT32);
  auto* out = definition.add_outputs();
  out->set_name("out");
  out->set_dtype(v1::DTYPE_FLOAT32);
  out->add_shape("B");
  return definition;
}

v1::Workload OneWorkload() {
  v1::Workload workload;
  workload.set_uuid("w");
  auto* axis = workload.add_axes();
  axis->set_axis("B");
  axis->set_value(16);
  workload.add_inputs()->set_input("q");
  auto* scale = workload.add_inputs();
  scale->set_input("scale");
  scale->mutable_scalar()->set_float_value(0.25);
  return workload;
}

TEST(KernelHeaderTest, FieldsFollowTheDocumentedOrder) {
  const auto header = KernelHeader(Attention(), v1::DEVICE_CLASS_CPU);
  ASSERT_TRUE(header.ok()) << header.status();
  size_t at = 0;
  for (const char* field : {"int64_t B;", "int64_t D;", "const uint16_t* q;", "double scale;",
                            "float* out;", "void* workspace;", "int64_t workspace_bytes;",
                            "int ksearch_run(const KsearchArgs* args);"}) {
    const size_t found = header->find(field, at);
    ASSERT_NE(found, std::string::npos) << field << "\n" << *header;
    at = found;
  }
  EXPECT_THAT(*KernelHeader(Attention(), v1::DEVICE_CLASS_CUDA),
              HasSubstr("ksearch_run(const KsearchArgs* args, cudaStream_t stream)"));
}

TEST(KernelHeaderTest, CudaHasRealTypesAndOnlyTheirHeaders) {
  const std::string header = *KernelHeader(Attention(), v1::DEVICE_CLASS_CUDA);
  EXPECT_THAT(header, HasSubstr("const __nv_bfloat16* q;"));
  EXPECT_THAT(header, HasSubstr("#include <cuda_bf16.h>"));
  EXPECT_EQ(header.find("cuda_fp8.h"), std::string::npos);
  v1::Definition definition = Attention();
  definition.mutable_inputs(0)->set_dtype(v1::DTYPE_FLOAT8_E5M2);
  EXPECT_THAT(*KernelHeader(definition, v1::DEVICE_CLASS_CUDA),
              HasSubstr("const __nv_fp8_e5m2* q;"));
  EXPECT_EQ(KernelHeader(definition, v1::DEVICE_CLASS_CPU)->find("cuda"), std::string::npos);
}

TEST(KernelHeaderTest, NamesThatAreNoIdentifiersAreRefused) {
  v1::Definition definition = Attention();
  definition.mutable_inputs(0)->set_name("q; system(\"x\")");
  EXPECT_EQ(KernelHeader(definition, v1::DEVICE_CLASS_CPU).status().code(),
            absl::StatusCode::kInvalidArgument);
  definition.mutable_inputs(0)->set_name("out");
  EXPECT_THAT(std::string(KernelHeader(definition, v1::DEVICE_CLASS_CPU).status().message()),
              HasSubstr("'out' is used twice"));
}

TEST(KernelArgumentsTest, SlotsMatchTheHeader) {
  const auto slots = KernelArguments(Attention(), OneWorkload());
  ASSERT_TRUE(slots.ok()) << slots.status();
  ASSERT_EQ(slots->size(), 5u);
  EXPECT_EQ((*slots)[0].int_value(), 16);
  EXPECT_EQ((*slots)[1].int_value(), 128);
  EXPECT_TRUE((*slots)[2].buffer());
  EXPECT_EQ((*slots)[3].float_value(), 0.25);
  EXPECT_TRUE((*slots)[4].buffer());
}

TEST(KernelArgumentsTest, SlotsSayWhatTheyAre) {
  const auto slots = KernelArguments(Attention(), OneWorkload());
  ASSERT_TRUE(slots.ok()) << slots.status();
  const std::tuple<v1::ArgumentSlot::Role, const char*, v1::DType, std::vector<int64_t>> right[] = {
      {v1::ArgumentSlot::AXIS, "B", v1::DTYPE_UNSPECIFIED, {}},
      {v1::ArgumentSlot::AXIS, "D", v1::DTYPE_UNSPECIFIED, {}},
      {v1::ArgumentSlot::INPUT, "q", v1::DTYPE_BFLOAT16, {16, 128}},
      {v1::ArgumentSlot::INPUT, "scale", v1::DTYPE_FLOAT32, {}},
      {v1::ArgumentSlot::OUTPUT, "out", v1::DTYPE_FLOAT32, {16}},
  };
  for (size_t i = 0; i < slots->size(); ++i) {
    const v1::ArgumentSlot& slot = (*slots)[i];
    const auto& [role, name, dtype, shape] = right[i];
    EXPECT_EQ(slot.role(), role) << name;
    EXPECT_EQ(slot.view().name(), name);
    EXPECT_EQ(slot.view().dtype(), dtype) << name;
    EXPECT_EQ(std::vector<int64_t>(slot.view().shape().begin(), slot.view().shape().end()), shape);
  }
}

TEST(KernelArgumentsTest, MissingValuesAreNamed) {
  v1::Workload workload = OneWorkload();
  workload.clear_axes();
  EXPECT_THAT(std::string(KernelArguments(Attention(), workload).status().message()),
              HasSubstr("axis 'B'"));
  workload = OneWorkload();
  workload.mutable_inputs(1)->clear_recipe();
  EXPECT_THAT(std::string(KernelArguments(Attention(), workload).status().message()),
              HasSubstr("scalar 'scale'"));
}

TEST(KernelHeaderTest, ADTypeThatNoDeviceHasIsNamed) {
  v1::Definition definition = Attention();
  definition.mutable_inputs(0)->set_dtype(v1::DTYPE_FLOAT4_E2M1);
  EXPECT_THAT(std::string(KernelHeader(definition, v1::DEVICE_CLASS_CPU).status().message()),
              HasSubstr(absl::StrCat("dtype float4_e2m1 of '", definition.inputs(0).name(), "'")));
}

TEST(TensorShapeTest, TakesConstantsAndWorkloadValues) {
  const v1::Definition definition = Attention();
  EXPECT_THAT(*TensorShape(definition, OneWorkload(), definition.inputs(0)), ElementsAre(16, 128));
}

TEST(DTypeTest, NamesRoundTrip) {
  for (int i = v1::DTYPE_FLOAT32; i <= v1::DTYPE_BOOL; ++i) {
    const auto dtype = static_cast<v1::DType>(i);
    EXPECT_EQ(*DTypeFromName(DTypeName(dtype)), dtype);
  }
  EXPECT_FALSE(DTypeFromName("float12").ok());
  EXPECT_FALSE(ElementBytes(v1::DTYPE_FLOAT4_E2M1).ok());
}

}  // namespace
}  // namespace ksearch
