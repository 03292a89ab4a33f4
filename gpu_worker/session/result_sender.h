#ifndef KSEARCH_GPU_WORKER_SESSION_RESULT_SENDER_H_
#define KSEARCH_GPU_WORKER_SESSION_RESULT_SENDER_H_

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/backoff.h"
#include "common/mutex.h"
#include "gpu_worker/session/held_leases.h"
#include "gpu_worker/session/result_spool.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// Delivers results to the coordinator: each is on disk before it is sent, and is sent until it is
// acknowledged, also after restarts of either side. While the disk is full, a result is only in
// memory, and is lost if the worker ends before it is acknowledged: its job is then tried again.
// Has one thread. Thread-safe.
class ResultSender {
 public:
  // Calls RecordResult once.
  using Record = std::function<absl::StatusOr<v1::RecordResultReply::Disposition>(
      const v1::RecordResultRequest& request)>;

  // Takes over the contents of `spool` from before a restart. References must outlive this object;
  // `retry` paces repetitions.
  ResultSender(ResultSpool& spool, HeldLeases& held, Record record, Backoff retry);
  // Joins the thread; unacknowledged results stay in the spool.
  ~ResultSender();
  ResultSender(const ResultSender&) = delete;
  ResultSender& operator=(const ResultSender&) = delete;

  // Spools the result, if the disk has room, and marks its lease as finished. OUT_OF_RANGE: it is
  // too large to send.
  absl::Status Add(const v1::RecordResultRequest& request);

 private:
  void Loop();
  // Spools a result for which there was no room before, if there is room now.
  void SpoolAgain(const v1::RecordResultRequest& request);
  // Returns true if this result needs no more attention.
  bool Settle(const v1::RecordResultRequest& request,
              const absl::StatusOr<v1::RecordResultReply::Disposition>& answer);

  ResultSpool& spool_;
  HeldLeases& held_;
  const Record record_;
  Backoff retry_;  // used by the thread
  Mutex mu_;
  CondVar changed_;
  std::deque<v1::RecordResultRequest> pending_ ABSL_GUARDED_BY(mu_);
  // lease ids of results that are only in memory
  std::set<std::string> unspooled_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_RESULT_SENDER_H_
