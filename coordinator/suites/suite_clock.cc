#include "coordinator/suites/suite_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

// What the suite's clock shows is what the program's process reports, and nothing checks that. A
// time so far below that of ksearch's own clock is kept answers, or a false report.
constexpr double kBelievedShare = 0.25;
constexpr int64_t kMebibyte = int64_t{1} << 20;

struct Row {
  Evaluator evaluator;
  absl::string_view name;
  int warm_up_calls;
  int calls;
  int variants;
  double relative_error;
  int most_seconds;
  int64_t flush_bytes;
  bool copies_inputs;
  bool waits;
  // Calls in the mode that checks what it times; 0: there is no such mode.
  int checked_calls = 0;
  int most_checked_seconds = 0;
};

// flashinfer-bench 0.1.2: bench/timing.py (do_bench: 256 MiB are zeroed, the arguments cloned, the
// device awaited before the first event; mean) and bench/config.py (10, 50 and 3).
// GPU MODE: _run_single_benchmark of reference-kernels' eval.py files: a call that is checked
// first, then at most 100, until the standard error is below 0.1 % or 10 s are over; the newer ones
// write 256 MiB before each (utils.py); in mode leaderboard 30 s. KernelBench:
// time_execution_with_cuda_event of src/kernelbench/timing.py: 3 calls first, one more that is
// discarded, 256 MiB written before each of the 100 that scripts ask for.
constexpr Row kRows[] = {
    {Evaluator::kFlashInferBench, "flashinfer-bench 0.1.2", 10, 50, 3, 0, 0, 256 * kMebibyte, true,
     true},
    {Evaluator::kGpuMode, "GPU MODE's eval.py", 1, 100, 1, 0.001, 10, 0, false, false, 100, 30},
    {Evaluator::kGpuModeCold, "GPU MODE's eval.py", 1, 100, 1, 0.001, 10, 256 * kMebibyte, false,
     false, 100, 30},
    {Evaluator::kKernelBench, "KernelBench's cuda_event", 4, 100, 1, 0, 0, 256 * kMebibyte, false,
     false},
};

// The suite's clock does not time the copy.
bool IsBelieved(const v1::WorkloadResult& workload) {
  const double own_us = workload.candidate().median_us() - workload.copy_us();
  return workload.suite_time().mean_us() >= kBelievedShare * own_us;
}

}  // namespace

v1::SuiteClock ClockOf(Evaluator evaluator) {
  v1::SuiteClock clock;
  const Row* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                      [&](const Row& each) { return each.evaluator == evaluator; });
  clock.set_evaluator(std::string(row->name));
  clock.set_warm_up_calls(row->warm_up_calls);
  clock.set_calls(row->calls);
  clock.set_variants(row->variants);
  clock.set_relative_error(row->relative_error);
  if (row->most_seconds > 0) clock.mutable_most_time()->set_seconds(row->most_seconds);
  clock.set_flush_bytes(row->flush_bytes);
  clock.set_copies_inputs(row->copies_inputs);
  clock.set_waits(row->waits);
  if (row->checked_calls > 0) {
    clock.mutable_checked()->set_calls(row->checked_calls);
    clock.mutable_checked()->mutable_most_time()->set_seconds(row->most_checked_seconds);
  }
  return clock;
}

std::optional<v1::SuiteScore> ClockScore(const v1::SuiteClock& clock, const v1::JobResult& result) {
  double logs = 0;
  int workloads = 0, checked = 0, doubtful = 0;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (!(workload.suite_time().mean_us() > 0)) continue;
    logs += std::log(workload.suite_time().mean_us());
    ++workloads;
    checked += workload.suite_time().checked();
    if (!IsBelieved(workload)) ++doubtful;
  }
  if (workloads == 0) return std::nullopt;
  v1::SuiteScore score;
  score.set_name(absl::StrCat("time as ", clock.evaluator(), " takes it",
                              workloads == 1 ? "" : ", geometric mean"));
  score.set_value(std::exp(logs / workloads));
  score.set_unit("us");
  score.set_note(absl::StrCat(
      "events around each call, ",
      checked == 0
          ? "inputs repeat"
          : absl::StrCat("each of ", checked, " calls on inputs of its own, all outputs right"),
      "; ", workloads, workloads == 1 ? " workload" : " workloads",
      doubtful == 0 ? ""
                    : absl::StrCat("; on ", doubtful, " of ", workloads,
                                   " under a quarter of ksearch's own time: do not rely on it")));
  return score;
}

}  // namespace ksearch
