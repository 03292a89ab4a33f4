#ifndef KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_TOPK_INDEXER_EVALUATOR_H_
#define KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_TOPK_INDEXER_EVALUATOR_H_

#include <string>

#include "absl/status/status.h"
#include "proto/task.pb.h"

namespace ksearch {

// Upstream's evaluator dsa_topk_indexer, for definitions whose names begin with that
// (v1::SuiteRule::INDEX_SCORES). If a workload draws a cache of keys at random, it is packed from
// normally distributed numbers.
bool IsTopkIndexer(const v1::Definition& definition);
absl::Status PoseTopkIndexer(v1::Task* task, std::string* reference);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_FLASHINFER_EVALUATORS_TOPK_INDEXER_EVALUATOR_H_
