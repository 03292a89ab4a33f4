#include "gpu_worker/session/result_sender.h"

#include <utility>

#include "common/log.h"

namespace ksearch {

ResultSender::ResultSender(ResultSpool& spool, HeldLeases& held, Record record, Backoff retry)
    : spool_(spool), held_(held), record_(std::move(record)), retry_(retry) {
  for (v1::RecordResultRequest& request : spool_.Load()) {
    held_.Restore(request.lease_id(), request.result().job_id(), request.result().attempt());
    pending_.push_back(std::move(request));
  }
  if (!pending_.empty()) LOG(INFO) << "msg=\"results left to send\" count=" << pending_.size();
  thread_ = std::thread([this] { Loop(); });
}

ResultSender::~ResultSender() {
  {
    MutexLock lock(&mu_);
    closing_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

absl::Status ResultSender::Add(const v1::RecordResultRequest& request) {
  const absl::Status kept = spool_.Put(request);
  if (absl::IsOutOfRange(kept)) return kept;
  if (!kept.ok()) {
    LOG(WARNING) << "msg=\"a result is in memory only until it is acknowledged\" job_id="
                 << request.result().job_id() << " because=\"" << kept.message() << "\"";
  }
  held_.Finish(request.lease_id());
  MutexLock lock(&mu_);
  if (!kept.ok()) unspooled_.insert(request.lease_id());
  pending_.push_back(request);
  changed_.NotifyAll();
  return absl::OkStatus();
}

void ResultSender::Loop() {
  while (true) {
    v1::RecordResultRequest request;
    {
      MutexLock lock(&mu_);
      while (pending_.empty() && !closing_) changed_.Wait(&mu_);
      if (closing_) return;
      request = std::move(pending_.front());
      pending_.pop_front();
    }
    const bool settled = Settle(request, record_(request));
    if (!settled) SpoolAgain(request);
    MutexLock lock(&mu_);
    if (settled) {
      unspooled_.erase(request.lease_id());
      retry_.Reset();
      continue;
    }
    // Moved to the back: a result that cannot be sent must not block the others.
    pending_.push_back(std::move(request));
    if (!closing_) changed_.WaitFor(&mu_, retry_.Next());
  }
}

void ResultSender::SpoolAgain(const v1::RecordResultRequest& request) {
  {
    MutexLock lock(&mu_);
    if (!unspooled_.contains(request.lease_id())) return;
  }
  if (!spool_.Put(request).ok()) return;
  MutexLock lock(&mu_);
  unspooled_.erase(request.lease_id());
}

bool ResultSender::Settle(const v1::RecordResultRequest& request,
                          const absl::StatusOr<v1::RecordResultReply::Disposition>& answer) {
  const std::string& job_id = request.result().job_id();
  if (answer.ok()) {
    LOG(INFO) << "msg=\"result acknowledged\" job_id=" << job_id
              << " outcome=" << v1::Outcome_Name(request.result().outcome())
              << " as=" << v1::RecordResultReply::Disposition_Name(*answer) << " message=\""
              << request.result().message() << "\"";
    spool_.Remove(request.lease_id());
    held_.Drop(request.lease_id());
    return true;
  }
  if (answer.status().code() == absl::StatusCode::kInvalidArgument) {
    LOG(ERROR) << "msg=\"the coordinator refused a result, set aside\" job_id=" << job_id
               << " error=\"" << answer.status().message() << "\"";
    spool_.SetAside(request.lease_id());
    held_.Return(request.lease_id(), std::string(answer.status().message()));
    return true;
  }
  LOG(DEBUG) << "msg=\"result not acknowledged, sending again\" job_id=" << job_id << " error=\""
             << answer.status().message() << "\"";
  return false;
}

}  // namespace ksearch
