#ifndef KSEARCH_BENCH_AGREEMENT_TREES_H_
#define KSEARCH_BENCH_AGREEMENT_TREES_H_

#include "bench/agreement/agreement_case.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// K-Search's world model, as it keeps it, and what of ours decides anything: [id, parent, titled,
// difficulty, score, rating, confidence, solved] of each node, in the order of ids.
v1::WorldModel ReadPublishedTree(const Json& json);
Json ShownTree(const v1::WorldModel& model);

}  // namespace ksearch

#endif  // KSEARCH_BENCH_AGREEMENT_TREES_H_
