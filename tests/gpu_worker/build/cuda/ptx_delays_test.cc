#include "gpu_worker/build/cuda/ptx_delays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gpu_worker/build/cuda/nvcc_steps.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

DelayedPtx Delayed(const std::string& ptx) {
  const auto delayed = AddDelays(ptx);
  EXPECT_TRUE(delayed.ok()) << delayed.status();
  return delayed.ok() ? *delayed : DelayedPtx();
}

// Replaces the delays by "#" and white space by one space.
std::string Short(std::string text) {
  while (true) {
    const size_t begin = text.find("{ .reg .b32 %ks_h");
    if (begin == std::string::npos) break;
    text.replace(begin, text.find('}', begin) + 1 - begin, "#");
  }
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space) line.push_back(c);
    if (space && !line.empty() && line.back() != ' ') line.push_back(' ');
  }
  return line;
}

TEST(PtxDelaysTest, StandAroundBarriersAndAtTheBeginningOfKernels) {
  const DelayedPtx delayed = Delayed(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".func (.param .b32 r) f(.param .b32 p)\n{\n\tret;\n}\n"
      ".visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 256, 1, 1\n{\n"
      "\t.reg .pred \t%p<2>;\n\t.shared .align 4 .b8 s[4];\n"
      "// %bb.0:\n\tld.param.u64 \t%rd1, [k_param_0];\n"
      "\t@%p1 bra \t$L__BB0_2;\n$L__BB0_2:\n\tbar.sync \t0;\n\tret;\n}\n");
  EXPECT_EQ(delayed.kernels, 1);
  EXPECT_EQ(delayed.barriers, 1);
  EXPECT_THAT(Short(delayed.text),
              AllOf(HasSubstr("{ ret; }"),
                    HasSubstr("// %bb.0: # ld.param.u64 %rd1, [k_param_0]; @%p1 bra $L__BB0_2; "
                              "$L__BB0_2: # bar.sync 0; # ret; }")));
  EXPECT_THAT(delayed.text, HasSubstr("nanosleep.u32"));
}

TEST(PtxDelaysTest, KnowInlineAssemblyOfOneLine) {
  const DelayedPtx delayed = Delayed(
      ".entry k()\n{\n\tmov.u32 %r1, 0;\n\t// begin inline asm\n"
      "\t{ .reg .pred P; W: mbarrier.try_wait.parity.shared::cta.b64 P, [%r1], %r2; @P bra D; "
      "bra W; D: }\n"
      "\t@!%p3 cp.async.wait_group 0; /* bar.sync 1; */\n\tmov.b64 {%r4, %r5}, %rd2;\n\tret;\n}\n");
  EXPECT_EQ(delayed.barriers, 2);
  EXPECT_THAT(Short(delayed.text),
              AllOf(HasSubstr("W: # mbarrier.try_wait.parity.shared::cta.b64 P, [%r1], %r2; # @P "
                              "bra D; bra W; D: }"),
                    HasSubstr("# @!%p3 cp.async.wait_group 0; # /* bar.sync 1; */ mov.b64 {%r4, "
                              "%r5}, %rd2; ret;")));
}

TEST(PtxDelaysTest, LeaveOtherInstructionsAlone) {
  const std::string body =
      "\tcp.async.cg.shared.global [%r1], [%rd1], 16;\n\tld.shared.f32 %f1, [%r2];\n"
      "\twgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, p, "
      "1, 1, 0, 0;\n\tshfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;\n";
  const DelayedPtx delayed = Delayed(absl::StrCat(".entry k()\n{\n\tmov.u32 %r1, 0;\n", body, "}"));
  EXPECT_EQ(delayed.barriers, 0);
  EXPECT_THAT(delayed.text, HasSubstr(body));
}

TEST(PtxDelaysTest, AreNotPutIntoDeclarations) {
  const DelayedPtx delayed = Delayed(
      ".global .align 1 .b8 text[6] = {1, 2, 3};\n.file 1 \"bar.sync 0;\"\n"
      ".entry k()\n{\n\t.loc 1 2 3\n\tbar.sync 0;\n\t.pragma \"nounroll;\";\n}\n"
      ".section .debug_str\n{\n.b8 98\n.b8 97\n}\n");
  EXPECT_EQ(delayed.barriers, 1);
  EXPECT_EQ(delayed.kernels, 1);
  EXPECT_THAT(Short(delayed.text), AllOf(HasSubstr(".file 1 \"bar.sync 0;\" .entry"),
                                         HasSubstr(".pragma \"nounroll;\"; } .section .debug_str { "
                                                   ".b8 98 .b8 97 }")));
}

TEST(PtxDelaysTest, EndWithTextThatIsNoPtx) {
  for (const char* text :
       {"", "{", "/*", "\"", "bar.", "@", "a:", ".entry", ".section", "//", "}}}"}) {
    EXPECT_TRUE(AddDelays(text).ok()) << text;
  }
}

TEST(PtxDelaysTest, AreNotAddedWithoutEnd) {
  const std::string line = "bar.sync 0;\n";
  std::string text;
  while (text.size() < (size_t{2} << 20)) text += line;
  EXPECT_EQ(AddDelays(text).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(NvccStepsTest, PartARunBeforeTheAssembler) {
  const auto steps = ReadDryRun(
      "#$ _SPACE_= \n#$ TOP=/cuda/bin/..\n#$ PATH=/cuda/bin:/usr/bin\n"
      "#$ SYSTEM_INCLUDES=\"-isystem\" \"/cuda/include\"  \n"
      "#$ /usr/bin/g++ -D__CUDACC__ -E -x c++ \"a.cu\" -o \"/out/a.ii\" \n"
      "#$ cudafe++ --gen_c_file_name \"/out/a.cpp\" \"/out/a.ii\" \n"
      "#$ \"$CICC_PATH/cicc\" -arch compute_90a \"/out/a.ii\" -o \"/out/a.ptx\"\n"
      "#$ ptxas -arch=sm_90a \"/out/a.ptx\" -o \"/out/a.cubin\" \n"
      "#$ fatbinary --create=\"/out/a.fatbin\"\n#$ rm /out/a.fatbin\n"
      "nvcc warning: something\n"
      "#$ /usr/bin/g++ -c -x c++ \"/out/a.cpp\" -o \"/out/a.o\" \n");
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->to_ptx,
            "set -e\nexport _SPACE_=\nexport TOP=/cuda/bin/..\nexport PATH=/cuda/bin:/usr/bin\n"
            "/usr/bin/g++ -D__CUDACC__ -E -x c++ \"a.cu\" -o \"/out/a.ii\"\n"
            "cudafe++ --gen_c_file_name \"/out/a.cpp\" \"/out/a.ii\"\n"
            "\"$CICC_PATH/cicc\" -arch compute_90a \"/out/a.ii\" -o \"/out/a.ptx\"\n");
  EXPECT_EQ(steps->from_ptx,
            "set -e\nexport _SPACE_=\nexport TOP=/cuda/bin/..\nexport PATH=/cuda/bin:/usr/bin\n"
            "ptxas -arch=sm_90a \"/out/a.ptx\" -o \"/out/a.cubin\"\n"
            "fatbinary --create=\"/out/a.fatbin\"\n"
            "/usr/bin/g++ -c -x c++ \"/out/a.cpp\" -o \"/out/a.o\"\n");
}

TEST(NvccStepsTest, RefuseAnNvccOfAnotherKind) {
  const auto steps = ReadDryRun("#$ g++ -c a.cu\n");
  EXPECT_EQ(steps.status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace ksearch
