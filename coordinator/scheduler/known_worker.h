#ifndef KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_
#define KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// The scheduler's state of one worker. BeginSession resets the fields that belong to a session.
class KnownWorker {
 public:
  void BeginSession(const v1::WorkerHello& hello, absl::Time now);
  void EndSession(absl::Time now);
  // Applies the worker's report of its credits and health. REQUIRES: IsCurrent(report).
  void Apply(const v1::WorkerReport& report, absl::Time now);
  // Returns false if a newer report of this session has already arrived.
  bool IsCurrent(const v1::WorkerReport& report) const;
  // Returns the number of the newest directive that the report reflects, at most the newest one
  // sent.
  int64_t AppliedSeq(const v1::WorkerReport& report) const;

  // Slots that the worker reported free, less the offers that the report does not reflect yet.
  // Never negative.
  int credits() const;
  // Connected, reporting, healthy, and neither leaving nor draining.
  bool willing() const;
  bool MayTakeAt(absl::Time now) const { return willing() && now >= rest_until && credits() > 0; }
  // Returns true if the worker announced that it leaves, or should have left by `now`: leases that
  // it holds then do not count as lost. After a restart, the last announcement holds until the
  // first report.
  bool IsLeaving(absl::Time now) const { return leaving_ || now >= leaves_at_; }
  // When the worker announced that it leaves, on the same clock as `now`; InfiniteFuture if it has
  // not.
  absl::Time leaves_at() const { return leaves_at_; }
  // Slots taken, according to the worker's last report.
  int busy() const { return busy_; }
  int free_slots() const { return willing() ? credits() : 0; }

  int64_t NextDirectiveSeq() { return ++directive_seq_; }
  void CountOffers(int64_t directive_seq, int offers) { uncovered_offers_[directive_seq] = offers; }
  // Notes that the worker let a lease expire: it gets no offers until it reports again.
  void MarkSilent() { silent_ = true; }
  // Frees the slot of an offer that the worker never acknowledged before the lease expired.
  void ForgetOffer(int64_t directive_seq);
  // Delays the next offers to a worker that returns jobs one after another, longer each time. The
  // same job coming back repeatedly counts once, because the job itself may be the cause.
  void CountReturn(const std::string& job_id, absl::Time now);
  void CountResult() { returns_in_a_row_ = 0; }

  const v1::WorkerHello& hello() const { return hello_; }
  bool connected() const { return connected_; }
  bool reported() const { return reported_; }  // in this session
  absl::Time last_seen() const { return last_seen_; }

  bool drain = false;       // asked to leave
  bool drain_sent = false;  // in this session
  std::optional<absl::Duration> drain_grace;
  absl::Time rest_until = absl::InfinitePast();

 private:
  v1::WorkerHello hello_;
  bool connected_ = false;
  bool reported_ = false;
  int64_t directive_seq_ = 0;
  int64_t applied_seq_ = 0;
  int free_slots_ = 0;
  bool healthy_ = true;
  bool leaving_ = false;  // as the worker announced
  absl::Time leaves_at_ = absl::InfiniteFuture();
  int busy_ = 0;
  bool silent_ = false;
  std::map<int64_t, int> uncovered_offers_;  // directive_seq -> number of offers
  int returns_in_a_row_ = 0;                 // since its last result
  std::string last_returned_;                // job_id
  absl::Time last_seen_ = absl::InfinitePast();
};

// How long a worker must wait after its `returns`-th return (from 1) before it is offered a job
// again: 1 s, doubled each time, at most a minute.
absl::Duration ReturnDelay(int returns);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_
