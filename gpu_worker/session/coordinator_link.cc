#include "gpu_worker/session/coordinator_link.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/status_macros.h"
#include "gpu_worker/session/joiner.h"

namespace ksearch {
namespace {

constexpr absl::Duration kRecordDeadline = absl::Seconds(30);
constexpr absl::Duration kFetchDeadline = absl::Seconds(60);
constexpr absl::Duration kJoinDeadline = absl::Seconds(10);
constexpr size_t kMaxBlobBytes = size_t{64} << 20;

absl::Status NotJoined() { return absl::UnavailableError("the worker has no certificate yet"); }

}  // namespace

class CoordinatorLink::OpenCall {
 public:
  OpenCall(CoordinatorLink* link, absl::Duration timeout)
      : link_(link), context_(ContextWithDeadline(timeout)) {
    MutexLock lock(&link_->mu_);
    link_->calls_.insert(context_.get());
    if (link_->closed_) context_->TryCancel();
  }
  ~OpenCall() {
    MutexLock lock(&link_->mu_);
    link_->calls_.erase(context_.get());
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  grpc::ClientContext* context() { return context_.get(); }

 private:
  CoordinatorLink* const link_;
  const std::unique_ptr<grpc::ClientContext> context_;
};

CoordinatorLink::CoordinatorLink(const std::string& address, const ClientAccess& access)
    : address_(address) {
  if (!Joiner::IsNeeded(access)) Redial(access);
}

CoordinatorLink::~CoordinatorLink() = default;

void CoordinatorLink::Redial(const ClientAccess& access) {
  auto channel = MakeChannel(address_, access);
  std::shared_ptr<v1::WorkerService::StubInterface> stub = v1::WorkerService::NewStub(channel);
  MutexLock lock(&mu_);
  channel_ = std::move(channel);
  stub_ = std::move(stub);
}

std::shared_ptr<v1::WorkerService::StubInterface> CoordinatorLink::stub() {
  MutexLock lock(&mu_);
  return stub_;
}

absl::StatusOr<v1::JoinReply> CoordinatorLink::Join(const ClientAccess& access,
                                                    const v1::JoinRequest& request) {
  const auto once = v1::WorkerService::NewStub(MakeChannel(address_, access));
  OpenCall call(this, kJoinDeadline);
  v1::JoinReply reply;
  const grpc::Status status = once->Join(call.context(), request, &reply);
  if (!status.ok()) return FromGrpc(status);
  return reply;
}

absl::StatusOr<v1::RecordResultReply::Disposition> CoordinatorLink::RecordResult(
    const v1::RecordResultRequest& request) {
  OpenCall call(this, kRecordDeadline);
  v1::RecordResultReply reply;
  const auto owner = stub();
  if (owner == nullptr) return NotJoined();
  const grpc::Status status = owner->RecordResult(call.context(), request, &reply);
  if (!status.ok()) return FromGrpc(status);
  return reply.disposition();
}

absl::StatusOr<std::string> CoordinatorLink::FetchBlob(const std::string& sha256) {
  std::string blob;
  const auto take = [&](absl::string_view piece) -> absl::Status {
    if (blob.size() + piece.size() > kMaxBlobBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("blob ", sha256, " is larger than ", kMaxBlobBytes, " bytes"));
    }
    blob.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(FetchBlobInto(sha256, /*offset=*/0, take));
  return blob;
}

absl::Status CoordinatorLink::FetchBlobInto(
    const std::string& sha256, int64_t offset,
    const std::function<absl::Status(absl::string_view)>& take) {
  OpenCall call(this, kFetchDeadline);
  v1::FetchBlobRequest request;
  request.set_sha256(sha256);
  request.set_offset(offset);
  const auto owner = stub();
  if (owner == nullptr) return NotJoined();
  const auto reader = owner->FetchBlob(call.context(), request);
  absl::Status taken;
  v1::BlobChunk chunk;
  while (taken.ok() && reader->Read(&chunk)) taken = take(chunk.content());
  if (!taken.ok()) call.context()->TryCancel();
  const grpc::Status status = reader->Finish();
  return taken.ok() ? FromGrpc(status) : taken;
}

bool CoordinatorLink::WaitUntilConnected(absl::Duration timeout) {
  std::shared_ptr<grpc::Channel> channel;
  {
    MutexLock lock(&mu_);
    channel = channel_;
  }
  return channel != nullptr && channel->WaitForConnected(std::chrono::system_clock::now() +
                                                         absl::ToChronoNanoseconds(timeout));
}

void CoordinatorLink::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  for (grpc::ClientContext* context : calls_) context->TryCancel();
}

}  // namespace ksearch
