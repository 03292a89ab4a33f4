#ifndef KSEARCH_AUTOSCALER_COORDINATOR_H_
#define KSEARCH_AUTOSCALER_COORDINATOR_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The calls that an autoscaler makes to its coordinator.
class Coordinator {
 public:
  virtual ~Coordinator() = default;
  virtual absl::StatusOr<v1::DemandReply> Demand() = 0;
  virtual absl::StatusOr<v1::ListWorkersReply> Workers() = 0;
  virtual absl::Status ReportPool(const v1::ReportPoolRequest& request) = 0;
};

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_COORDINATOR_H_
