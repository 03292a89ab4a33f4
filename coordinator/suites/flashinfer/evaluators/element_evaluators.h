#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_ELEMENT_EVALUATORS_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_ELEMENT_EVALUATORS_H_

#include <string>

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Upstream's default tolerances and number of trials.
inline constexpr double kFlashInferTolerance = 1e-2;
inline constexpr int kFlashInferTrials = 3;

// Upstream's default: an element within both tolerances is correct, and every element must be
// correct.
bool IsAnyDefinition(const v1::Definition& definition);
absl::Status PoseByElements(v1::Task* task, std::string* reference);

// Its evaluator lowbit (moe_fp8_block_scale), and its configuration of op_type moe: 95 %.
bool IsMixtureOfExperts(const v1::Definition& definition);
absl::Status PoseMixtureOfExperts(v1::Task* task, std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_ELEMENT_EVALUATORS_H_
