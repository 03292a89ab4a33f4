#include "gpu_worker/verifier/timing/checked_suite_time.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/output_judge.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"
#include "gpu_worker/verifier/timing/suite_time.h"

namespace ksearch {
namespace {

using Kept = std::vector<WorkloadSession::Suspect>;

// Outputs that are kept at one time, and with them the answers that they are compared with.
constexpr int64_t kMostKeptBytes = int64_t{512} << 20;

absl::StatusOr<Ending> JudgeKept(const WorkloadCase& workload, const Kept& kept,
                                 const AnswerVariants& answer, v1::SuiteVerdict* verdict) {
  std::vector<int64_t> variants;
  for (const WorkloadSession::Suspect& call : kept) variants.push_back(call.variant);
  ASSIGN_OR_RETURN(const OracleEntries answers, answer(variants));
  for (const WorkloadSession::Suspect& call : kept) {
    const SavedOutputs& expected = *answers.at(call.variant)->outputs;
    OutputComparison own;
    std::string fault;
    if (workload.judge() != nullptr) {
      own = workload.judge()->Judge(workload, call.variant, *call.outputs, expected);
      fault = own.right ? "" : own.message;
    } else {
      const std::vector<TensorComparison> compared = call.outputs->CompareWith(workload, expected);
      own = JudgeOutputs(workload, compared);
      fault = FaultBySuite(workload, compared);
    }
    AddTrial(fault, verdict);
    if (!own.right) {
      return Ending{
          v1::OUTCOME_INCORRECT,
          absl::StrCat("in a timed call, on inputs that no call before had: ", own.message)};
    }
  }
  return Ending();
}

}  // namespace

absl::StatusOr<Ending> TimeCheckedAsSuite(WorkloadSession& session, const v1::SuiteClock& clock,
                                          const WorkloadSession::Limits& limits,
                                          const AnswerVariants& answer, v1::SuiteTime* time,
                                          v1::SuiteVerdict* verdict) {
  time->Clear();
  v1::SuiteClock ends = clock;
  ends.set_calls(clock.checked().calls());
  *ends.mutable_most_time() = clock.checked().most_time();
  const auto most = static_cast<size_t>(std::max(1, ends.calls()));
  const v1::BatchRequest::Preparation preparation = PreparationOf(clock, /*sets=*/1);
  session.FillForSuite();
  WorkloadSession::SuiteCalls warm =
      session.RunForSuite(std::max(1, clock.warm_up_calls()), preparation, limits);
  if (!warm.ending.passed()) return std::move(warm.ending);

  const int not_right_before = verdict->trials() - verdict->passed();
  std::vector<double> calls_us;
  for (bool ended = false; !ended;) {
    Kept kept;
    int64_t bytes = 0;
    while (!ended && bytes < kMostKeptBytes) {
      WorkloadSession::KeptCall call = session.RunOnceForSuite(preparation, limits);
      if (!call.ending.passed()) return std::move(call.ending);
      // Judging those that are kept makes room.
      if (!call.kept.has_value()) break;
      bytes += call.kept->outputs->bytes();
      kept.push_back(*std::move(call.kept));
      calls_us.push_back(call.us);
      ended = calls_us.size() >= most || CallsThatCount(calls_us, ends) > 0;
    }
    if (kept.empty()) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory to keep the outputs of a call on workload ", session.workload().uuid()));
    }
    ASSIGN_OR_RETURN(Ending judged, JudgeKept(session.workload(), kept, answer, verdict));
    if (!judged.passed()) return judged;
  }
  if (verdict->trials() - verdict->passed() > not_right_before) return Ending();
  *time = TimeOfCalls(calls_us);
  time->set_checked(time->calls());
  return Ending();
}

}  // namespace ksearch
