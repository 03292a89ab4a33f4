#include "coordinator/service/worker_service.h"

#include <string>
#include <utility>

#include "common/grpc_channel.h"
#include "coordinator/service/worker_session.h"

namespace ksearch {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// Sends a blob in chunks. Deletes itself in OnDone.
class BlobStream final : public grpc::ServerWriteReactor<v1::BlobChunk> {
 public:
  void Begin(absl::StatusOr<std::string> blob) {
    if (!blob.ok()) {
      Finish(ToGrpc(blob.status()));
      return;
    }
    blob_ = *std::move(blob);
    Next();
  }

 private:
  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the reader went away"));
      return;
    }
    Next();
  }
  void OnDone() override { delete this; }

  void Next() {
    if (sent_ == blob_.size()) {
      Finish(grpc::Status::OK);
      return;
    }
    chunk_.set_content(blob_.substr(sent_, kChunkBytes));
    sent_ += chunk_.content().size();
    StartWrite(&chunk_);
  }

  std::string blob_;
  size_t sent_ = 0;
  v1::BlobChunk chunk_;
};

}  // namespace

grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown>* WorkerService::Session(
    grpc::CallbackServerContext* /*context*/) {
  return new WorkerSession(gateway_);
}

grpc::ServerUnaryReactor* WorkerService::RecordResult(grpc::CallbackServerContext* context,
                                                      const v1::RecordResultRequest* request,
                                                      v1::RecordResultReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  gateway_->RecordResult(
      *request, [reactor, reply](absl::StatusOr<v1::RecordResultReply::Disposition> disposition) {
        if (disposition.ok()) reply->set_disposition(*disposition);
        reactor->Finish(ToGrpc(disposition.status()));
      });
  return reactor;
}

grpc::ServerWriteReactor<v1::BlobChunk>* WorkerService::FetchBlob(
    grpc::CallbackServerContext* /*context*/, const v1::FetchBlobRequest* request) {
  auto* const stream = new BlobStream;
  gateway_->ReadBlob(request->sha256(), [stream](absl::StatusOr<std::string> blob) {
    stream->Begin(std::move(blob));
  });
  return stream;
}

}  // namespace ksearch
