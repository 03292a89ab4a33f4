#ifndef KSEARCH_BENCH_SERVED_GATEWAY_H_
#define KSEARCH_BENCH_SERVED_GATEWAY_H_

#include <memory>
#include <string>

#include "coordinator/service/worker_gateway.h"
#include "coordinator/service/worker_service.h"
#include "coordinator/store/store.h"
#include "grpcpp/server.h"

namespace ksearch {

// A coordinator's workers' side for benchmarks: the real store (synchronous=FULL) in a folder of
// its own, which goes with it, the real gateway and, once served, the real gRPC service on
// loopback. Clients must have ended before it does.
class ServedGateway {
 public:
  ServedGateway();
  ~ServedGateway();

  Store& store() { return *store_; }
  // Set its listeners before Serve.
  WorkerGateway& gateway() { return *gateway_; }
  // Returns the address. Once.
  std::string Serve();

 private:
  const std::string folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<WorkerGateway> gateway_;
  std::unique_ptr<WorkerService> service_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace ksearch

#endif  // KSEARCH_BENCH_SERVED_GATEWAY_H_
