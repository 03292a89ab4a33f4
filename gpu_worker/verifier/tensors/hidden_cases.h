#ifndef KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rng.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "proto/task.pb.h"

namespace ksearch {

// A workload with variants of another kind than its recipes give: what a program has to get right
// too, and does not if it was fitted to the distribution of its inputs.
struct HiddenCase {
  std::string name;       // e.g. "heavy tails of q"
  v1::Workload workload;  // the same shapes and uuid
  // Only a few places of the input are unusual: most outputs may be the usual ones.
  bool sparse = false;
  // Nobody has said that the input may be so: a reference that cannot take it is right.
  bool guessed = false;
  // A scalar differs, which a runner learns when it maps the workload.
  bool remaps = false;
  // Of a guess: the input, and the workload with all its integers wide. A reference to which they
  // mean places fails on that for certain, while it may find something at a few of them.
  std::string input;
  v1::Workload probe;
};

// The cases of each kind that the workload's recipes and the task's `hidden` settings permit. Which
// input a case is about is drawn. With `largest_too` there is one more of each kind, about the
// input with the most elements, where shortcuts pay. The kinds:
//   large values    a float input is 8 times as large
//   heavy tails     a normal float input has Student's t with 2 degrees of freedom
//   zeros           a float input is 0
//   one column      a float input is 0 but for one column of its last dimension
//   a large row     a float input is 8 times as large in one row
//   large elements  one to three elements of a float input are far outside of the others
//   an odd row      one row of a float or integer input is 0, or constant, or sorted
//   wide integers   integers without a declared range are nearly as large as their type allows
//   large integers  one to three of these are; with a declared range they are at one of its ends
//   rare true       a bool input that is drawn is true with probability 0.05
//   page order      scattered page indices become contiguous, or the other way round
//   scalar          a scalar takes another of the values that the task names
// A row is a run of elements that one index of one of the dimensions but the last shares; where it
// and such elements lie is drawn for each variant. Inputs with an offset or raised columns mean
// something by them and stay; large values and heavy tails need outputs with the range of float32.
std::vector<HiddenCase> HiddenCases(const v1::Task& task, const v1::Workload& workload,
                                    bool largest_too, Rng* rng);

// What a hidden case is judged by. It asks for the right kind of answer: precision has been judged
// before, on variants for which it is known what an honest program reaches. `growth`: RMS of the
// outputs over that under the workload's own recipes; atol is meant for those. `all_zero`: some
// output is, so that errors relative to it mean nothing.
v1::Tolerance HiddenTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero);

// The same for a sparse case, where 2 % of the elements may be all that it changes. `affected`: the
// largest share of elements of an output that the unusual places change by more than is tolerated.
// Half of them may be wrong, but no more than 2 % of all, and of the others as many as ever.
v1::Tolerance SparseTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero,
                              double affected);

// Whether an output of integers comes so close to the end of its type that a sum or a product may
// have wrapped around: then honest programs may differ. Wide inputs leave room for a sum of two.
absl::StatusOr<bool> MayHaveOverflowed(const WorkloadCase& workload, const SavedOutputs& outputs);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_
