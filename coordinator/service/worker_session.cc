#include "coordinator/service/worker_session.h"

#include <utility>

#include "common/grpc_channel.h"

namespace ksearch {

WorkerSession::WorkerSession(WorkerGateway* gateway, WorkerIdentity identity)
    : gateway_(gateway), identity_(std::move(identity)) {
  StartRead(&in_);
}

void WorkerSession::Send(const v1::WorkerDown& down) {
  MutexLock lock(&mu_);
  if (ending_.has_value() || broken_) return;
  out_.push_back(down);
  if (!writing_) StartNextWrite();
}

void WorkerSession::End(const absl::Status& status) {
  MutexLock lock(&mu_);
  if (!ending_.has_value()) ending_ = ToGrpc(status);
  FinishIfIdle();
}

void WorkerSession::OnReadDone(bool ok) {
  if (!ok) {
    // The stream was half-closed or lost, or a message could not be read.
    End(worker_id_.empty() ? absl::InvalidArgumentError(
                                 "the first message is not a hello that this coordinator can read")
                           : absl::OkStatus());
    return;
  }
  const absl::Status status = TakeMessage();
  if (!status.ok()) {
    End(status);
    return;
  }
  StartRead(&in_);
}

absl::Status WorkerSession::TakeMessage() {
  if (worker_id_.empty()) {
    if (!in_.has_hello()) {
      return absl::InvalidArgumentError("the first message of a session must be a hello");
    }
    const absl::Status status = gateway_->BeginSession(in_.hello(), this, identity_);
    if (status.ok()) worker_id_ = in_.hello().worker_id();
    return status;
  }
  if (!in_.has_report()) {
    return absl::InvalidArgumentError("after the hello every message must be a report");
  }
  return gateway_->Report(worker_id_, this, in_.report());
}

void WorkerSession::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  writing_ = false;
  out_.pop_front();
  if (!ok) {
    broken_ = true;
    out_.clear();
  }
  FinishIfIdle();
  if (!finished_ && !out_.empty()) StartNextWrite();
}

void WorkerSession::OnCancel() { End(absl::CancelledError("the worker went away")); }

void WorkerSession::OnDone() {
  if (!worker_id_.empty()) gateway_->EndSession(worker_id_, this);
  delete this;
}

void WorkerSession::StartNextWrite() {
  writing_ = true;
  StartWrite(&out_.front());
}

void WorkerSession::FinishIfIdle() {
  if (finished_ || writing_ || !ending_.has_value()) return;
  finished_ = true;
  Finish(*ending_);
}

}  // namespace ksearch
