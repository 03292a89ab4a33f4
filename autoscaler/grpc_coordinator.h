#ifndef KSEARCH_AUTOSCALER_GRPC_COORDINATOR_H_
#define KSEARCH_AUTOSCALER_GRPC_COORDINATOR_H_

#include <memory>
#include <string>

#include "autoscaler/coordinator.h"
#include "common/access/client_access.h"

namespace ksearch {

// REQUIRES: CheckClientAccess(address, access) is OK. Each call blocks for 10 s at most.
std::unique_ptr<Coordinator> MakeGrpcCoordinator(const std::string& address,
                                                 const ClientAccess& access);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_GRPC_COORDINATOR_H_
