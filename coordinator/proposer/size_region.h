#ifndef KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_
#define KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_

#include <string>
#include <vector>

#include "proto/task.pb.h"

namespace ksearch {

// What sets the sizes of some workloads apart from those of others, in words that give no size:
// "where rows is small and cols is not a multiple of 8". An axis is small (large) if all of its
// values lie below (above) those of the others, mostly so if four of five pairs do. Empty if no
// axis sets them apart, or one of the lists is empty. Ids that the task does not have are passed
// over. Pure.
std::string SizeRegion(const v1::Task& task, const std::vector<std::string>& uuids,
                       const std::vector<std::string>& others);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_
