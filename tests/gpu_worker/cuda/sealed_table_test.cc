#include "gpu_worker/cuda/sealed_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "gpu_worker/cuda/driver_api.h"

namespace ksearch {
namespace {

CUresult Fails(void) { return CUDA_ERROR_UNKNOWN; }
CUresult Succeeds(void) { return CUDA_SUCCESS; }

TEST(SealedTableTest, ATableIsCopiedAndReadAsBefore) {
  DriverApi api;
  api.cuCtxSynchronize = Fails;
  const auto sealed = SealTable(api);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  api.cuCtxSynchronize = Succeeds;
  EXPECT_EQ((*sealed)->cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
}

TEST(SealedTableDeathTest, AWriteToATableFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  DriverApi api;
  api.cuCtxSynchronize = Fails;
  const auto sealed = SealTable(api);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  auto* const table = const_cast<DriverApi*>(sealed->get());
  EXPECT_DEATH(table->cuCtxSynchronize = Succeeds, "");
  EXPECT_EQ((*sealed)->cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
}

TEST(SealedTableTest, WhereTheKernelCanSealNobodyMakesATableWritableAgain) {
  const int number = 7;
  const auto copy = CopyToSealedPages(&number, sizeof number);
  ASSERT_TRUE(copy.ok()) << copy.status();
  if (!copy->sealed) GTEST_SKIP() << "the kernel has no mseal";
  EXPECT_NE(::mprotect(copy->address, copy->mapped_bytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_NE(::munmap(copy->address, copy->mapped_bytes), 0);
  EXPECT_EQ(::mmap(copy->address, copy->mapped_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_EQ(*static_cast<const int*>(copy->address), 7);
}

}  // namespace
}  // namespace ksearch
