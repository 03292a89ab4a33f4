#include "coordinator/service/worker_service.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/status_macros.h"
#include "coordinator/service/access/call_check.h"
#include "coordinator/service/worker_session.h"

namespace ksearch {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

// Sends a blob in chunks. Deletes itself in OnDone.
class BlobStream final : public grpc::ServerWriteReactor<v1::BlobChunk> {
 public:
  void Begin(absl::StatusOr<WorkerGateway::Blob> blob, int64_t offset = 0) {
    if (!blob.ok()) {
      Finish(ToGrpc(blob.status()));
      return;
    }
    blob_ = *std::move(blob);
    const auto bytes = static_cast<int64_t>(blob_.view().size());
    if (offset < 0 || offset > bytes) {
      Finish(ToGrpc(absl::InvalidArgumentError(
          absl::StrCat("offset: ", offset, " is not within the blob's ", bytes, " bytes"))));
      return;
    }
    sent_ = static_cast<size_t>(offset);
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
    const absl::string_view rest = blob_.view().substr(sent_);
    if (rest.empty()) {
      Finish(grpc::Status::OK);
      return;
    }
    const absl::string_view piece = rest.substr(0, kChunkBytes);
    chunk_.set_content(piece.data(), piece.size());
    sent_ += chunk_.content().size();
    StartWrite(&chunk_);
  }

  WorkerGateway::Blob blob_;
  size_t sent_ = 0;
  v1::BlobChunk chunk_;
};

class RefusedSession final : public grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown> {
 public:
  explicit RefusedSession(const grpc::Status& status) { Finish(status); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace

absl::StatusOr<WorkerIdentity> WorkerService::Identify(
    const grpc::CallbackServerContext& context) const {
  WorkerIdentity identity;
  if (access_ == nullptr) return identity;
  ASSIGN_OR_RETURN(const AccessControl::Caller caller, CallerOf(*access_, context));
  identity.token_id = caller.token_id;
  identity.certified_name = CertifiedWorkerName(*context.auth_context());
  identity.pool = caller.pool;
  identity.joined = caller.joined;
  return identity;
}

grpc::ServerUnaryReactor* WorkerService::Join(grpc::CallbackServerContext* context,
                                              const v1::JoinRequest* request,
                                              v1::JoinReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  absl::StatusOr<v1::JoinReply> joined = absl::FailedPreconditionError(
      "nobody can join here: that needs TLS and tokens, and no tls.client_ca_file in the "
      "coordinator's configuration (docs/security.md)");
  if (access_ != nullptr && authority_ != nullptr) {
    const auto caller = CallerOf(*access_, *context);
    joined = caller.ok() ? authority_->Join(*request, *caller, *access_)
                         : absl::StatusOr<v1::JoinReply>(caller.status());
    if (!joined.ok()) gateway_->NoteRefused(request->name().substr(0, 64), joined.status());
  }
  if (joined.ok()) *reply = *std::move(joined);
  reactor->Finish(ToGrpc(joined.status()));
  return reactor;
}

grpc::ServerBidiReactor<v1::WorkerUp, v1::WorkerDown>* WorkerService::Session(
    grpc::CallbackServerContext* context) {
  auto identity = Identify(*context);
  if (!identity.ok()) return new RefusedSession(ToGrpc(identity.status()));
  return new WorkerSession(gateway_, *std::move(identity));
}

grpc::ServerUnaryReactor* WorkerService::RecordResult(grpc::CallbackServerContext* context,
                                                      const v1::RecordResultRequest* request,
                                                      v1::RecordResultReply* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto identity = Identify(*context);
  if (!identity.ok()) {
    reactor->Finish(ToGrpc(identity.status()));
    return reactor;
  }
  gateway_->RecordResult(
      *request,
      [reactor, reply](absl::StatusOr<v1::RecordResultReply::Disposition> disposition) {
        if (disposition.ok()) reply->set_disposition(*disposition);
        reactor->Finish(ToGrpc(disposition.status()));
      },
      *identity);
  return reactor;
}

grpc::ServerWriteReactor<v1::BlobChunk>* WorkerService::FetchBlob(
    grpc::CallbackServerContext* context, const v1::FetchBlobRequest* request) {
  auto* const stream = new BlobStream;
  const auto identity = Identify(*context);
  if (!identity.ok()) {
    stream->Begin(identity.status());
    return stream;
  }
  gateway_->ReadBlob(
      request->sha256(),
      [stream, offset = request->offset()](absl::StatusOr<WorkerGateway::Blob> blob) {
        stream->Begin(std::move(blob), offset);
      },
      *identity);
  return stream;
}

}  // namespace ksearch
