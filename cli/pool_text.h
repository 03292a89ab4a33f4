#ifndef KSEARCH_CLI_POOL_TEXT_H_
#define KSEARCH_CLI_POOL_TEXT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// How the pools of autoscalers stand: a table, then what is wrong, a line each; "" without pools.
std::string PoolsText(const google::protobuf::RepeatedPtrField<v1::PoolStatus>& pools,
                      absl::Time now);

// What waits for workers: a table, or one sentence if nothing does.
std::string DemandText(const v1::DemandReply& demand);

}  // namespace ksearch

#endif  // KSEARCH_CLI_POOL_TEXT_H_
