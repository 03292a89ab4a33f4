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

// A workload whose inputs differ in kind from those of its recipes. A correct program handles them
// too; one that was fitted to the distribution of its inputs does not.
struct HiddenCase {
  std::string name;       // e.g. "heavy tails of q"
  v1::Workload workload;  // the same shapes and uuid
  // Only a few places of the input are unusual, so most outputs may be the usual ones.
  bool sparse = false;
  // The task does not say that such inputs are valid: a reference that cannot handle them is not at
  // fault.
  bool guessed = false;
  // A scalar differs, which a runner receives when it maps the workload.
  bool remaps = false;
  // For a guess: the input, and a workload on which a reference is certain to fail if the guess is
  // wrong. If it uses integers as indices: with all of them wide, while a few wide ones may happen
  // to be valid addresses.
  std::string input;
  v1::Workload probe;
};

// The cases of each kind that the workload's recipes and the task's `hidden` settings permit. The
// input that a case changes is chosen at random. With `largest_too` there is one more case of each
// kind, for the input with the most elements, where shortcuts pay off most. The kinds:
//   large values    a float input is 8 times as large
//   small values    a float input with an offset is 1/64 of itself, offset included
//   heavy tails     a normal float input has Student's t with 2 degrees of freedom
//   zeros           a float input is 0
//   one column      a float input is 0 but for one column of its last dimension
//   opposed columns
//                   one column of every normal float32 input is raised by 36 or, of every second
//                   one, lowered: products of two rows are far below 0
//   a large row     a float input is 8 times as large in one row
//   large elements  one to three elements of a float input are far outside of the others; with an
//                   offset 8 times as large
//   an odd row      one row of a float or integer input is 0, or constant, or sorted
//   a low row       one row of a float32 input increases from -127 to -101
//   wide integers   integers without a declared range are nearly as large as their type allows
//   wider integers  the same are from a range four times as wide
//   large integers  one to three of these are; with a declared range they are at one of its ends
//   rare true       a bool input that is drawn is true with probability 0.05
//   page order      scattered page indices become contiguous, or the other way round
//   page runs       page indices are runs of neighbors, in a random order
//   long segment    one segment of a ragged batch has all elements that the others can do without
//   scalar          a scalar takes another of the values that the task names
//   varied constants
//                   float inputs that are one number everywhere, all of them, differ from it by up
//                   to a half (of 1, if it is 0): a module's weights are no constants
//   unusual inputs N
//                   what make_inputs makes for seeds that no workload has: 2^32 of them from value
//                   N on that the task names for the scalar "seed" (all inputs at once)
// A row consists of the elements that share one index of a dimension other than the last. Its
// position, and those of single elements, are drawn for each variant. Inputs with an offset or
// raised columns have these for a reason and are not changed otherwise; large and small values and
// heavy tails need outputs with the range of float32.
std::vector<HiddenCase> HiddenCases(const v1::Task& task, const v1::Workload& workload,
                                    bool largest_too, Rng* rng);

// The tolerance for a hidden case. It is wide and checks only that the answer is of the right kind:
// precision was checked before, on variants for which the precision of honest programs is known.
// `growth`: the RMS of the outputs relative to that under the workload's own recipes, for which
// atol was chosen. `all_zero`: some output is all zeros, so errors relative to it mean nothing.
v1::Tolerance HiddenTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero);

// The same for a sparse case, which may change no more than 2 % of the elements. `affected`: the
// largest share of an output's elements that the unusual places change by more than the tolerance.
// Of these, half may be wrong, but no more than 2 % of all elements; of the others, as many as
// usual.
v1::Tolerance SparseTolerance(const v1::Tolerance& tolerance, double growth, bool all_zero,
                              double affected);

// Returns true if an integer output comes so close to the limits of its type that a sum or a
// product may have wrapped around, in which case honest programs may differ. Wide inputs leave room
// for a sum of two.
absl::StatusOr<bool> MayHaveOverflowed(const WorkloadCase& workload, const SavedOutputs& outputs);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TENSORS_HIDDEN_CASES_H_
