#ifndef KSEARCH_CLI_POOL_TEXT_H_
#define KSEARCH_CLI_POOL_TEXT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Returns the state of autoscalers' pools as a table, followed by one line per fault; "" without
// pools.
std::string PoolsText(const google::protobuf::RepeatedPtrField<v1::PoolStatus>& pools,
                      absl::Time now);

// Returns the demand for workers as a table, or one sentence if there is none.
std::string DemandText(const v1::DemandReply& demand);

}  // namespace ksearch

#endif  // KSEARCH_CLI_POOL_TEXT_H_
