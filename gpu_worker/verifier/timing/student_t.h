#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_STUDENT_T_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_STUDENT_T_H_

namespace ksearch {

// The number that a variable with Student's t distribution exceeds with probability `tail`, to 9
// digits. 0 < tail <= 1/2, degrees_of_freedom >= 1.
double StudentQuantile(double tail, int degrees_of_freedom);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_STUDENT_T_H_
