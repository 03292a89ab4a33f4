#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_MATMUL_TASK_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_MATMUL_TASK_H_

#include <string>

#include "proto/runner.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// c[m, n] = a[m, k] b[k, n], float32; workloads "small" (32 x 24 x 40), "medium" (96 x 80 x 64),
// "large" (256 x 256 x 192), "tiny_values" (as small, a subnormal) and, held out, "odd"
// (33 x 7 x 129).
v1::Task MatmulTask();

// Returns the built candidate `name` of tests/bad_candidates.
v1::Artifact CandidateArtifact(const std::string& name);

// A SCREEN of `candidate` on small and medium with baseline honest.cpp; short measuring times.
v1::VerifierRequest ScreenRequest(const std::string& candidate);

// A CONFIRM of `candidate` on medium, small and odd against `rival`, taken for the baseline.
v1::VerifierRequest ConfirmRequest(const std::string& candidate, const std::string& rival);

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_MATMUL_TASK_H_
