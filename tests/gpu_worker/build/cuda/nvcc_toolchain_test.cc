#include "gpu_worker/build/cuda/nvcc_toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/kernel_header.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kEntry[] =
    "extern \"C\" int ksearch_run(const KsearchArgs* args, cudaStream_t stream)";

v1::Definition EveryType() {
  v1::Definition definition;
  definition.set_name("every_type");
  v1::Axis* axis = definition.add_axes();
  axis->set_name("n");
  const auto add = [](v1::TensorSpec* tensor, const std::string& name, v1::DType dtype) {
    tensor->set_name(name);
    tensor->set_dtype(dtype);
    tensor->add_shape("n");
  };
  for (int dtype = v1::DType_MIN + 1; v1::DType_IsValid(dtype); ++dtype) {
    if (dtype == v1::DTYPE_FLOAT4_E2M1) continue;
    const std::string name(DTypeName(static_cast<v1::DType>(dtype)));
    add(definition.add_inputs(), "in_" + name, static_cast<v1::DType>(dtype));
    add(definition.add_outputs(), "out_" + name, static_cast<v1::DType>(dtype));
  }
  v1::TensorSpec* scale = definition.add_inputs();
  scale->set_name("scale");
  scale->set_scalar(true);
  scale->set_dtype(v1::DTYPE_FLOAT32);
  return definition;
}

BuildRequest Request(std::initializer_list<std::pair<std::string, std::string>> files) {
  BuildRequest request;
  request.sources.set_language(v1::LANGUAGE_CUDA);
  for (const auto& [path, content] : files) {
    v1::SourceFile* file = request.sources.add_files();
    file->set_path(path);
    file->set_content(content);
  }
  request.kernel_header = KernelHeader(EveryType(), v1::DEVICE_CLASS_CUDA).value();
  *request.limits.mutable_build_time() = ToProto(absl::Seconds(100));
  return request;
}

BuildRequest Kernel(const std::string& before, const std::string& body = "return 0;") {
  return Request({{"kernel.cu", absl::StrCat("#include \"ksearch_task.h\"\n", before, "\n", kEntry,
                                             " {\n  ", body, "\n}\n")}});
}

class NvccToolchainTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!FindOnPath("nvcc").ok() && !FindOnPath("/usr/local/cuda/bin/nvcc").ok()) {
      GTEST_SKIP() << "there is no nvcc";
    }
    auto sandbox = MakeSandbox(v1::SandboxSettings());
    ASSERT_TRUE(sandbox.ok()) << sandbox.status();
    sandbox_ = *std::move(sandbox);
    auto toolchain = NvccToolchain::Create(TestOptions(), sandbox_.get());
    ASSERT_TRUE(toolchain.ok()) << toolchain.status();
    toolchain_ = *std::move(toolchain);
  }

  static NvccToolchain::Options TestOptions() {
    NvccToolchain::Options options;
    options.work_dir = ScratchFolder() + "/build";
    options.trial_build = false;
    return options;
  }
  BuildResult Build(const BuildRequest& request) {
    auto result = toolchain_->Build(request, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : BuildResult();
  }
  static std::string Log(const BuildResult& result) {
    return absl::StrCat(result.message, "\n", result.report.log_excerpt());
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<NvccToolchain> toolchain_;
};

// Every dtype's pointer has the type that the toolkit's functions expect.
TEST_F(NvccToolchainTest, BuildsWithTheTypesOfTheTask) {
  const BuildResult result = Build(Kernel(
      "template <typename T> __global__ void copy(const T* in, T* out, int64_t n) {\n"
      "  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];\n}\n"
      "__global__ void scaled(const __nv_bfloat16* in, const __nv_fp8_e4m3* b, __half* out,\n"
      "                       float scale) {\n"
      "  out[0] = __float2half(__bfloat162float(in[0]) * scale + float(b[0]));\n}",
      "copy<<<1, 32, 0, stream>>>(args->in_float8_e5m2, args->out_float8_e5m2, args->n);\n"
      "  copy<<<1, 32, 0, stream>>>(args->in_bool, args->out_bool, args->n);\n"
      "  copy<<<1, 32, 0, stream>>>(args->in_int64, args->out_int64, args->n);\n"
      "  scaled<<<1, 1, 0, stream>>>(args->in_bfloat16, args->in_float8_e4m3fn,\n"
      "                              args->out_float16, float(args->scale));\n"
      "  return cudaGetLastError();"));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << Log(result);
  EXPECT_EQ(result.report.architecture(), "sm_90a");
  EXPECT_THAT(result.report.compiler(), AllOf(HasSubstr("nvcc release"), HasSubstr("g++")));
  EXPECT_THAT(result.report.flags(), HasSubstr("-gencode=arch=compute_90a,code=sm_90a"));
  ASSERT_EQ(result.report.kernels_size(), 4);
  std::vector<std::string> names;
  for (const v1::KernelFacts& kernel : result.report.kernels()) names.push_back(kernel.name());
  EXPECT_THAT(names, testing::UnorderedElementsAre("copy<__nv_fp8_e5m2>", "copy<unsigned char>",
                                                   "copy<long>", "scaled"));
  EXPECT_GT(result.report.kernels(0).registers(), 0);
  EXPECT_EQ(result.report.kernels(0).spill_store_bytes(), 0);
  EXPECT_EQ(result.report.log_excerpt(), "");  // facts are parsed, not shown as a log
  const auto object = ReadFile(result.artifact_path, 16 << 20);
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_TRUE(absl::StrContains(*object, "ksearch_run"));
  EXPECT_FALSE(absl::StrContains(*object, ".target sm_90a"));  // no PTX
}

TEST_F(NvccToolchainTest, BuildsWithDelaysAtBarriers) {
  BuildRequest request = Kernel(
      "#include \"ksearch_cuda.h\"\n"
      "void launch(float* p, cudaStream_t stream);\n"
      "__global__ void k(float* p) {\n  __shared__ uint64_t barrier;\n"
      "  if (threadIdx.x == 0) ks::mbarrier_init(&barrier, 1);\n  __syncthreads();\n"
      "  if (threadIdx.x == 0) ks::mbarrier_arrive(&barrier);\n"
      "  ks::mbarrier_wait(&barrier, 0);\n  p[threadIdx.x] = 1;\n}",
      "k<<<1, 32, 0, stream>>>(nullptr);\n  launch(nullptr, stream);\n  return 0;");
  v1::SourceFile* other = request.sources.add_files();
  other->set_path("folder/kernel.cu");
  other->set_content(
      "__global__ void other(float* p) {\n  __shared__ float s[32];\n  s[threadIdx.x] = p[0];\n"
      "  __syncthreads();\n  p[threadIdx.x] = s[31 - threadIdx.x];\n}\n"
      "void launch(float* p, cudaStream_t stream) { other<<<1, 32, 0, stream>>>(p); }\n");
  request.variant = BuildVariant::kDelayed;
  const BuildResult result = Build(request);
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << Log(result);
  EXPECT_EQ(result.report.kernels_size(), 2);
  if (!FindOnPath("/usr/local/cuda/bin/cuobjdump").ok()) return;
  SubprocessOptions options;
  options.argv = {"/usr/local/cuda/bin/cuobjdump", "-sass", result.artifact_path};
  options.environment = {{"PATH", "/usr/local/cuda/bin:/usr/bin:/bin"}};
  const auto listing = RunCommand(std::move(options), absl::Seconds(60), 1 << 20);
  ASSERT_TRUE(listing.ok()) << listing.status();
  for (const absl::string_view kernel :
       absl::StrSplit(absl::string_view(listing->out).substr(listing->out.find("Function :")),
                      "Function :", absl::SkipEmpty())) {
    EXPECT_THAT(std::string(kernel), HasSubstr("NANOSLEEP"));
  }
}

TEST_F(NvccToolchainTest, ALineTableComesOnlyWhereItIsAskedFor) {
  BuildRequest request = Kernel("__global__ void k(float* p) { p[threadIdx.x] = 1; }",
                                "k<<<1, 32, 0, stream>>>(nullptr);\n  return 0;");
  const BuildResult plain = Build(request);
  ASSERT_EQ(plain.outcome, v1::OUTCOME_PASSED) << Log(plain);
  EXPECT_THAT(plain.report.flags(), Not(HasSubstr("-lineinfo")));
  request.variant = BuildVariant::kLined;
  const BuildResult lined = Build(request);
  ASSERT_EQ(lined.outcome, v1::OUTCOME_PASSED) << Log(lined);
  EXPECT_THAT(lined.report.flags(), HasSubstr("-lineinfo"));
  EXPECT_EQ(lined.report.kernels(0).registers(), plain.report.kernels(0).registers());
  // The device code of an object built here is not compressed, so the section's name is visible.
  const auto contains = [](const BuildResult& result) {
    const auto object = ReadFile(result.artifact_path, int64_t{64} << 20);
    return object.ok() && object->find(".debug_line") != std::string::npos;
  };
  EXPECT_TRUE(contains(lined));
  EXPECT_FALSE(contains(plain));
}

TEST_F(NvccToolchainTest, AnErrorInADelayedBuildIsTheSources) {
  BuildRequest request = Kernel("", "return undeclared;");
  request.variant = BuildVariant::kDelayed;
  const BuildResult result = Build(request);
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("undeclared"));
}

TEST_F(NvccToolchainTest, OurHeaderIsThereForEveryArchitecture) {
  const std::string header = "#include \"ksearch_cuda.h\"\n";
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    BuildRequest request = Kernel(
        header +
            "__global__ void k(uint4* p, float* q) {\n"
            "  float f[8];\n  ks::unpack_bf16x8(ks::load128_stream(p), f);\n"
            "  ks::store128(p + 1, ks::pack_bf16x8(f));\n  q[0] = ks::warp_sum(f[0]);\n}",
        "k<<<1, 32, 0, stream>>>(nullptr, nullptr);\n  KSEARCH_LAUNCH_CHECK();\n  return 0;");
    request.architecture = architecture;
    const BuildResult result = Build(request);
    EXPECT_EQ(result.outcome, v1::OUTCOME_PASSED) << architecture << "\n" << Log(result);
    EXPECT_EQ(result.report.architecture(), architecture);
  }
}

TEST_F(NvccToolchainTest, ErrorsNameFileAndLine) {
  BuildResult result = Build(Kernel("__global__ void k(int* p) { p[0] = undeclared; }"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("kernel.cu:2: identifier \"undeclared\" is undefined"));
  ASSERT_GE(result.report.diagnostics_size(), 1);
  EXPECT_EQ(result.report.diagnostics(0).file(), "kernel.cu");
  EXPECT_EQ(result.report.diagnostics(0).line(), 2);

  result = Build(Kernel("__global__ void k() { asm volatile(\"bogus.op %0;\" :: \"r\"(1)); }"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.report.log_excerpt(), HasSubstr("bogus"));
  EXPECT_THAT(result.report.diagnostics(0).message(), HasSubstr("ptxas: "));

  result =
      Build(Kernel("__global__ void k(float* p) { __shared__ float s[100000];\n"
                   "  s[threadIdx.x] = p[0]; __syncthreads(); p[1] = s[5]; }",
                   "k<<<1, 32, 0, stream>>>(args->out_float32); return 0;"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("too much shared data"));
}

TEST_F(NvccToolchainTest, WhatIsMissingIsSaid) {
  BuildResult result = Build(Request({{"kernel.cu", "__global__ void k() {}\n"}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("the entry is missing: define extern \"C\" int"));
  result = Build(Kernel("extern \"C\" int elsewhere();", "return elsewhere();"));
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR);
  EXPECT_THAT(result.message, HasSubstr("undefined reference to `elsewhere'"));
  // Interfaces that differ from the header's.
  for (const char* entry : {"int ksearch_run(float* x, int n) { return n; }",
                            "void ksearch_run(const KsearchArgs* args, cudaStream_t stream) {}"}) {
    result = Build(Request(
        {{"kernel.cu", absl::StrCat("#include \"ksearch_task.h\"\nextern \"C\" ", entry, "\n")}}));
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << entry;
    EXPECT_THAT(result.message, HasSubstr("the entry must be: extern \"C\" int ksearch_run("));
  }
  result = Build(Kernel("extern \"C\" int ksearch_workspace_bytes(int n) { return n; }"));
  EXPECT_THAT(result.message,
              HasSubstr("it must be: extern \"C\" int64_t ksearch_workspace_bytes("));
  result = Build(Kernel("#include <nowhere/extension.h>"));
  EXPECT_THAT(Log(result), HasSubstr("nowhere/extension.h: No such file"));
}

TEST_F(NvccToolchainTest, HostFilesCannotBeIncluded) {
  const std::string secret = ScratchFolder() + "/secret.h";
  std::ofstream(secret) << "int hunter2;\n";
  for (const std::string& path : {std::string("/etc/passwd"), secret}) {
    const BuildResult result = Build(Kernel(absl::StrCat("#include \"", path, "\"")));
    EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_ERROR) << path;
    EXPECT_THAT(result.report.log_excerpt(), HasSubstr("No such file")) << path;
  }
}

TEST_F(NvccToolchainTest, SpillsAreFacts) {
  const BuildResult result = Build(Kernel(
      "template <int N> __global__ void __launch_bounds__(1024, 2) spill(float* p, int n) {\n"
      "  float a[N];\n#pragma unroll\n  for (int i = 0; i < N; i++) a[i] = p[i * n + "
      "threadIdx.x];\n"
      "  for (int r = 0; r < n; r++) {\n#pragma unroll\n    for (int i = 0; i < N; i++) a[i] = "
      "a[i] * a[(i * 7 + 1) % N] + p[r + i];\n  }\n#pragma unroll\n  for (int i = 0; i < N; i++) "
      "p[i * n + threadIdx.x] = a[i];\n}",
      "spill<96><<<1, 32, 0, stream>>>(args->out_float32, 3); return 0;"));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << Log(result);
  ASSERT_EQ(result.report.kernels_size(), 1);
  const v1::KernelFacts& kernel = result.report.kernels(0);
  EXPECT_EQ(kernel.name(), "spill<96>");
  EXPECT_EQ(kernel.registers(), 32);
  EXPECT_GT(kernel.spill_store_bytes(), 0);
  EXPECT_GT(kernel.spill_load_bytes(), 0);
  EXPECT_GT(kernel.stack_bytes(), 0);
}

TEST_F(NvccToolchainTest, WarningsAreKeptUnusedVariablesAreNot) {
  const BuildResult result =
      Build(Kernel("__global__ void k(int* p) { int unused = 1; p[0] = 1 / 0; }",
                   "k<<<1, 1, 0, stream>>>(args->out_int32); return 0;"));
  ASSERT_EQ(result.outcome, v1::OUTCOME_PASSED) << Log(result);
  ASSERT_GE(result.report.diagnostics_size(), 1);
  EXPECT_EQ(result.report.diagnostics(0).severity(), "warning");
  EXPECT_THAT(Log(result), AllOf(HasSubstr("division by zero"), Not(HasSubstr("never"))));
}

TEST_F(NvccToolchainTest, EndlessCompilationIsATimeout) {
  BuildRequest request = Kernel(
      "constexpr int f(long n) { int s = 0; for (long i = 0; i < n; ++i) s ^= int(i); return s; }\n"
      "template <long N> struct S { static constexpr int v = f(50000 + N) + S<N - 1>::v; };\n"
      "template <> struct S<0> { static constexpr int v = 0; };\n"
      "int x = S<450>::v;");
  *request.limits.mutable_build_time() = ToProto(absl::Seconds(1));
  const BuildResult result = Build(request);
  EXPECT_EQ(result.outcome, v1::OUTCOME_COMPILE_TIMEOUT) << Log(result);
}

TEST_F(NvccToolchainTest, HugeAndUnsafeSourcesNeverReachTheCompiler) {
  BuildResult result = Build(Kernel(std::string(300 << 10, '\n')));
  EXPECT_EQ(result.outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_THAT(result.message, HasSubstr("bytes"));
  result = Build(Request({{"ksearch_cuda.h", ""}, {"kernel.cu", ""}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_INVALID_SOURCE);
  EXPECT_THAT(result.message, HasSubstr("reserved"));
  result = Build(Request({{"kernel.cuh", ""}}));
  EXPECT_EQ(result.outcome, v1::OUTCOME_INVALID_SOURCE);
}

TEST_F(NvccToolchainTest, UnknownArchitectureIsNamed) {
  BuildRequest request = Kernel("");
  EXPECT_THAT(toolchain_->architectures(),
              AllOf(testing::Contains("sm_90a"), Not(testing::Contains("sm_80a"))));
  for (const char* name : {"sm_999", "90a", "sm_80a", "sm_90a --keep", ""}) {
    request.architecture = name;
    const auto built = toolchain_->Build(request, {});
    if (request.architecture.empty()) continue;
    EXPECT_EQ(built.status().code(), absl::StatusCode::kFailedPrecondition) << name;
    EXPECT_THAT(std::string(built.status().message()), AllOf(HasSubstr(name), HasSubstr("sm_90 ")));
  }
  NvccToolchain::Options options = TestOptions();
  options.architecture = "sm_1";
  EXPECT_EQ(NvccToolchain::Create(std::move(options), sandbox_.get()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(NvccToolchainTest, StopCancels) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(toolchain_->Build(Kernel(""), stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(NvccToolchainTest, MissingCompilersAreNamedAtStart) {
  NvccToolchain::Options options = TestOptions();
  options.compiler_path = "/no/such/nvcc";
  auto made = NvccToolchain::Create(std::move(options), sandbox_.get());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("/no/such/nvcc"));
  options = TestOptions();
  options.host_compiler_path = "/no/such/g++";
  made = NvccToolchain::Create(std::move(options), sandbox_.get());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(made.status().message()),
              AllOf(HasSubstr("host compiler"), HasSubstr("/no/such/g++")));
}

TEST_F(NvccToolchainTest, AHostCompilerThatCannotCompileIsFoundAtStart) {
  NvccToolchain::Options options = TestOptions();
  options.trial_build = true;
  options.host_compiler_path = "/usr/bin/true";
  const auto made = NvccToolchain::Create(std::move(options), sandbox_.get());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("cannot build an empty kernel"));
}

TEST_F(NvccToolchainTest, TheFactoryMakesOneThatWorks) {
  v1::WorkerConfig config;
  config.add_toolchains()->set_language(v1::LANGUAGE_CUDA);
  const auto made = MakeToolchains(config, ScratchFolder() + "/state", sandbox_.get());
  ASSERT_TRUE(made.ok()) << made.status();
  BuildRequest request = Kernel("__global__ void k() {}", "k<<<1, 1, 0, stream>>>(); return 0;");
  EXPECT_FALSE(made->at(v1::LANGUAGE_CUDA)->Build(request, {})->report.cached());
  const auto again = made->at(v1::LANGUAGE_CUDA)->Build(request, {});
  EXPECT_TRUE(again->report.cached());
  EXPECT_EQ(again->report.kernels_size(), 1);
  request.architecture = "sm_80";
  EXPECT_FALSE(made->at(v1::LANGUAGE_CUDA)->Build(request, {})->report.cached());
}

}  // namespace
}  // namespace ksearch
