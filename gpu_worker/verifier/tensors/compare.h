#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_COMPARE_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_COMPARE_H_

#include <string>
#include <vector>

#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

struct OutputComparison {
  bool right = true;
  std::string message;  // why not; names output, index, got and expected
  v1::Correctness correctness;
  // Why outputs that a judge takes for right are none; usually empty.
  std::string doubt;
};

// Judges outputs by the FlashInfer rule, or with `sum_of_bounds` by that of torch.allclose (see
// v1::Tolerance), and the error-ratio test:
//  * an element is wrong iff |got - oracle| > atol AND |got - oracle| / (|oracle| + 1e-8) > rtol;
//  * where the oracle is infinite the element must be the same infinity; NaN is always wrong;
//  * of each output at least required_matched_ratio of the elements must be right;
//  * no element may be infinite or NaN where the oracle's is finite;
//  * if no element may be wrong, RMS(error) / RMS(oracle) of each output of floats must not exceed
//    0.2, unless RMS(oracle) is below a tenth of atol (below atol with `sum_of_bounds` and a type
//    narrower than float32), and below 1e-5 if no float of the task is narrower: where answers are
//    small, atol alone would take zeros, or the answer to other inputs;
//  * RMS(error) / RMS(oracle) over finite elements of each output, divided by rms_yardstick (or the
//    output type's rounding, if that is larger), must not exceed max_rms_error_ratio, if set.
// `comparisons`: one per output, in definition order.
OutputComparison JudgeOutputs(const WorkloadCase& workload,
                              const std::vector<TensorComparison>& comparisons);

// For outputs that a judge has looked at, since a task's own check may take a NaN for right: they
// are wrong if there is a doubt, or if an output holds an infinity or NaN where the oracle's
// element is finite, unless the oracle has one where theirs is finite, because several answers may
// be right.
void RequireFinite(const WorkloadCase& workload, const SavedOutputs& outputs,
                   const SavedOutputs& oracle, OutputComparison* judged);

// Merges two records of one workload: keeps the larger errors, the smaller ratio, and the first
// wrong element.
void MergeCorrectness(const v1::Correctness& from, v1::Correctness* into);

// The name of the first output that contains a NaN, which an oracle must not; empty if there is
// none.
std::string OutputWithNan(const WorkloadCase& workload, const SavedOutputs& outputs);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_COMPARE_H_
