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

// Brings results to the coordinator: each is on disk before it is sent, and sent until it is
// acknowledged, after restarts of either side too. While the disk is full, a result is in memory
// alone, and lost if the worker ends before it is acknowledged: its job is then tried again. One
// thread. Thread-safe.
class ResultSender {
 public:
  // One call of RecordResult.
  using Record = std::function<absl::StatusOr<v1::RecordResultReply::Disposition>(
      const v1::RecordResultRequest& request)>;

  // Takes over what `spool` holds from before a restart. References outlive it; `retry` paces
  // repetitions.
  ResultSender(ResultSpool& spool, HeldLeases& held, Record record, Backoff retry);
  // Joins; what is not acknowledged stays in the spool.
  ~ResultSender();
  ResultSender(const ResultSender&) = delete;
  ResultSender& operator=(const ResultSender&) = delete;

  // Spools the result, if the disk has room, and marks its lease finished. OUT_OF_RANGE: it is too
  // large to be sent.
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
  Backoff retry_;  // of the thread
  Mutex mu_;
  CondVar changed_;
  std::deque<v1::RecordResultRequest> pending_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> unspooled_ ABSL_GUARDED_BY(mu_);  // lease ids of those in memory alone
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_SESSION_RESULT_SENDER_H_
