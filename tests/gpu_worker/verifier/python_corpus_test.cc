// Runs every program of tests/bad_candidates/python in the real sandbox with the real interpreter.
// Each must end as python_corpus.cc says, and the verifier must afterwards still judge an honest
// program correctly.
//
// All of them:  KSEARCH_PYTHON_CORPUS=all gpu_worker_verifier_python_corpus_test
// One of them:  KSEARCH_PYTHON_CORPUS=all gpu_worker_verifier_python_corpus_test
//               --gtest_filter=*/forged_clock
#include "tests/gpu_worker/verifier/python_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/textproto.h"
#include "tests/common/python_with_torch.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"
#include "tests/gpu_worker/verifier/python_programs.h"

namespace ksearch {

void PrintTo(const PythonCheat& cheat, std::ostream* out) { *out << cheat.name; }
void PrintTo(const PythonTwin& twin, std::ostream* out) { *out << twin.name; }

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Measure = PythonCheat::Measure;

constexpr int64_t kMaxFileBytes = int64_t{1} << 20;
// The text before the inputs in what programs print or raise to leak them.
constexpr char kTold[] = "told:";

bool WantsAll() {
  const char* wanted = std::getenv("KSEARCH_PYTHON_CORPUS");
  return wanted != nullptr && std::string(wanted) == "all";
}

template <typename Case>
std::vector<Case> Wanted(const std::vector<Case>& cases) {
  std::vector<Case> wanted;
  for (const Case& one : cases) {
    if (one.always || WantsAll()) wanted.push_back(one);
  }
  return wanted;
}

std::string TextOf(const std::string& name) {
  const auto text = ReadFile(absl::StrCat(ScratchFolder(), "/bad_candidates/python/", name, ".py"),
                             kMaxFileBytes);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

// One verifier for all programs, as in a worker.
class PythonCorpusTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (HasTorch() && programs_ == nullptr) programs_ = new PythonPrograms();
  }
  void SetUp() override {
    if (!HasTorch()) GTEST_SKIP() << kPython << " has no torch";
  }
  static PythonPrograms& programs() { return *programs_; }

  static v1::VerifierRequest RequestFor(const PythonCheat& cheat) {
    const std::string text = TextOf(cheat.name);
    if (cheat.measure == Measure::kConfirm) {
      return programs().Confirmation(text, programs().Program(TextOf("honest_out")));
    }
    v1::VerifierRequest request = programs().Request(
        cheat.measure == Measure::kCheck ? v1::JOB_KIND_CHECK : v1::JOB_KIND_SCREEN, text);
    v1::JobSpec& job = *request.mutable_job();
    if (cheat.measure == Measure::kScreenLarge) {
      job.clear_workload_uuids();
      job.add_workload_uuids("large");
    }
    *job.mutable_limits()->mutable_total_time() = ToProto(absl::Minutes(1));
    job.mutable_limits()->set_memory_bytes(int64_t{1} << 30);
    return request;
  }

  // Uses Python only if there is time, because an interpreter takes seconds to start.
  static v1::VerifierRequest HonestRequest() {
    v1::VerifierRequest request = programs().Request(v1::JOB_KIND_CHECK, TextOf("honest_out"));
    if (!WantsAll()) *request.mutable_candidate() = CandidateArtifact("honest");
    return request;
  }

 private:
  static PythonPrograms* programs_;
};

PythonPrograms* PythonCorpusTest::programs_ = nullptr;

class PythonCheatTest : public PythonCorpusTest,
                        public ::testing::WithParamInterface<PythonCheat> {};

TEST_P(PythonCheatTest, EndsInItsOutcomeAndHarmsNobody) {
  const PythonCheat& cheat = GetParam();
  const v1::Verdict verdict = programs().Verify(RequestFor(cheat));
  std::vector<std::string> names;
  for (const v1::Outcome outcome : cheat.outcomes) names.push_back(v1::Outcome_Name(outcome));
  EXPECT_THAT(names, ::testing::Contains(v1::Outcome_Name(verdict.outcome()))) << verdict.message();
  EXPECT_THAT(verdict.message(), HasSubstr(cheat.message));
  EXPECT_THAT(verdict.message(), Not(HasSubstr(kTold)));
  EXPECT_THAT(verdict.stderr_excerpt(), Not(HasSubstr(kTold)));
  EXPECT_TRUE(verdict.isolation().tight_seccomp());
  for (const v1::Comparison& comparison : verdict.comparisons()) {
    EXPECT_NE(comparison.verdict(), v1::Comparison::IMPROVED) << comparison.DebugString();
  }
  EXPECT_TRUE(verdict.outcome() != v1::OUTCOME_PASSED || cheat.measure == Measure::kConfirm)
      << "whoever passes is confirmed here";
  const v1::Verdict after = programs().Verify(HonestRequest());
  EXPECT_EQ(after.outcome(), v1::OUTCOME_PASSED) << after.message();
}

INSTANTIATE_TEST_SUITE_P(All, PythonCheatTest, ::testing::ValuesIn(Wanted(PythonCheats())),
                         [](const auto& test) { return test.param.name; });

class HonestPythonProgramTest : public PythonCorpusTest,
                                public ::testing::WithParamInterface<PythonTwin> {};

TEST_P(HonestPythonProgramTest, Passes) {
  const v1::Verdict verdict =
      programs().Verify(programs().Request(v1::JOB_KIND_SCREEN, TextOf(GetParam().name)));
  EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), v1::Outcome_Name(v1::OUTCOME_PASSED))
      << verdict.message();
  EXPECT_THAT(verdict.suspicions(), IsEmpty());
  EXPECT_GT(verdict.workloads(0).candidate().median_us(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, HonestPythonProgramTest,
                         ::testing::ValuesIn(Wanted(HonestPythonPrograms())),
                         [](const auto& test) { return test.param.name; });

// Most of these programs' calls have nothing left to do, or claim so.
TEST_F(PythonCorpusTest, WorkOfManyCallsInOneIsScreenedNoFaster) {
  const auto screen = [](const std::string& name) {
    v1::VerifierRequest request = programs().Request(v1::JOB_KIND_SCREEN, TextOf(name));
    request.mutable_job()->clear_workload_uuids();
    request.mutable_job()->add_workload_uuids("medium");
    return programs().Verify(request);
  };
  const v1::Verdict honest = screen("honest_out");
  ASSERT_EQ(honest.outcome(), v1::OUTCOME_PASSED) << honest.message();
  for (const char* name : {"computes_ahead", "uneven_times"}) {
    const v1::Verdict verdict = screen(name);
    // The verifier may have detected the work done ahead.
    if (verdict.outcome() == v1::OUTCOME_CHEAT) continue;
    ASSERT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << name << ": " << verdict.message();
    EXPECT_GT(verdict.workloads(0).candidate().median_us(),
              honest.workloads(0).candidate().median_us() / 2)
        << name;
  }
}

TEST(PythonCorpus, EveryFileHasARow) {
  std::set<std::string> files, rows;
  for (const auto& file :
       std::filesystem::directory_iterator(ScratchFolder() + "/bad_candidates/python")) {
    files.insert(file.path().stem().string());
  }
  for (const PythonCheat& cheat : PythonCheats()) rows.insert(cheat.name);
  for (const PythonTwin& twin : HonestPythonPrograms()) rows.insert(twin.name);
  EXPECT_EQ(files, rows);
}

}  // namespace
}  // namespace ksearch
