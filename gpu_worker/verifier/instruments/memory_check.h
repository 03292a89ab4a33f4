#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_MEMORY_CHECK_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_MEMORY_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/verifier/dialogue/ending.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/instruments/instrument.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/timing/bench.h"
#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

struct MemoryCheck {
  v1::SanitizerReport report;
  Ending ending;  // PASSED, or the result of a finding that needs no second witness
  Ending alarm;   // PASSED, or the first finding that needs a second witness
};

enum class Thoroughness {
  kCheap,  // memcheck and racecheck, within kCheapSanitizerTime
  kFull,   // synccheck, too, within kSanitizerTime
};

// Runs a candidate that has passed the gate under tools of compute-sanitizer, one after another,
// until one finds an error that needs no second witness. A tool that fails is named in the report's
// note and says nothing about the candidate. No other runner may be alive. Non-OK if there is no
// memory for the buffers.
absl::StatusOr<MemoryCheck> CheckMemory(Bench& bench, const Instrument& sanitizer,
                                        const ProgramImage& candidate,
                                        const std::shared_ptr<const WorkloadCase>& workload,
                                        const v1::Limits& limits, Thoroughness thoroughness);

// What a finding means for the candidate: PASSED for a warning.
Ending Judge(const v1::SanitizerFinding& finding);

// Returns true if the tool's report alone is not enough. racecheck and synccheck do not understand
// every barrier (of some warps of a block, of copies) and report false errors. memcheck compares
// addresses with allocations and is not known to err.
bool NeedsSecondWitness(const v1::SanitizerFinding& finding);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_MEMORY_CHECK_H_
