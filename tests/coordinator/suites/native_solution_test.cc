#include "coordinator/suites/flashinfer/native_solution.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

v1::Definition Definition() {
  v1::Definition definition;
  definition.set_name("norm");
  definition.add_axes()->set_name("batch");
  definition.add_axes()->set_name("hidden");
  definition.mutable_axes(1)->set_const_value(64);
  v1::TensorSpec& x = *definition.add_inputs();
  x.set_name("x");
  x.set_dtype(v1::DTYPE_BFLOAT16);
  x.add_shape("batch");
  x.add_shape("hidden");
  v1::TensorSpec& eps = *definition.add_inputs();
  eps.set_name("eps");
  eps.set_dtype(v1::DTYPE_FLOAT32);
  eps.set_scalar(true);
  v1::TensorSpec& offset = *definition.add_inputs();
  offset.set_name("offset");
  offset.set_dtype(v1::DTYPE_INT32);
  offset.set_scalar(true);
  *definition.add_outputs() = x;
  definition.mutable_outputs(0)->set_name("y");
  return definition;
}

v1::Sources Program(v1::Language language, const std::string& path, const std::string& content) {
  v1::Sources sources;
  sources.set_language(language);
  sources.add_files()->set_path(path);
  sources.mutable_files(0)->set_content(content);
  return sources;
}

std::string FileIn(const NativeSolution& solution, const std::string& path) {
  for (const v1::SourceFile& file : solution.files) {
    if (file.path() == path) return file.content();
  }
  return "";
}

TEST(NativeSolutionTest, ProgramInCudaGetsItsHeadersAndABinding) {
  const auto solution =
      BindToTorch(Definition(), Program(v1::LANGUAGE_CUDA, "kernel.cu",
                                        "#include \"ksearch_task.h\"\n#include \"ksearch_cuda.h\"\n"
                                        "extern \"C\" int64_t ksearch_workspace_bytes(...);"));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->entry_point, "ksearch_binding.cpp::run");
  EXPECT_THAT(FileIn(*solution, "kernel.cu"), HasSubstr("#undef __CUDA_NO_HALF_OPERATORS__\n"));
  EXPECT_THAT(FileIn(*solution, "ksearch_task.h"), HasSubstr("cudaStream_t"));
  EXPECT_THAT(FileIn(*solution, "ksearch_cuda.h"), Not(HasSubstr("#include \"header/")));
  const std::string binding = FileIn(*solution, "ksearch_binding.cpp");
  EXPECT_THAT(binding, HasSubstr("void Call(const at::Tensor& x_, double eps_, int64_t offset_, "
                                 "const at::Tensor& y_)"));
  EXPECT_THAT(binding, HasSubstr("args.batch = x_.size(0);"));
  EXPECT_THAT(binding, HasSubstr("args.hidden = 64;"));
  EXPECT_THAT(binding, HasSubstr("ksearch_workspace_bytes == nullptr ? 0 : "
                                 "ksearch_workspace_bytes(&args)"));
  EXPECT_THAT(binding, HasSubstr("__attribute__((weak)) int64_t ksearch_workspace_bytes("));
  EXPECT_THAT(binding, HasSubstr("c10::cuda::getCurrentCUDAStream().stream()"));
  EXPECT_THAT(binding, HasSubstr("m.def(\"run\", &Call)"));
}

TEST(NativeSolutionTest, ProgramInCppIsTakenAsItIs) {
  const std::string text = "#include \"ksearch_task.h\"\n";
  const auto solution = BindToTorch(Definition(), Program(v1::LANGUAGE_CPP, "kernel.cpp", text));
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(FileIn(*solution, "kernel.cpp"), text);
  EXPECT_EQ(FileIn(*solution, "ksearch_cuda.h"), "");
  const std::string binding = FileIn(*solution, "ksearch_binding.cpp");
  EXPECT_THAT(binding, Not(HasSubstr("cuda")));
  EXPECT_THAT(binding, Not(HasSubstr("scratch")));
}

TEST(NativeSolutionTest, WhatHasNoBindingIsNamed) {
  const v1::Sources good = Program(v1::LANGUAGE_CPP, "kernel.cpp", "code");
  EXPECT_THAT(std::string(BindToTorch(Definition(), Program(v1::LANGUAGE_PYTHON, "a.py", "code"))
                              .status()
                              .message()),
              HasSubstr("neither in C++ nor in CUDA"));
  EXPECT_THAT(std::string(BindToTorch(Definition(),
                                      Program(v1::LANGUAGE_CPP, "ksearch_binding.cpp", "code"))
                              .status()
                              .message()),
              HasSubstr("ksearch_binding.cpp"));
  v1::Definition loose = Definition();
  loose.add_axes()->set_name("pages");
  EXPECT_THAT(std::string(BindToTorch(loose, good).status().message()), HasSubstr("'pages'"));
}

}  // namespace
}  // namespace ksearch
