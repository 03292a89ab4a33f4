#include "gpu_worker/verifier/instruments/sanitizer_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Finding = v1::SanitizerFinding;

TEST(SanitizerReportTest, NothingFound) {
  const SanitizerLog log = ReadSanitizerReport("memcheck",
                                               "========= COMPUTE-SANITIZER\n"
                                               "hello from the candidate\n"
                                               "========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_THAT(log.findings, IsEmpty());
  EXPECT_THAT(log.trouble, IsEmpty());
}

TEST(SanitizerReportTest, OutOfBounds) {
  const SanitizerLog log = ReadSanitizerReport(
      "memcheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ read of size 16 bytes\n"
      "=========     at void ns::peek<(int)4>(const uint4 *, int *)+0x70\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n"
      "=========     Access at 0x7f6510c00000 is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at 0x7f6510b00000\n"
      "=========\n"
      "========= Invalid __global__ read of size 16 bytes\n"
      "=========     at void ns::peek<(int)4>(const uint4 *, int *)+0x70\n"
      "=========     by thread (1,0,0) in block (0,0,0)\n"
      "=========\n"
      "========= ERROR SUMMARY: 2 errors\n");
  EXPECT_TRUE(log.complete);
  ASSERT_THAT(log.findings, SizeIs(1));
  EXPECT_EQ(log.findings[0].kind(), Finding::OUT_OF_BOUNDS);
  EXPECT_FALSE(log.findings[0].warning());
  EXPECT_EQ(log.findings[0].tool(), "memcheck");
  EXPECT_EQ(log.findings[0].kernel(), "ns::peek<(int)4>");
  EXPECT_THAT(log.findings[0].text(), StartsWith("Invalid __global__ read of size 16 bytes; at "));
  EXPECT_THAT(log.findings[0].text(), HasSubstr("nearest allocation"));
}

TEST(SanitizerReportTest, MisalignedInTheOlderForm) {
  const SanitizerLog log =
      ReadSanitizerReport("memcheck",
                          "========= Invalid __global__ write of size 4 bytes\n"
                          "=========     at 0x160 in memcheck_demo.cu:6:unaligned_kernel(void)\n"
                          "=========     by thread (0,0,0) in block (0,0,0)\n"
                          "=========     Address 0x7f6510c00001 is misaligned\n"
                          "========= ERROR SUMMARY: 1 error\n");
  ASSERT_THAT(log.findings, SizeIs(1));
  EXPECT_EQ(log.findings[0].kind(), Finding::BAD_ACCESS);
  EXPECT_EQ(log.findings[0].kernel(), "unaligned_kernel");
}

TEST(SanitizerReportTest, RacesHaveASeverity) {
  const SanitizerLog log = ReadSanitizerReport(
      "racecheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Warning: Race reported between Write access at late(float *)+0x2a0\n"
      "=========     and Read access at late(float *)+0x470 [32 hazards]\n"
      "=========\n"
      "========= Error: Race reported between Write access at "
      "(anonymous namespace)::sum(float *)+0x2a0\n"
      "=========     and Read access at (anonymous namespace)::sum(float *)+0x470 [508 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n");
  EXPECT_TRUE(log.complete);
  ASSERT_THAT(log.findings, SizeIs(2));
  EXPECT_FALSE(log.findings[0].warning());
  EXPECT_EQ(log.findings[0].kind(), Finding::RACE);
  EXPECT_EQ(log.findings[0].kernel(), "(anonymous namespace)::sum");
  EXPECT_TRUE(log.findings[1].warning());
  EXPECT_EQ(log.findings[1].kernel(), "late");
}

TEST(SanitizerReportTest, SourceLinesWhereTheToolHasThem) {
  const SanitizerLog log = ReadSanitizerReport(
      "racecheck",
      "========= Error: Race reported between Write access at sum(float *)+0x2a0 in "
      "/build/x7/kernel.cu:42\n"
      "=========     and Read access at sum(float *)+0x470 in /build/x7/kernel.cu:57 [508 "
      "hazards]\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
  ASSERT_THAT(log.findings, SizeIs(1));
  EXPECT_EQ(log.findings[0].kernel(), "sum");
  EXPECT_EQ(log.findings[0].file(), "kernel.cu");
  EXPECT_EQ(log.findings[0].line(), 42);
  const SanitizerLog older =
      ReadSanitizerReport("memcheck",
                          "========= Invalid __global__ write of size 4 bytes\n"
                          "=========     at 0x160 in memcheck_demo.cu:6:unaligned_kernel(void)\n"
                          "=========     by thread (0,0,0) in block (0,0,0)\n"
                          "========= ERROR SUMMARY: 1 error\n");
  ASSERT_THAT(older.findings, SizeIs(1));
  EXPECT_EQ(older.findings[0].file(), "memcheck_demo.cu");
  EXPECT_EQ(older.findings[0].line(), 6);
  EXPECT_EQ(ReadSanitizerReport("memcheck",
                                "========= Invalid __global__ write of size 4 bytes\n"
                                "=========     at k(int)+0x70 in a.cu:99999999999\n")
                .findings[0]
                .line(),
            0);
}

// Reports from NVIDIA's manual, of programs built with -lineinfo.
TEST(SanitizerReportTest, TheFormsOfTheManual) {
  const SanitizerLog misaligned =
      ReadSanitizerReport("memcheck",
                          "========= Invalid __global__ write of size 4 bytes\n"
                          "=========     at unaligned_kernel():0x160 in memcheck_demo.cu:6\n"
                          "=========     by thread (0,0,0) in block (0,0,0)\n"
                          "=========     Address 0x7f6510c00001 is misaligned\n");
  ASSERT_THAT(misaligned.findings, SizeIs(1));
  EXPECT_EQ(misaligned.findings[0].kind(), Finding::BAD_ACCESS);
  EXPECT_EQ(misaligned.findings[0].kernel(), "unaligned_kernel");
  EXPECT_EQ(misaligned.findings[0].file(), "memcheck_demo.cu");
  EXPECT_EQ(misaligned.findings[0].line(), 6);
  const SanitizerLog hazards = ReadSanitizerReport(
      "racecheck",
      "========= WARNING: Race reported between Write access at RAW()+0xf0 in "
      "raceGroupBasic.cu:40\n"
      "=========     and Read access at RAW()+0x280 in raceGroupBasic.cu:46 [4 hazards]\n"
      "=========\n"
      "========= ERROR: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :\n"
      "=========     Write Thread (0,0,0) at WAW()+0x2f0 in raceWAW.cu:20\n"
      "=========     Write Thread (1,0,0) at WAW()+0x2f0 in raceWAW.cu:20\n"
      "=========     Current Value : 1, Incoming Value : 2\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n");
  ASSERT_THAT(hazards.findings, SizeIs(2));
  EXPECT_EQ(hazards.findings[0].kernel(), "WAW");
  EXPECT_EQ(hazards.findings[0].line(), 20);
  EXPECT_FALSE(hazards.findings[0].warning());
  EXPECT_EQ(hazards.findings[1].kernel(), "RAW");
  EXPECT_EQ(hazards.findings[1].line(), 40);
  EXPECT_TRUE(hazards.findings[1].warning());
}

TEST(SanitizerReportTest, UninitializedReadsAndBarriers) {
  const SanitizerLog reads =
      ReadSanitizerReport("initcheck",
                          "========= Uninitialized __global__ memory read of size 4 bytes\n"
                          "=========     at add(float *, int)+0x70\n"
                          "=========     by thread (96,0,0) in block (1,0,0)\n"
                          "=========     Access at 0x7f2ad3200180\n"
                          "========= ERROR SUMMARY: 1 error\n");
  ASSERT_THAT(reads.findings, SizeIs(1));
  EXPECT_EQ(reads.findings[0].kind(), Finding::UNINITIALIZED);
  const SanitizerLog barriers =
      ReadSanitizerReport("synccheck",
                          "========= Barrier error detected. Divergent thread(s) in block.\n"
                          "=========     at late(int *)+0x70\n"
                          "=========     by thread (0,0,0) in block (0,0,0)\n"
                          "========= ERROR SUMMARY: 1 error\n");
  ASSERT_THAT(barriers.findings, SizeIs(1));
  EXPECT_EQ(barriers.findings[0].kind(), Finding::BAD_SYNCHRONIZATION);
}

TEST(SanitizerReportTest, TroubleOfTheToolIsNoFinding) {
  const SanitizerLog log = ReadSanitizerReport(
      "memcheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Target application terminated before first instrumented API call\n");
  EXPECT_FALSE(log.complete);
  EXPECT_THAT(log.findings, IsEmpty());
  EXPECT_THAT(log.trouble, HasSubstr("terminated before first"));
}

TEST(SanitizerReportTest, SizesAreLimited) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&text, "========= Invalid __global__ read of size 4 bytes\n=========     at k",
                    i, std::string(2000, 'x'), "(int)+0x70\n=========     \x01\x02\xff\n");
  }
  const SanitizerLog log = ReadSanitizerReport("memcheck", text);
  EXPECT_FALSE(log.complete);
  ASSERT_THAT(log.findings, SizeIs(kMaxSanitizerFindings));
  EXPECT_LE(log.findings[0].kernel().size(), 200U);
  EXPECT_LE(log.findings[0].text().size(), 500U);
}

}  // namespace
}  // namespace ksearch
