#ifndef KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_
#define KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// What the scheduler knows of one worker. BeginSession resets the fields of a session.
class KnownWorker {
 public:
  void BeginSession(const v1::WorkerHello& hello, absl::Time now);
  void EndSession(absl::Time now);
  // Takes the worker's word on credits and health. REQUIRES: IsCurrent(report).
  void Fold(const v1::WorkerReport& report, absl::Time now);
  // False for a report overtaken by a newer one of the session.
  bool IsCurrent(const v1::WorkerReport& report) const;
  // The newest directive the report covers; never more than was sent.
  int64_t AppliedSeq(const v1::WorkerReport& report) const;

  // Slots the worker reported free, less offers it may not have counted yet. Never negative.
  int credits() const;
  // Connected, talking, healthy, staying.
  bool willing() const;
  bool MayTakeAt(absl::Time now) const { return willing() && now >= rest_until && credits() > 0; }
  // It said that it leaves, or should have left by `now`: what it has then is not lost. Until
  // its first report after a restart: what it said before.
  bool IsLeaving(absl::Time now) const { return leaving_ || now >= leaves_at_; }
  // When it says that it leaves, on the clock of `now`; InfiniteFuture: not known.
  absl::Time leaves_at() const { return leaves_at_; }
  // Slots that are taken, by its last report.
  int busy() const { return busy_; }
  int free_slots() const { return willing() ? credits() : 0; }

  int64_t NextDirectiveSeq() { return ++directive_seq_; }
  void CountOffers(int64_t directive_seq, int offers) { uncovered_offers_[directive_seq] = offers; }
  // It let a lease run out: nothing more for it until it reports.
  void MarkSilent() { silent_ = true; }
  // An offer that was never acknowledged in all its time holds its slot no longer.
  void ForgetOffer(int64_t directive_seq);
  // A worker that returns job after job rests, longer each time. One job that comes back again and
  // again counts once: it may be the job's own trouble.
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
  bool leaving_ = false;  // the worker's own wish
  absl::Time leaves_at_ = absl::InfiniteFuture();
  int busy_ = 0;
  bool silent_ = false;
  std::map<int64_t, int> uncovered_offers_;  // directive_seq -> how many
  int returns_in_a_row_ = 0;                 // since its last result
  std::string last_returned_;                // job_id
  absl::Time last_seen_ = absl::InfinitePast();
};

// How long after its `returns`-th return (from 1) a worker must wait before it may try again:
// 1 s, doubled each time, at most a minute.
absl::Duration ReturnDelay(int returns);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_KNOWN_WORKER_H_
