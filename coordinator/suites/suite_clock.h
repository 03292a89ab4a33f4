#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_

#include <optional>

#include "proto/result.pb.h"
#include "proto/search_service.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Evaluators whose clocks are known here.
enum class Evaluator {
  kFlashInferBench,
  kGpuMode,      // eval.py in benchmark mode
  kGpuModeCold,  // those of problems whose eval.py clears the cache before each call
  kKernelBench,  // with the timing method cuda_event
};

v1::SuiteClock ClockOf(Evaluator evaluator);

// What the suite's clock says of a result: the mean, or over several workloads the geometric mean
// of the means. None if nothing was timed by it.
std::optional<v1::SuiteScore> ClockScore(const v1::SuiteClock& clock, const v1::JobResult& result);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_CLOCK_H_
