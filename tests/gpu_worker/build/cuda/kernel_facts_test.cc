#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gpu_worker/build/cuda/kernel_name.h"
#include "gpu_worker/build/cuda/ptxas_report.h"
#include "gpu_worker/build/cuda/sass_facts.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

TEST(KernelNameTest, ReadsWhatKernelsHave) {
  EXPECT_EQ(KernelName("_Z3rmsPK13__nv_bfloat16PS_i"), "rms");
  EXPECT_EQ(KernelName("_Z5spillILi96EEvPfi"), "spill<96>");
  EXPECT_EQ(KernelName("_ZN9attention6decodeILi128ELb1E13__nv_bfloat16EEvPT_"),
            "attention::decode<128, true, __nv_bfloat16>");
  EXPECT_EQ(KernelName("_ZN54_GLOBAL__N__2f1b1a2c_9_kernel_cu_6b1b5f1d_3456789abcde1kEv"),
            "(anonymous)::k");
  EXPECT_EQ(KernelName("_Z1kILin4EPKfEvv"), "k<-4, const float*>");
  EXPECT_EQ(KernelName("_ZL1kv"), "k");
  EXPECT_EQ(KernelName("plain_c"), "plain_c");
}

TEST(KernelNameTest, WhatItCannotReadIsCutOrKept) {
  EXPECT_EQ(KernelName("_Z1kILi8ESaIcEEvv"), "k<8, ...>");
  EXPECT_EQ(KernelName("_Z999x"), "_Z999x");
  EXPECT_EQ(KernelName("_ZN"), "_ZN");
  EXPECT_EQ(KernelName("a\nb\xff"), "a?b?");
  const std::string nested = absl::StrCat("_Z1k", std::string(3000, 'I'));
  EXPECT_LE(KernelName(nested).size(), kMaxKernelNameBytes);
  std::string deep = "_Z1kI";
  for (int i = 0; i < 400; ++i) deep += "1aI";
  EXPECT_LE(KernelName(deep).size(), kMaxKernelNameBytes);
}

// The output of nvcc 13.0.
constexpr char kLog[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
    "serialized due to non wgmma instructions in the function '_Z5spillILi96EEvPfi'\n"
    "ptxas info    : Compiling entry function '_Z5spillILi96EEvPfi' for 'sm_90a'\n"
    "ptxas info    : Function properties for _Z5spillILi96EEvPfi\n"
    "    1824 bytes stack frame, 2932 bytes spill stores, 2988 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 2 barriers, 1824 bytes cumulative stack size, 4096 "
    "bytes smem\n"
    "ptxas info    : Compile time = 83.127 ms\n"
    "ptxas info    : Function properties for helper\n"
    "    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
    "kernel.cu(4): warning #39-D: division by zero\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "ptxas info    : Function properties for k\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 0 barriers\n";

TEST(PtxasReportTest, FactsOfEveryKernel) {
  const PtxasReport report = ReadPtxasReport(kLog);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].symbol, "_Z5spillILi96EEvPfi");
  const v1::KernelFacts& spill = report.kernels[0].facts;
  EXPECT_EQ(spill.name(), "spill<96>");
  EXPECT_EQ(spill.registers(), 32);
  EXPECT_EQ(spill.barriers(), 2);
  EXPECT_EQ(spill.static_shared_bytes(), 4096);
  EXPECT_EQ(spill.stack_bytes(), 1824);
  EXPECT_EQ(spill.spill_store_bytes(), 2932);
  EXPECT_EQ(spill.spill_load_bytes(), 2988);
  EXPECT_EQ(report.kernels[1].facts.registers(), 10);
  EXPECT_EQ(report.kernels[1].facts.stack_bytes(), 0);
}

TEST(PtxasReportTest, TheRestOfTheLogIsKeptAndLossesAreWarnings) {
  const PtxasReport report = ReadPtxasReport(kLog);
  EXPECT_THAT(report.other_lines, HasSubstr("kernel.cu(4): warning #39-D: division by zero\n"));
  EXPECT_THAT(report.other_lines,
              HasSubstr("ptxas warning : (C7510) Potential Performance Loss: wgmma"));
  EXPECT_EQ(report.other_lines.find("ptxas info"), std::string::npos);
  EXPECT_EQ(report.other_lines.find("stack frame"), std::string::npos);
}

TEST(PtxasReportTest, ManyKernelsAreCutOff) {
  std::string log;
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&log, "ptxas info    : Compiling entry function 'k", i, "' for 'sm_90a'\n",
                    "ptxas info    : Used ", i, " registers\n");
  }
  const PtxasReport report = ReadPtxasReport(log);
  ASSERT_EQ(report.kernels.size(), static_cast<size_t>(kMaxKernels));
  EXPECT_EQ(report.kernels.back().facts.registers(), kMaxKernels - 1);
}

TEST(SassFactsTest, CountsByFunction) {
  const auto functions = CountSass(
      "\tcode for sm_90a\n\t\tFunction : _Z1kPf\n\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;            /* 0x00000a00ff017b82 "
      "*/\n"
      "                                                                     /* 0x000fe20000000800 "
      "*/\n"
      "        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;  /* 0x0 */\n"
      "        /*0020*/                   LDG.E R8, desc[UR4][R2.64] ;  /* 0x0 */\n"
      "        /*0030*/                   STG.E.128 desc[UR4][R2.64], R4 ;  /* 0x0 */\n"
      "        /*0040*/                   HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], R24 ;\n"
      "        /*0050*/                   HMMA.16816.F32.BF16 R4, R8, R12, R4 ;\n"
      "        /*0060*/              @P1  LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64] ;\n"
      "        /*0070*/                   UTMALDG.2D [UR8], [UR4] ;\n"
      "        /*0080*/                   LDSM.16.M88.4 R4, [R8] ;\n"
      "        /*0090*/                   LDL R4, [R1] ;\n"
      "        /*00a0*/                   STL.64 [R1], R4 ;\n"
      "\t\t..........\n\t\tFunction : other\n        /*0000*/                   EXIT ;\n");
  ASSERT_EQ(functions.size(), 2u);
  const v1::SassFacts& facts = functions.at("_Z1kPf");
  EXPECT_EQ(facts.instructions(), 11);
  EXPECT_EQ(facts.tensor(), 2);
  EXPECT_EQ(facts.warpgroup_tensor(), 1);
  EXPECT_EQ(facts.global_loads(), 2);
  EXPECT_EQ(facts.wide_global_loads(), 1);
  EXPECT_EQ(facts.wide_global_stores(), 1);
  EXPECT_EQ(facts.async_copies(), 1);
  EXPECT_EQ(facts.bulk_copies(), 1);
  EXPECT_EQ(facts.matrix_loads(), 1);
  EXPECT_EQ(facts.local_loads(), 1);
  EXPECT_EQ(facts.local_stores(), 1);
  EXPECT_EQ(functions.at("other").instructions(), 1);
}

}  // namespace
}  // namespace ksearch
