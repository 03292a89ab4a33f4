#include "gpu_worker/profile/ncu_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/textproto.h"
#include "gpu_worker/profile/ncu_command.h"
#include "gpu_worker/profile/ncu_metrics.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTwoKernels[] =
    "==PROF== Connected to process 17 (/x/ksearch-runner)\n"
    "the candidate, says \"hello\"\n"
    "==PROF== Profiling \"decode\" - 0: 0%....50%....100% - 12 passes\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Grid "
    "Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
    "\"gpu__time_duration.sum\",\"launch__occupancy_limit_blocks\",\"launch__occupancy_limit_"
    "registers\","
    "\"launch__occupancy_limit_shared_mem\",\"launch__registers_per_thread\","
    "\"sm__throughput.avg.pct_of_peak_sustained_elapsed\","
    "\"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio\","
    "\"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio\","
    "\"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"byte\",\"ns\",\"block\","
    "\"block\","
    "\"block\",\"register/thread\",\"%\",\"inst\",\"inst\",\"inst\"\n"
    "\"0\",\"17\",\"ksearch-runner\",\"127.0.0.1\",\"_ZN9attention6decodeILi128ELb1EEEvPf\",\"1\","
    "\"7\","
    "\"(256, 1, 1)\",\"(64, 8, "
    "1)\",\"0\",\"9.0\",\"1,000,000\",\"500000\",\"3,000\",\"32\",\"4\",\"4\",\"96\","
    "\"40\",\"2\",\"7\",\"1\"\n"
    "\"1\",\"17\",\"ksearch-runner\",\"127.0.0.1\",\"void combine<(int)4>(float *, "
    "int)\",\"1\",\"7\","
    "\"(128, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"10\",\"n/a\",\"1000\",\"32\",\"21\",\"(!) "
    "n/a\",\"24\","
    "\"2.5\",\"0\",\"0\",\"1\"\n"
    "\"2\",\"17\",\"ksearch-runner\",\"127.0.0.1\",\"_ZN9attention6decodeILi128ELb1EEEvPf\",\"1\","
    "\"7\","
    "\"(256, 1, 1)\",\"(32, 8, 1)\",\"0\",\"9.0\",\"0\",\"0\",\"1000\",\"32\",\"4\",\"4\",\"96\","
    "\"80\",\"0\",\"0\",\"1\"\n";

// The output of ncu 2025.3.1 on an H200, without columns that we do not request.
std::string Recorded(const std::string& name) {
  const char* root = std::getenv("KSEARCH_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  const auto text = ReadFile(
      absl::StrCat(root == nullptr ? "." : root, "/tests/gpu_worker/profile/testdata/", name),
      1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(ParseNcuCsv, ARecordingFromAnH200) {
  const auto profile = ParseNcuCsv(Recorded("h200_raw.txt"));
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_EQ(profile->kernels_size(), 3);
  const v1::KernelProfile& gemm = profile->kernels(0);
  EXPECT_EQ(gemm.name(), "demo::gemm");
  EXPECT_EQ(gemm.launches(), 2);
  EXPECT_NEAR(gemm.share(), 0.929, 1e-3);
  EXPECT_NEAR(gemm.duration_us(), 128.064, 1e-6);
  EXPECT_EQ(gemm.grid().x(), 64);
  EXPECT_EQ(gemm.grid().y(), 64);
  EXPECT_EQ(gemm.block().x(), 32);
  EXPECT_FALSE(gemm.has_cluster());
  EXPECT_EQ(gemm.registers(), 40);
  EXPECT_EQ(gemm.dynamic_shared_bytes(), 1024);
  EXPECT_EQ(gemm.blocks_per_sm(), 32);
  EXPECT_THAT(gemm.block_limits(),
              ElementsAre(v1::KernelProfile::BLOCKS, v1::KernelProfile::SHARED_MEMORY,
                          v1::KernelProfile::BARRIERS));
  EXPECT_NEAR(gemm.waves(), 0.97, 1e-9);
  EXPECT_NEAR(gemm.theoretical_occupancy_percent(), 50, 1e-9);
  EXPECT_NEAR(gemm.achieved_occupancy_percent(), 35.44, 0.01);
  EXPECT_NEAR(gemm.sm_percent(), 58.53, 0.01);
  EXPECT_NEAR(gemm.dram_percent(), 0.685, 0.001);
  EXPECT_NEAR(gemm.tensor_percent(), 2.64, 0.01);
  EXPECT_NEAR(gemm.bank_conflicts(), 2'343'677, 1);
  EXPECT_NEAR(gemm.dram_read_bytes(), 4'201'088, 1);
  ASSERT_EQ(gemm.stalls_size(), 5);
  EXPECT_EQ(gemm.stalls(0).reason(), "long_scoreboard");
  EXPECT_EQ(profile->kernels(1).name(), "demo::rms_norm<8>");
  EXPECT_EQ(profile->kernels(1).block_limits_size(), 2);
  EXPECT_EQ(profile->kernels(2).name(), "demo::tiny");
  EXPECT_EQ(profile->kernels(2).cluster().x(), 2);
  // Recorded before the profiler requested these two.
  EXPECT_EQ(profile->note(),
            "not available here: smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio, "
            "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio");
}

TEST(ParseNcuCsv, ARecordingOfEveryMetricThereIs) {
  const auto profile = ParseNcuCsv(Recorded("h200_set_full.txt"));
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_EQ(profile->kernels_size(), 3);
  EXPECT_EQ(profile->kernels(1).load_bytes_per_sector(), 32);
  EXPECT_EQ(profile->kernels(0).load_bytes_per_sector(), 64);
  EXPECT_TRUE(profile->kernels(0).has_l2_hit_percent());
  EXPECT_EQ(profile->note(),
            "not available here: "
            "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio");
}

TEST(ParseNcuCsv, HowAProfiledProgramEndedIsNotSaid) {
  const auto profile = ParseNcuCsv(absl::StrCat(
      "==ERROR== The application returned an error code (18).\n", Recorded("h200_raw.txt")));
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->kernels_size(), 3);
  EXPECT_THAT(profile->note(), testing::Not(HasSubstr("18")));
}

TEST(ParseNcuCsv, OneUnknownMetricLeavesNothing) {
  const auto profile = ParseNcuCsv(Recorded("h200_missing_metric.txt"));
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->absence(), v1::Profile::FAILED);
  EXPECT_THAT(profile->note(), HasSubstr("Failed to find metric"));
}

TEST(ParseNcuCsv, LaunchesBecomeKernels) {
  const auto profile = ParseNcuCsv(kTwoKernels);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->absence(), v1::Profile::ABSENCE_UNSPECIFIED);
  ASSERT_EQ(profile->kernels_size(), 2);
  const v1::KernelProfile& decode = profile->kernels(0);
  EXPECT_EQ(decode.name(), "attention::decode<128, true>");
  EXPECT_EQ(decode.launches(), 2);
  EXPECT_NEAR(decode.share(), 0.8, 1e-9);
  EXPECT_NEAR(decode.duration_us(), 2.0, 1e-9);
  EXPECT_EQ(decode.grid().x(), 64);  // of the longest
  EXPECT_EQ(decode.block().x(), 256);
  EXPECT_EQ(decode.registers(), 96);
  EXPECT_EQ(decode.blocks_per_sm(), 4);
  EXPECT_THAT(decode.block_limits(),
              ElementsAre(v1::KernelProfile::REGISTERS, v1::KernelProfile::SHARED_MEMORY));
  EXPECT_NEAR(decode.sm_percent(), (3 * 40 + 80) / 4.0, 1e-9);
  EXPECT_NEAR(decode.dram_read_bytes(), 500'000, 1e-6);
  EXPECT_NEAR(decode.dram_bytes_per_second(), 750'000 / 2e-6, 1);
  ASSERT_GE(decode.stalls_size(), 1);
  EXPECT_EQ(decode.stalls(0).reason(), "long_scoreboard");
  EXPECT_NEAR(decode.stalls(0).share(), 0.7 * 0.75, 1e-9);
  const v1::KernelProfile& combine = profile->kernels(1);
  EXPECT_EQ(combine.name(), "combine<(int)4>");
  EXPECT_EQ(combine.blocks_per_sm(), 21);
  EXPECT_FALSE(combine.has_dram_written_bytes());
  EXPECT_EQ(combine.stalls_size(), 0);
  EXPECT_THAT(profile->note(), HasSubstr("not available here: "));
}

TEST(ParseNcuCsv, OneRowAMetricIsReadToo) {
  const std::string head =
      "\"0\",\"1\",\"p\",\"h\",\"copy\",\"1\",\"7\",\"(32, 1, 1)\",\"(8, 1, "
      "1)\",\"0\",\"9.0\",\"s\",";
  const auto profile = ParseNcuCsv(absl::StrCat(
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
      "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\","
      "\"Metric Value\"\n",
      head, "\"gpu__time_duration.sum\",\"usecond\",\"12.5\"\n", head,
      "\"dram__bytes_read.sum\",\"Mbyte\",\"2,000.00\"\n"));
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_EQ(profile->kernels_size(), 1);
  EXPECT_NEAR(profile->kernels(0).duration_us(), 12.5, 1e-9);
  EXPECT_NEAR(profile->kernels(0).dram_read_bytes(), 2e9, 1);
  EXPECT_EQ(profile->kernels(0).grid().x(), 8);
}

TEST(ParseNcuCsv, ComplaintsAreAProfileWithoutKernels) {
  auto profile = ParseNcuCsv(
      "==PROF== Connected to process 3\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
      "permission to access NVIDIA GPU Performance Counters on the target device 0.\n"
      "==WARNING== No kernels were profiled.\n");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->absence(), v1::Profile::NOT_PERMITTED);
  EXPECT_THAT(profile->note(), HasSubstr("does not have permission"));
  profile = ParseNcuCsv("==WARNING== No kernels were profiled.\n");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->absence(), v1::Profile::FAILED);
  profile = ParseNcuCsv(
      "==ERROR== Something failed.\n==ERROR== Profiling is not supported on this device\x01.\n");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->absence(), v1::Profile::NO_PROFILER);
  EXPECT_EQ(profile->note(), "Profiling is not supported on this device?.");
}

TEST(ParseNcuCsv, NeitherTableNorComplaintIsAnError) {
  EXPECT_EQ(ParseNcuCsv("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseNcuCsv("\"ID\",\"Kernel Name\"\n\"\",\"\"\n").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseNcuCsv(std::string(kMaxNcuOutputBytes + 1, ' ')).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ParseNcuCsv, HostileNamesAndNumbersAreHarmless) {
  std::string text =
      "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"launch__registers_per_thread\"\n";
  for (int i = 0; i < 100; ++i) {
    absl::StrAppend(&text, "\"", i, "\",\"k", i, "\n");
    absl::StrAppend(&text, "\"", i, "\",\"k", i, "\x1b[2J", std::string(5000, 'x'),
                    "\",\"-5\",\"1e300\"\n");
    absl::StrAppend(&text, "\"", i, "\",\"k", i, "\",\"nan\",\"inf\",\"too\",\"many\"\n");
  }
  const auto profile = ParseNcuCsv(text);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->kernels_size(), kMaxProfiledKernels);
  EXPECT_EQ(profile->other_kernels(), 100 - kMaxProfiledKernels);
  for (const v1::KernelProfile& kernel : profile->kernels()) {
    EXPECT_LE(kernel.name().size(), 200u);
    EXPECT_EQ(kernel.name().find('\x1b'), std::string::npos);
    EXPECT_FALSE(kernel.has_registers());
    EXPECT_EQ(kernel.duration_us(), 0);
  }
}

TEST(NcuArguments, AskForWhatIsRead) {
  const std::vector<std::string> arguments = NcuArguments({.skip = 3, .count = 5});
  const std::string line = absl::StrJoin(arguments, " ");
  EXPECT_THAT(line, HasSubstr("--csv --page raw --print-units base"));
  EXPECT_THAT(line, HasSubstr("--target-processes all --replay-mode kernel --clock-control none"));
  EXPECT_THAT(line, HasSubstr("--cache-control all --launch-skip 3 --launch-count 5 --metrics "));
  EXPECT_THAT(line, HasSubstr(",dram__bytes_read.sum,"));
  EXPECT_THAT(line, HasSubstr("stalled_long_scoreboard_per_issue_active.ratio"));
  EXPECT_THAT(line, HasSubstr(",smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio,"));
}

}  // namespace
}  // namespace ksearch
