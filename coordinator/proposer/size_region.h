#ifndef KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_
#define KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_

#include <string>
#include <vector>

#include "proto/task.pb.h"

namespace ksearch {

// Describes how the sizes of some workloads differ from those of others, without giving any size:
// "where rows is small and cols is not a multiple of 8". An axis is small (large) if all of its
// values are below (above) those of the others, and mostly so if four of five pairs are. Empty if
// no axis distinguishes them, or if one of the lists is empty. Ids that the task does not have are
// ignored. Pure.
std::string SizeRegion(const v1::Task& task, const std::vector<std::string>& uuids,
                       const std::vector<std::string>& others);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_SIZE_REGION_H_
