// The instruments around real runners, with scripts in place of NVIDIA's programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/instruments/candidate_profile.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/instruments/second_witness.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Parses options as NVIDIA's programs do, runs the rest, and then lets `report` write to "$log".
std::string Script(const std::string& report) {
  return absl::StrCat(
      "#!/bin/sh\n"
      "tool=\n"
      "while [ \"${1#--}\" != \"$1\" ]; do\n"
      "  case $1 in\n"
      "    --tool) tool=$2 ;; --log-file) log=$2 ;; --metrics) metrics=$2 ;;\n"
      "    --csv | --version) shift; continue ;;\n"
      "  esac\n"
      "  shift 2\n"
      "done\n"
      "[ $# = 0 ] || \"$@\"\n",
      report);
}

class InstrumentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/ksearch_instruments_XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Instrument Fake(const std::string& name, const std::string& report) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << Script(report);
    ::chmod(path.c_str(), 0755);
    return {path, {}};
  }

  v1::Verdict Verify(Bench::Options options, const v1::VerifierRequest& request) {
    options.last_level_cache_bytes = 256 << 10;
    PlainSandbox sandbox;
    RunnerStarter starter(sandbox, std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-runner",
                          {}, Clock::Real());
    Bench bench(starter, MemfdBufferSets::Create, Clock::Real(), std::move(options));
    JobVerifier verifier(bench, [](const v1::VerifierReply::Progress&) {});
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : v1::Verdict();
  }
  v1::Verdict Confirm(const std::string& report) {
    Bench::Options options;
    options.sanitizer = Fake("compute-sanitizer", report);
    return Verify(std::move(options), ConfirmRequest("honest", "honest"));
  }
  // Confirms an honest program in which racecheck reports a race, with another program in place of
  // its delayed build.
  v1::Verdict ConfirmAccused(const std::string& delayed, const std::string& source = "") {
    Bench::Options options;
    options.sanitizer = Fake(
        "compute-sanitizer",
        "echo '========= COMPUTE-SANITIZER' > $log\n"
        "[ $tool = racecheck ] && echo '========= Error: Race reported between Write access at "
        "k(int)+0x10' >> $log\n"
        "echo '========= ERROR SUMMARY: 1 error' >> $log\n");
    v1::VerifierRequest request = ConfirmRequest("honest", "honest");
    if (delayed.empty()) {
      request.set_delayed_absence("it could not be built with delays: a reason");
    } else {
      *request.mutable_delayed() = CandidateArtifact(delayed);
    }
    request.mutable_job()->mutable_candidate()->add_files()->set_content(source);
    return Verify(std::move(options), request);
  }
  v1::Profile Profile(const std::string& report) {
    Bench::Options options;
    options.profiler = Fake("ncu", report);
    v1::VerifierRequest request = ScreenRequest("honest");
    request.mutable_job()->set_kind(v1::JOB_KIND_PROFILE);
    const v1::Verdict verdict = Verify(std::move(options), request);
    EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
    return verdict.profile();
  }

  std::string folder_;
};

TEST_F(InstrumentsTest, AreFoundBesideTheCompiler) {
  std::filesystem::create_directories(folder_ + "/toolkit/bin");
  std::ofstream(folder_ + "/toolkit/bin/nvcc") << "";
  const std::string tool = folder_ + "/toolkit/bin/such-a-tool";
  std::ofstream(tool) << "";
  ::chmod(tool.c_str(), 0755);
  std::filesystem::create_symlink(folder_ + "/toolkit", folder_ + "/link");
  const auto found = FindInstrument("such-a-tool", folder_ + "/link/bin/nvcc");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->path, std::filesystem::canonical(tool));
  // The toolkit is under /tmp, which a sandbox replaces with its own.
  EXPECT_THAT(found->folders, Contains(std::filesystem::canonical(folder_ + "/toolkit").string()));
}

TEST_F(InstrumentsTest, TheirAbsenceIsExplained) {
  const auto found = FindInstrument("such-a-tool", folder_ + "/bin/nvcc", folder_ + "/usual");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("no such-a-tool"), HasSubstr(folder_ + "/usual/such-a-tool"),
                    HasSubstr("CUDA toolkit")));
}

TEST_F(InstrumentsTest, CommandsNameTheReport) {
  const Instrument tool = {"/opt/cuda/bin/compute-sanitizer", {"/opt/cuda"}};
  const InstrumentCommand sanitizer = SanitizerCommand(tool, "racecheck");
  EXPECT_THAT(sanitizer.folders, ElementsAre("/opt/cuda"));
  EXPECT_EQ(sanitizer.words[0], tool.path);
  EXPECT_THAT(sanitizer.words, Contains("racecheck"));
  EXPECT_THAT(sanitizer.words, Contains("/proc/self/fd/4"));
  EXPECT_THAT(
      ProfilerCommand(tool).words,
      AllOf(Contains("--csv"), Contains("--profile-from-start"), Contains("/proc/self/fd/4")));
}

TEST_F(InstrumentsTest, ACleanProgramIsConfirmed) {
  const v1::Verdict verdict = Confirm(
      "echo '========= COMPUTE-SANITIZER' > $log\n"
      "[ $tool = racecheck ] && echo '========= Warning: Race reported between Write access at "
      "k(int)+0x10' >> $log\n"
      "echo '========= ERROR SUMMARY: 0 errors' >> $log\n");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.comparisons(), SizeIs(1));
  EXPECT_THAT(verdict.sanitizer().tools(), ElementsAre("memcheck", "racecheck", "synccheck"));
  EXPECT_THAT(verdict.sanitizer().note(), IsEmpty());
  ASSERT_THAT(verdict.sanitizer().findings(), SizeIs(1));
  EXPECT_TRUE(verdict.sanitizer().findings(0).warning());
}

TEST_F(InstrumentsTest, AnErrorEndsTheConfirmation) {
  const v1::Verdict verdict = Confirm(
      "echo '========= Invalid __global__ read of size 16 bytes' > $log\n"
      "echo '=========     at ns::peek(const float *)+0x70' >> $log\n"
      "echo '=========     by thread (0,0,0) in block (0,0,0)' >> $log\n"
      "echo '========= ERROR SUMMARY: 1 error' >> $log\n");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_OUT_OF_BOUNDS);
  EXPECT_THAT(verdict.message(),
              HasSubstr("compute-sanitizer memcheck: Invalid __global__ read of size 16 bytes; at "
                        "ns::peek(const float *)+0x70"));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
  EXPECT_THAT(verdict.sanitizer().tools(), ElementsAre("memcheck"));
  EXPECT_EQ(verdict.sanitizer().findings(0).kernel(), "ns::peek");
}

TEST_F(InstrumentsTest, ARaceThatNobodySeesAtWorkIsALabel) {
  const v1::Verdict verdict = ConfirmAccused("honest");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.comparisons(), SizeIs(1));
  EXPECT_THAT(verdict.suspicions(), IsEmpty());
  // A finding of one tool does not keep the next from running.
  EXPECT_THAT(verdict.sanitizer().tools(), ElementsAre("memcheck", "racecheck", "synccheck"));
  ASSERT_THAT(verdict.sanitizer().findings(), SizeIs(1));
  EXPECT_FALSE(verdict.sanitizer().findings(0).warning());
  const v1::DelayedRuns& runs = verdict.sanitizer().delayed_runs();
  EXPECT_EQ(runs.label(), "race_reported");
  EXPECT_EQ(runs.calls(), 12);
  EXPECT_EQ(runs.workloads(), 2);
  EXPECT_EQ(runs.wrong(), 0);
  EXPECT_EQ(runs.different(), 0);
  EXPECT_THAT(runs.note(), IsEmpty());
}

TEST_F(InstrumentsTest, ARaceThatASecondWitnessSeesIsIncorrect) {
  const v1::Verdict verdict = ConfirmAccused("wrong_numbers");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.message(),
              AllOf(HasSubstr("compute-sanitizer racecheck: Error: Race reported"),
                    HasSubstr("second witness: with random delays at its barriers, of 12 calls 12 "
                              "were wrong"),
                    HasSubstr("the first: output 'c'")));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
  EXPECT_THAT(verdict.sanitizer().delayed_runs().label(), IsEmpty());
}

TEST_F(InstrumentsTest, AConfirmationAsksTheSecondWitnessThoughNoToolAccuses) {
  Bench::Options options;
  options.sanitizer = Fake("compute-sanitizer",
                           "echo '========= COMPUTE-SANITIZER' > $log\n"
                           "echo '========= ERROR SUMMARY: 0 errors' >> $log\n");
  v1::VerifierRequest request = ConfirmRequest("honest", "honest");
  *request.mutable_delayed() = CandidateArtifact("wrong_numbers");
  v1::Verdict verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.message(), HasSubstr("with random delays at its barriers, of 12 calls 12 "
                                           "were wrong"));
  EXPECT_EQ(verdict.sanitizer().delayed_runs().wrong(), 12);
  // Wrong outputs also count without delays.
  v1::VerifierRequest forgetful = ConfirmRequest("wrong_when_alternating", "honest");
  *forgetful.mutable_delayed() = CandidateArtifact("honest");
  verdict = Verify(options, forgetful);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.message(), HasSubstr("without delays"));
  // Varying last bits prove nothing without a tool's finding.
  *request.mutable_delayed() = CandidateArtifact("last_bits_vary");
  verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().different(), 8);
  EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "delays_matter");
  *request.mutable_delayed() = CandidateArtifact("honest");
  verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().calls(), 12);
  EXPECT_THAT(verdict.sanitizer().delayed_runs().label(), IsEmpty());
}

TEST_F(InstrumentsTest, AnExaminationRunsTheCheapToolsOnTheBuildWithLines) {
  Bench::Options options;
  options.sanitizer =
      Fake("compute-sanitizer",
           "echo '========= COMPUTE-SANITIZER' > $log\n"
           "[ $tool = racecheck ] && echo '========= Error: Race reported between Write access at "
           "k(int)+0x10 in kernel.cu:42' >> $log\n"
           "echo '========= ERROR SUMMARY: 1 error' >> $log\n");
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_EXAMINE);
  *request.mutable_delayed() = CandidateArtifact("wrong_numbers");
  *request.mutable_lined() = CandidateArtifact("honest_workspace");
  v1::Verdict verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.sanitizer().tools(), ElementsAre("memcheck", "racecheck"));
  ASSERT_THAT(verdict.sanitizer().findings(), SizeIs(1));
  EXPECT_EQ(verdict.sanitizer().findings(0).kernel(), "k");
  EXPECT_EQ(verdict.sanitizer().findings(0).file(), "kernel.cu");
  EXPECT_EQ(verdict.sanitizer().findings(0).line(), 42);
  EXPECT_THAT(verdict.message(), HasSubstr("second witness: with random delays"));
  EXPECT_FALSE(verdict.workloads(0).has_candidate());
  // A tool's finding alone refuses nothing.
  *request.mutable_delayed() = CandidateArtifact("honest");
  verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "race_reported");
  // The tools use the build with line information, which crashes here; the candidate does not.
  *request.mutable_lined() = CandidateArtifact("crash");
  options.sanitizer = Fake("compute-sanitizer", "exit 0\n");
  verdict = Verify(options, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.sanitizer().tools(), IsEmpty());
  EXPECT_THAT(verdict.sanitizer().note(), HasSubstr("memcheck: "));
  EXPECT_TRUE(verdict.sanitizer().has_time());
}

TEST_F(InstrumentsTest, LastBitsThatVaryAreARaceUnlessSumsHaveNoOrder) {
  v1::Verdict verdict = ConfirmAccused("last_bits_vary", "plain sums");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.message(), HasSubstr("0 were wrong and 8 differed from others"));
  verdict = ConfirmAccused("last_bits_vary", "atomicAdd(&sum, x);");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().different(), 8);
  EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "race_reported");
  EXPECT_THAT(verdict.sanitizer().delayed_runs().note(), HasSubstr("mentions atomics"));
}

TEST(MentionsAtomicsTest, KnowsThemInCppAndPtx) {
  const auto mentions = [](const std::string& text) {
    v1::Sources sources;
    sources.add_files()->set_content("nothing");
    sources.add_files()->set_content(text);
    return MentionsAtomics(sources);
  };
  EXPECT_TRUE(mentions("atomicAdd(p, x);"));
  EXPECT_TRUE(mentions("asm(\"red.global.add.f32 [%0], %1;\")"));
  EXPECT_TRUE(mentions("asm(\"cp.reduce.async.bulk.global\")"));
  EXPECT_FALSE(mentions("asm(\"ld.shared.f32 %0, [%1];\"); x = warp_reduce(y);"));
}

TEST(MentionsTrapsTest, KnowsThemFromOtherWords) {
  const auto mentions = [](const std::string& text) {
    v1::Sources sources;
    sources.add_files()->set_content(text);
    return MentionsTraps(sources);
  };
  EXPECT_TRUE(mentions("if (waited > limit) __trap();"));
  EXPECT_TRUE(mentions("asm(\"trap;\")"));
  EXPECT_TRUE(mentions("  assert(row < m);"));
  EXPECT_FALSE(mentions("static_assert(kWarps == 8); // no bootstrap; my_abort(x)"));
}

TEST_F(InstrumentsTest, ACrashUnderDelaysThatComesAgainIsIncorrect) {
  const v1::Verdict verdict = ConfirmAccused("crash");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT);
  EXPECT_THAT(verdict.message(),
              AllOf(HasSubstr("compute-sanitizer racecheck: Error: Race reported"),
                    HasSubstr("crashed in two of two processes, without delays in none: "),
                    HasSubstr("SIGSEGV")));
  EXPECT_THAT(verdict.comparisons(), IsEmpty());
  // Two on each of two workloads.
  EXPECT_EQ(verdict.sanitizer().delayed_runs().crashed(), 4);
  EXPECT_THAT(verdict.sanitizer().delayed_runs().label(), IsEmpty());
}

TEST_F(InstrumentsTest, ACrashOfAProgramThatMayGiveUpIsALabel) {
  const v1::Verdict verdict = ConfirmAccused("crash", "if (waited > limit) __trap();");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  const v1::DelayedRuns& runs = verdict.sanitizer().delayed_runs();
  EXPECT_EQ(runs.crashed(), 2);
  EXPECT_EQ(runs.label(), "race_reported");
  EXPECT_THAT(runs.note(), AllOf(HasSubstr("SIGSEGV"), HasSubstr("may give up by itself")));
}

TEST_F(InstrumentsTest, ASecondWitnessThatFailsSaysNothing) {
  v1::Verdict verdict = ConfirmAccused("nonzero_return");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().calls(), 0);
  EXPECT_EQ(verdict.sanitizer().delayed_runs().crashed(), 0);
  EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "race_reported");
  EXPECT_THAT(verdict.sanitizer().delayed_runs().note(),
              AllOf(HasSubstr("workload small, with delays: "), HasSubstr("RUNTIME_ERROR")));
  verdict = ConfirmAccused("");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.sanitizer().delayed_runs().label(), "race_reported");
  EXPECT_EQ(verdict.sanitizer().delayed_runs().note(),
            "it could not be built with delays: a reason");
}

TEST_F(InstrumentsTest, AToolThatFailsSaysNothingAboutTheProgram) {
  const v1::Verdict verdict =
      Confirm("echo '========= Error: Device not supported. See the documentation' > $log\n");
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.comparisons(), SizeIs(1));
  EXPECT_THAT(verdict.sanitizer().tools(), IsEmpty());
  EXPECT_THAT(verdict.sanitizer().note(),
              AllOf(HasSubstr("not checked by compute-sanitizer"), HasSubstr("memcheck: "),
                    HasSubstr("Device not supported")));
}

TEST_F(InstrumentsTest, AToolThatDoesNotStartTheRunner) {
  Bench::Options options;
  const std::string path = folder_ + "/compute-sanitizer";
  std::ofstream(path) << "#!/bin/sh\nexit 3\n";
  ::chmod(path.c_str(), 0755);
  options.sanitizer = Instrument{path, {}};
  const v1::Verdict verdict = Verify(std::move(options), ConfirmRequest("honest", "honest"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.sanitizer().note(), HasSubstr("the runner did not start"));
}

TEST_F(InstrumentsTest, WithoutAProfilerThereIsANote) {
  v1::VerifierRequest request = ScreenRequest("honest");
  request.mutable_job()->set_kind(v1::JOB_KIND_PROFILE);
  const v1::Verdict verdict = Verify({}, request);
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(verdict.profile().absence(), v1::Profile::NO_PROFILER);
}

TEST_F(InstrumentsTest, AProfile) {
  const v1::Profile profile = Profile(
      "[ -n \"$log\" ] || { echo 'Version 2025.3.1.0 (build 1)'; exit 0; }\n"
      "echo '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"' > $log\n"
      "echo '\"\",\"\",\"ns\"' >> $log\n"
      "echo '\"0\",\"_Z6kernelPf\",\"2500\"' >> $log\n");
  EXPECT_EQ(profile.absence(), v1::Profile::ABSENCE_UNSPECIFIED) << profile.note();
  ASSERT_THAT(profile.kernels(), SizeIs(1));
  EXPECT_EQ(profile.kernels(0).name(), "kernel");
  EXPECT_DOUBLE_EQ(profile.kernels(0).duration_us(), 2.5);
  EXPECT_EQ(profile.tool(), "ncu 2025.3.1.0");
  EXPECT_EQ(profile.workload_uuid(), "medium");
}

TEST_F(InstrumentsTest, AMetricThatTheProfilerDoesNotKnowIsLeftOut) {
  const v1::Profile profile = Profile(
      "[ -n \"$log\" ] || exit 0\n"
      "for name in sm__throughput lts__throughput; do\n"
      "  case $metrics in *$name.*)\n"
      "    echo \"Failed to find metric regex:^$name-and-more\" > $log; exit 9 ;;\n"
      "  esac\n"
      "done\n"
      "echo '\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"' > $log\n"
      "echo '\"\",\"\",\"ns\"' >> $log\n"
      "echo '\"0\",\"_Z6kernelPf\",\"2500\"' >> $log\n");
  EXPECT_EQ(profile.absence(), v1::Profile::ABSENCE_UNSPECIFIED) << profile.note();
  EXPECT_THAT(profile.kernels(), SizeIs(1));
}

TEST_F(InstrumentsTest, AProfilerWithoutPermission) {
  const v1::Profile profile = Profile(
      "[ -z \"$log\" ] || echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to "
      "access NVIDIA GPU Performance Counters on the target device 0.' > $log\n");
  EXPECT_EQ(profile.absence(), v1::Profile::NOT_PERMITTED);
  EXPECT_THAT(profile.note(), HasSubstr("permission"));
}

TEST_F(InstrumentsTest, AProfilerThatSaysNothing) {
  const v1::Profile profile = Profile("exit 7\n");
  EXPECT_EQ(profile.absence(), v1::Profile::FAILED);
  EXPECT_THAT(profile.note(), HasSubstr("the profiler gave nothing"));
}

}  // namespace
}  // namespace ksearch
