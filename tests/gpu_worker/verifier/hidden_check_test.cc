// The programs that a confirmation's hidden cases find, and those that pass.
#include "gpu_worker/verifier/hidden_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "tests/fakes/plain_sandbox.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

// The odd place is drawn, so that a single confirmation may miss a program.
constexpr int kTries = 8;

// Tells the processes of candidates the how many-th they are.
class CountingSandbox final : public Sandbox {
 public:
  absl::StatusOr<std::unique_ptr<SandboxedProcess>> Launch(const SandboxSpec& spec) override {
    if (spec.memory_bytes == RunnerStarter::TrustedLimits().memory_bytes()) {
      return plain_.Launch(spec);
    }
    SandboxSpec counted = spec;
    counted.environment["KSEARCH_TEST_PROCESS"] = absl::StrCat(++processes_);
    return plain_.Launch(counted);
  }
  v1::IsolationLevel isolation() const override { return plain_.isolation(); }
  void Restart() { processes_ = 0; }

 private:
  PlainSandbox plain_;
  int processes_ = 0;
};

class HiddenCheckTest : public ::testing::Test {
 protected:
  HiddenCheckTest()
      : starter_(sandbox_, absl::StrCat(std::getenv("KSEARCH_BIN_DIR"), "/ksearch-runner"), {},
                 Clock::Real()),
        bench_(starter_, MemfdBufferSets::Create, Clock::Real(), Options()) {}

  v1::Verdict Verify(const v1::VerifierRequest& request) {
    JobVerifier verifier(bench_, [](const v1::VerifierReply::Progress&) {});
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    EXPECT_TRUE(verdict.ok()) << verdict.status();
    return verdict.ok() ? *std::move(verdict) : v1::Verdict();
  }

  // Without rivals nothing is timed.
  static v1::VerifierRequest Unrivaled(const std::string& candidate) {
    v1::VerifierRequest request = ConfirmRequest(candidate, "honest");
    request.mutable_job()->clear_rivals();
    request.clear_rivals();
    return request;
  }

  // Uses the task "integers" (bad_candidates/integers.h); `least` and `most` are those of its
  // recipes.
  static v1::VerifierRequest OfIntegers(const std::string& candidate, const std::string& reference,
                                        int64_t least = 0, int64_t most = 0) {
    v1::VerifierRequest request = Unrivaled(candidate);
    v1::Task& task = *request.mutable_task();
    for (auto* tensors : {task.mutable_definition()->mutable_inputs(),
                          task.mutable_definition()->mutable_outputs()}) {
      for (v1::TensorSpec& tensor : *tensors) tensor.set_dtype(v1::DTYPE_INT32);
    }
    for (v1::Workload& workload : *task.mutable_workloads()) {
      for (v1::InputRecipe& recipe : *workload.mutable_inputs()) {
        recipe.mutable_random()->Clear();
        recipe.mutable_random()->set_least(least);
        recipe.mutable_random()->set_most(most);
      }
    }
    task.mutable_tolerance()->Clear();
    task.mutable_tolerance()->set_atol(0.5);
    request.set_task_sha256(TaskDigest(task));
    *request.mutable_reference() = CandidateArtifact(reference);
    *request.mutable_baseline() = CandidateArtifact("honest_integers");
    return request;
  }

  // Uses "matmul" times a scalar: only the scalar gives hidden cases.
  static v1::VerifierRequest OfScaled() {
    v1::VerifierRequest request = ConfirmRequest("honest_scaled", "honest_scaled");
    v1::Task& task = *request.mutable_task();
    v1::TensorSpec* factor = task.mutable_definition()->add_inputs();
    factor->set_name("factor");
    factor->set_scalar(true);
    factor->set_dtype(v1::DTYPE_FLOAT32);
    for (v1::Workload& workload : *task.mutable_workloads()) {
      v1::InputRecipe* recipe = workload.add_inputs();
      recipe->set_input("factor");
      recipe->mutable_scalar()->set_float_value(1);
    }
    v1::HiddenSettings* hidden = task.mutable_hidden();
    for (const char* input : {"a", "b"}) hidden->add_keep(input);
    hidden->add_scalars()->set_input("factor");
    hidden->mutable_scalars(0)->add_values(7);
    request.set_task_sha256(TaskDigest(task));
    *request.mutable_reference() = *request.mutable_baseline() = request.candidate();
    return request;
  }

  void ExpectPassesAlone(v1::VerifierRequest check) {
    check.mutable_job()->set_kind(v1::JOB_KIND_CHECK);
    const v1::Verdict checked = Verify(check);
    EXPECT_EQ(checked.outcome(), v1::OUTCOME_PASSED) << checked.message();
  }

  // By every confirmation.
  void ExpectFoundAlways(const v1::VerifierRequest& request) {
    ExpectPassesAlone(request);
    for (int tries = 0; tries < kTries; ++tries) {
      const v1::Verdict verdict = Verify(request);
      EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
      EXPECT_THAT(verdict.message(), HasSubstr("hidden case '"));
    }
  }

  void ExpectFoundAmongTimedCalls(const std::string& candidate) {
    for (int tries = 0; tries < kTries; ++tries) {
      sandbox_.Restart();
      const v1::Verdict verdict = Verify(ConfirmRequest(candidate, "honest"));
      if (verdict.outcome() == v1::OUTCOME_PASSED) continue;
      EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
      EXPECT_THAT(verdict.message(), HasSubstr("', among timed calls: "));
      return;
    }
    FAIL() << kTries << " confirmations did not notice";
  }

  void ExpectFound(const v1::VerifierRequest& request) {
    ExpectPassesAlone(request);
    for (int tries = 0; tries < kTries; ++tries) {
      const v1::Verdict verdict = Verify(request);
      if (verdict.outcome() == v1::OUTCOME_PASSED) continue;
      EXPECT_EQ(verdict.outcome(), v1::OUTCOME_INCORRECT) << verdict.message();
      EXPECT_THAT(verdict.message(), HasSubstr("hidden case '"));
      return;
    }
    FAIL() << kTries << " confirmations did not notice";
  }

  void ExpectPasses(const v1::VerifierRequest& request) {
    for (int tries = 0; tries < kTries; ++tries) {
      const v1::Verdict verdict = Verify(request);
      ASSERT_EQ(v1::Outcome_Name(verdict.outcome()), "OUTCOME_PASSED") << verdict.message();
    }
  }

  static Bench::Options Options() {
    Bench::Options options;
    options.last_level_cache_bytes = 256 << 10;
    return options;
  }

  CountingSandbox sandbox_;

 private:
  RunnerStarter starter_;
  Bench bench_;
};

TEST_F(HiddenCheckTest, AShortcutThatASampleDecidesOnIsNotConfirmed) {
  ExpectFound(Unrivaled("sampled_inputs"));
}

TEST_F(HiddenCheckTest, ARowFarBelowZeroIsNoPadding) {
  ExpectFoundAlways(Unrivaled("skips_low_rows"));
}

TEST_F(HiddenCheckTest, ProductsOfTwoInputsCanBeFarBelowZero) {
  ExpectFoundAlways(Unrivaled("no_low_products"));
}

// Which workloads have all cases is drawn, but the others have some, too.
TEST_F(HiddenCheckTest, AShapeDoesNotTellThatInputsAreAsUsual) {
  ExpectFoundAlways(Unrivaled("clamped_on_one_shape"));
}

TEST_F(HiddenCheckTest, AnOffsetIsNotToBeReliedOn) {
  for (const char* candidate : {"assumes_offset", "assumes_near_offset", "honest"}) {
    v1::VerifierRequest request = Unrivaled(candidate);
    v1::Task& task = *request.mutable_task();
    for (v1::Workload& workload : *task.mutable_workloads()) {
      workload.mutable_inputs(1)->mutable_random()->set_offset(100);
    }
    request.set_task_sha256(TaskDigest(task));
    if (candidate == std::string("honest")) {
      ExpectPasses(request);
    } else {
      ExpectFoundAlways(request);
    }
  }
}

// In the process of the gate and in that of the hidden cases it behaves, and knows those by what
// other processes left behind.
TEST_F(HiddenCheckTest, TimedProcessesMeetHiddenInputsToo) {
  ExpectFoundAmongTimedCalls("careful_in_few");
}

// It also behaves after it had the turn for as long as a block takes.
TEST_F(HiddenCheckTest, APauseDoesNotTellThatInputsAreAsUsual) {
  ExpectFoundAmongTimedCalls("careful_after_blocks");
}

// A process that is timed has mapped the usual scalar and cannot be given another one.
TEST_F(HiddenCheckTest, TimedProcessesKeepTheirScalars) {
  const v1::Verdict verdict = Verify(OfScaled());
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.comparisons_size(), 1);
}

TEST_F(HiddenCheckTest, HonestProgramsStandOddPlaces) {
  for (const char* name : {"honest", "honest_threads"}) ExpectPasses(Unrivaled(name));
}

TEST_F(HiddenCheckTest, IntegersThatNobodyLimitedMayBeLarge) {
  ExpectFound(OfIntegers("packed_integers", "integers_reference"));
  ExpectFound(OfIntegers("packed_if_sampled", "integers_reference"));
  ExpectPasses(OfIntegers("honest_integers", "integers_reference"));
}

TEST_F(HiddenCheckTest, ADeclaredRangeHolds) {
  ExpectPasses(OfIntegers("packed_integers", "integers_reference", -16'000, 16'000));
}

// Nothing says so, but to its reference some integers mean places.
TEST_F(HiddenCheckTest, IntegersThatAReferenceLooksUpStaySmall) {
  ExpectPasses(OfIntegers("looked_up_integers", "looked_up_integers"));
  ExpectPasses(OfIntegers("honest_integers", "looked_up_integers"));
}

}  // namespace
}  // namespace ksearch
