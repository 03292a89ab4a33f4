#include "gpu_worker/cuda/cuda_error.h"

#include <gtest/gtest.h>

namespace ksearch {
namespace {

CUresult NoName(CUresult, const char**) { return CUDA_ERROR_INVALID_VALUE; }
CUresult SomeName(CUresult, const char** name) {
  *name = "CUDA_ERROR_OF_A_TEST";
  return CUDA_SUCCESS;
}
CUresult SomeText(CUresult, const char** text) {
  *text = "as a test has it";
  return CUDA_SUCCESS;
}

DriverApi Api() {
  DriverApi api;
  api.cuGetErrorName = SomeName;
  api.cuGetErrorString = SomeText;
  return api;
}

TEST(CudaErrorTest, ClassesDecideTheStatusCode) {
  const DriverApi api = Api();
  EXPECT_TRUE(CudaStatus(api, CUDA_SUCCESS, "x").ok());
  EXPECT_EQ(CudaStatus(api, CUDA_ERROR_OUT_OF_MEMORY, "x").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CudaStatus(api, CUDA_ERROR_INVALID_VALUE, "x").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(CudaStatus(api, CUDA_ERROR_ILLEGAL_ADDRESS, "x").code(), absl::StatusCode::kAborted);
  EXPECT_EQ(CudaStatus(api, CUDA_ERROR_ECC_UNCORRECTABLE, "x").code(),
            absl::StatusCode::kUnavailable);
}

TEST(CudaErrorTest, StickyErrorsAreThoseThatEndAContext) {
  EXPECT_TRUE(IsSticky(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_TRUE(IsSticky(CUDA_ERROR_MISALIGNED_ADDRESS));
  EXPECT_TRUE(IsSticky(CUDA_ERROR_ECC_UNCORRECTABLE));
  EXPECT_FALSE(IsSticky(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_FALSE(IsSticky(CUDA_ERROR_INVALID_VALUE));
  EXPECT_FALSE(IsSticky(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
  EXPECT_FALSE(IsSticky(CUDA_SUCCESS));
}

TEST(CudaErrorTest, TextHasNameNumberAndDescription) {
  EXPECT_EQ(CudaErrorText(Api(), CUDA_ERROR_ILLEGAL_ADDRESS),
            "CUDA_ERROR_OF_A_TEST (700): as a test has it");
  DriverApi mute;
  mute.cuGetErrorName = NoName;
  mute.cuGetErrorString = NoName;
  EXPECT_EQ(CudaErrorText(mute, static_cast<CUresult>(998)), "CUDA error (998): no description");
}

}  // namespace
}  // namespace ksearch
