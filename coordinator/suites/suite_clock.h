#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_

#include <optional>

#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Evaluators whose clocks ksearch implements.
enum class Evaluator {
  kFlashInferBench,
  kGpuMode,      // eval.py in benchmark mode
  kGpuModeCold,  // eval.py of problems that clear the cache before each call
  kKernelBench,  // with the timing method cuda_event
};

v1::SuiteClock ClockOf(Evaluator evaluator);

// Returns a result's time by the suite's clock: the mean, or the geometric mean of the means of
// several workloads. Its note says so if it is far below the time by ksearch's own clock. Absent if
// that clock timed nothing.
std::optional<v1::SuiteScore> ClockScore(const v1::SuiteClock& clock, const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_
