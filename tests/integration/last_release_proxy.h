#ifndef KSEARCH_TESTS_INTEGRATION_LAST_RELEASE_PROXY_H_
#define KSEARCH_TESTS_INTEGRATION_LAST_RELEASE_PROXY_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <set>
#include <string>

#include "common/mutex.h"
#include "google/protobuf/message.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {

// A proxy between workers and a coordinator that makes each look to the other like one of the last
// release: it forwards only those fields of messages that tests/proto/released_fields.txt has.
// Blobs pass unchanged.
class LastReleaseProxy final : public v1::WorkerService::Service {
 public:
  // `coordinator`: its address.
  explicit LastReleaseProxy(const std::string& coordinator);
  ~LastReleaseProxy() override;

  const std::string& address() const { return address_; }
  // Names of the fields that were set and not forwarded: "ksearch.v1.WorkerHello.sent_at".
  std::set<std::string> dropped();

  grpc::Status Session(grpc::ServerContext* context,
                       grpc::ServerReaderWriter<v1::WorkerDown, v1::WorkerUp>* worker) override;
  grpc::Status RecordResult(grpc::ServerContext* context, const v1::RecordResultRequest* request,
                            v1::RecordResultReply* reply) override;
  grpc::Status FetchBlob(grpc::ServerContext* context, const v1::FetchBlobRequest* request,
                         grpc::ServerWriter<v1::BlobChunk>* writer) override;

 private:
  void Strip(google::protobuf::Message* message);

  std::set<std::string> released_;  // "ksearch.v1.WorkerHello 1"
  std::string address_;
  std::unique_ptr<v1::WorkerService::Stub> coordinator_;
  std::unique_ptr<grpc::Server> server_;
  Mutex mu_;
  std::set<std::string> dropped_ ABSL_GUARDED_BY(mu_);
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_LAST_RELEASE_PROXY_H_
