// The programs of the CUDA tasks compute what their descriptions say: each is built for the CPU and
// compared, on small sizes, with the plain mathematics of plain_math.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "coordinator/tasks/task_folder.h"
#include "gpu_worker/verifier/tensors/element.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "tests/tasks/cpu_program.h"
#include "tests/tasks/plain_math.h"

namespace ksearch {
namespace {

using Axes = std::map<std::string, int64_t>;

struct Case {
  const char* task;
  const char* workload;  // whose recipes are used
  Axes axes;             // smaller values, of constant axes too
  // Greatest relative RMS error of the first output: rounding of the reference's, and of the
  // baseline's.
  double reference_rms;
  double baseline_rms;
};

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  std::string name = absl::StrCat(info.param.task, "_", info.index);
  return name;
}

// One call's memory.
struct Call {
  std::vector<uint64_t> slots;
  std::vector<std::vector<std::byte>> buffers;  // tensors in the order of WorkloadCase::tensors
};

Call Prepare(const WorkloadCase& workload) {
  Call call;
  size_t tensor = 0;
  for (const v1::ArgumentSlot& slot : workload.slots()) {
    uint64_t bits = static_cast<uint64_t>(slot.int_value());
    if (slot.value_case() == v1::ArgumentSlot::kFloatValue) {
      const double value = slot.float_value();
      std::memcpy(&bits, &value, sizeof bits);
    } else if (slot.buffer()) {
      const TensorArgument& argument = workload.tensors()[tensor];
      // Outputs begin as NaN, so that an element that is never written is found.
      call.buffers.emplace_back(static_cast<size_t>(argument.bytes) + 64, std::byte{0xff});
      std::byte* memory = call.buffers.back().data();
      if (!argument.output) workload.generator(static_cast<int>(tensor)).Write(5, memory);
      bits = reinterpret_cast<uint64_t>(memory);
      ++tensor;
    }
    call.slots.push_back(bits);
  }
  call.slots.resize(call.slots.size() + 2);
  return call;
}

std::vector<double> Decoded(const WorkloadCase& workload, const Call& call, size_t tensor) {
  const TensorArgument& argument = workload.tensors()[tensor];
  std::vector<double> values(static_cast<size_t>(argument.elements));
  DecodeElements(argument.dtype, call.buffers[tensor].data(), argument.elements, values.data());
  return values;
}

double RelativeRms(const std::vector<double>& got, const std::vector<double>& want) {
  double errors = 0, squares = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isinf(want[i])) {
      if (got[i] != want[i]) return INFINITY;
      continue;
    }
    if (!std::isfinite(got[i])) return INFINITY;
    errors += (got[i] - want[i]) * (got[i] - want[i]);
    squares += want[i] * want[i];
  }
  return errors == 0 ? 0 : std::sqrt(errors / squares);
}

class CudaTaskMathTest : public testing::TestWithParam<Case> {};

TEST_P(CudaTaskMathTest, ReferenceAndBaselineAgreeWithThePlainMathematics) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "the fibers that stand for GPU threads confuse the sanitizers";
#endif
  const Case& param = GetParam();
  const char* root = getenv("KSEARCH_SOURCE_DIR");
  auto loaded = LoadTaskFolder(
      absl::StrCat(root == nullptr ? "." : root, "/configs/tasks/cuda/", param.task));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  v1::Task task = *loaded;
  PlainArguments plain;
  for (v1::Axis& axis : *task.mutable_definition()->mutable_axes()) {
    if (axis.has_const_value() && param.axes.count(axis.name()) > 0) {
      axis.set_const_value(param.axes.at(axis.name()));
    }
    if (axis.has_const_value()) plain.axes[axis.name()] = axis.const_value();
  }
  v1::Workload* workload = nullptr;
  for (v1::Workload& each : *task.mutable_workloads()) {
    if (each.uuid() == param.workload) workload = &each;
  }
  ASSERT_NE(workload, nullptr) << param.workload;
  for (v1::AxisValue& axis : *workload->mutable_axes()) {
    ASSERT_EQ(param.axes.count(axis.axis()), 1u) << axis.axis();
    axis.set_value(param.axes.at(axis.axis()));
    plain.axes[axis.axis()] = axis.value();
  }
  for (const v1::InputRecipe& recipe : workload->inputs()) {
    if (!recipe.has_scalar()) continue;
    plain.scalars[recipe.input()] = recipe.scalar().has_float_value()
                                        ? recipe.scalar().float_value()
                                        : static_cast<double>(recipe.scalar().int_value());
  }
  const auto drawn = WorkloadCase::Create(task, *workload, "task", Seed{3, 4});
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  const Call inputs = Prepare(**drawn);
  for (int i = 0; i < (*drawn)->inputs(); ++i) {
    const size_t tensor = static_cast<size_t>(i);
    plain.inputs[(*drawn)->tensors()[tensor].name] = Decoded(**drawn, inputs, tensor);
  }
  const auto want = PlainOutputs(task.definition().op_type(), plain);

  for (const auto* sources : {&task.references(0), &task.baselines(0)}) {
    const bool reference = sources == &task.references(0);
    SCOPED_TRACE(sources->files(0).path());
    const auto program = CpuProgram::Build(task.definition(), *sources);
    ASSERT_TRUE(program.ok()) << program.status();
    Call call = Prepare(**drawn);
    std::vector<std::byte> workspace(
        static_cast<size_t>((*program)->WorkspaceBytes(call.slots.data())) + 64, std::byte{0xff});
    const uint64_t aligned = (reinterpret_cast<uint64_t>(workspace.data()) + 63) / 64 * 64;
    call.slots[call.slots.size() - 2] = aligned;
    ASSERT_EQ((*program)->Run(call.slots.data()), 0);
    for (size_t i = static_cast<size_t>((*drawn)->inputs()); i < call.buffers.size(); ++i) {
      const std::string& name = (*drawn)->tensors()[i].name;
      const double rms = RelativeRms(Decoded(**drawn, call, i), want.at(name));
      const double bound = name == "lse" ? 1e-5
                           : reference   ? param.reference_rms
                                         : param.baseline_rms;
      EXPECT_LT(rms, bound) << name;
      RecordProperty(absl::StrCat(reference ? "reference_" : "baseline_", name), absl::StrCat(rms));
      std::printf("%s %s %s relative rms error %.3g\n", param.task,
                  sources->files(0).path().c_str(), name.c_str(), rms);
    }
  }
}

constexpr double kBf16 = 1.9e-3;  // one rounding to bfloat16
// Several roundings, over few elements: 3.3e-3 to 5.1e-3 with the inputs of six seeds.
constexpr double kTrimulBaseline = 6e-3;

INSTANTIATE_TEST_SUITE_P(
    Tasks, CudaTaskMathTest,
    testing::Values(
        Case{"rmsnorm_bf16", "b997", {{"batch_size", 5}, {"hidden_size", 300}}, kBf16, kBf16},
        Case{"gemm_bf16", "m331", {{"M", 70}, {"N", 130}, {"K", 100}}, kBf16, kBf16},
        Case{"gqa_paged_decode",
             "b16_kv8636_scattered",
             {{"batch_size", 3}, {"num_pages", 500}, {"len_indptr", 4}, {"num_kv_indices", 411}},
             kBf16,
             kBf16},
        Case{"gqa_paged_decode",
             "b128_kv131_some_empty",
             {{"batch_size", 6}, {"num_pages", 20}, {"len_indptr", 7}, {"num_kv_indices", 4}},
             kBf16,
             kBf16},
        Case{"mla_paged_decode",
             "b16_kv12857_scattered",
             {{"batch_size", 2}, {"num_pages", 400}, {"len_indptr", 3}, {"num_kv_indices", 351}},
             kBf16,
             kBf16},
        Case{"mla_paged_decode",
             "b64_kv71_some_empty",
             {{"batch_size", 5}, {"num_pages", 20}, {"len_indptr", 6}, {"num_kv_indices", 3}},
             kBf16,
             kBf16},
        Case{"mla_paged_prefill",
             "b9_q101_kv307_some_empty",
             {{"total_q", 7}, {"num_pages", 400}, {"len_indptr", 6}, {"num_kv_indices", 320}},
             kBf16,
             kBf16},
        Case{"moe_fp8_block_scale",
             "t59_hot_experts",
             {{"seq_len", 5},
              {"hidden_size", 256},
              {"intermediate_size", 128},
              {"gemm1_out_size", 256},
              {"num_hidden_blocks", 2},
              {"num_intermediate_blocks", 1},
              {"num_gemm1_out_blocks", 2}},
             kBf16,
             5e-3},
        Case{"moe_fp8_block_scale",
             "t64_experts64",
             {{"seq_len", 9},
              {"hidden_size", 128},
              {"intermediate_size", 128},
              {"gemm1_out_size", 256},
              {"num_hidden_blocks", 1},
              {"num_intermediate_blocks", 1},
              {"num_gemm1_out_blocks", 2}},
             kBf16,
             5e-3},
        Case{"trimul",
             "n200_b2_d256_masked_cauchy",
             {{"batch_size", 2}, {"seq_len", 9}, {"dim", 136}},
             1e-6,
             kTrimulBaseline},
        Case{"trimul",
             "n256_b2_d384_masked_normal",
             {{"batch_size", 1}, {"seq_len", 20}, {"dim", 128}},
             1e-6,
             kTrimulBaseline},
        Case{"trimul_upstream",
             "n512_b1_d128_nomask_normal",
             {{"batch_size", 1}, {"seq_len", 16}, {"dim", 128}},
             1e-6,
             kTrimulBaseline}),
    CaseName);

}  // namespace
}  // namespace ksearch
