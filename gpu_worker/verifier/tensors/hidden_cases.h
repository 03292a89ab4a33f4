#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_

#include <string>
#include <vector>

#include "common/rng.h"
#include "proto/task.pb.h"

namespace ksearch {

// A workload with variants of another kind than its recipes give: what a program has to get right
// too, and does not if it was fitted to the distribution of its inputs.
struct HiddenCase {
  std::string name;       // e.g. "heavy tails of q"
  v1::Workload workload;  // the same shapes and uuid
};

// One case of each kind that the workload's recipes and the task's `hidden` settings permit; which
// input it is about is drawn. The kinds:
//   large values    a float input is 8 times as large
//   heavy tails     a normal float input has Student's t with 2 degrees of freedom
//   zeros           a float input is 0
//   one column      a float input is 0 but for one column of its last dimension
//   rare true       a bool input that is drawn is true with probability 0.05
//   page order      scattered page indices become contiguous, or the other way round
//   scalar          a scalar takes another of the values that the task names
// Inputs with an offset or raised columns mean something by them and stay; large values and heavy
// tails need outputs with the range of float32.
std::vector<HiddenCase> HiddenCases(const v1::Task& task, const v1::Workload& workload, Rng* rng);

// What a hidden case is judged by. It asks for the right kind of answer: precision has been judged
// before, on variants for which it is known what an honest program reaches. `growth`: RMS of the
// outputs over that under the workload's own recipes; atol is meant for those. `all_zero`: some
// output is, so that errors relative to it mean nothing.
v1::Tolerance HiddenTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_
