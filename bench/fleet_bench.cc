// ksearch_fleet_bench: a fleet at work for a while, with the real store (synchronous=FULL), gateway
// and gRPC service: does every job come home, by its first attempt, and does every worker stay?
// Runs submit jobs in turn, together for three quarters of what the workers can do. Prints one line
// for each minute, and one for the whole; exits with 1 if a lease, a worker or a job was lost.
//
//   ksearch_fleet_bench [seconds [workers [runs]]]

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/bench_numbers.h"
#include "bench/played_fleet.h"
#include "bench/served_gateway.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/mutex.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/store/store.h"

namespace ksearch {
namespace {

constexpr absl::Duration kJobTime = absl::Seconds(2);
constexpr double kLoad = 0.75;
// How often jobs are submitted: as many as are due.
constexpr absl::Duration kPace = absl::Milliseconds(10);
constexpr absl::Duration kLongestEnd = absl::Minutes(2);

struct Sizes {
  int seconds = 600;
  int workers = 1000;
  int runs = 50;
};

// The state of all jobs.
class Account {
 public:
  void Submitted(const std::string& job_id) {
    MutexLock lock(&mu_);
    open_[job_id] = SteadyNanos();
    ++submitted_;
  }
  void Take(const v1::JobResult& result) {
    int64_t offered = 0;
    CHECK(absl::SimpleAtoi(result.message(), &offered));
    MutexLock lock(&mu_);
    const auto job = open_.find(result.job_id());
    if (job == open_.end()) {
      ++doubled_;
      return;
    }
    latencies_ms_.push_back(static_cast<double>(offered - job->second) / 1e6);
    later_attempts_ += result.attempt() > 1;
    open_.erase(job);
    ++done_;
  }
  void Hear(const v1::FleetEvent& event) {
    MutexLock lock(&mu_);
    if (event.kind() == v1::FleetEvent::LEASE_ENDED) ++ended_[event.text().substr(0, 60)];
    if (event.kind() == v1::FleetEvent::WORKER_LEFT) ++left_;
  }
  int open() const {
    MutexLock lock(&mu_);
    return static_cast<int>(open_.size());
  }
  // One line for the time since the last call.
  void PrintMinute(double seconds) {
    MutexLock lock(&mu_);
    std::sort(latencies_ms_.begin(), latencies_ms_.end());
    std::printf(
        "results_per_s %.0f  dispatch_latency_ms p50 %.2f p99 %.2f  waiting_or_at_work %zu  "
        "leases_lost %d  workers_gone %d\n",
        static_cast<double>(latencies_ms_.size()) / seconds, QuantileOf(latencies_ms_, 0.5),
        QuantileOf(latencies_ms_, 0.99), open_.size(), Lost(), left_);
    latencies_ms_.clear();
  }
  // Returns true if nothing was lost.
  bool PrintWhole(const Sizes& sizes) {
    MutexLock lock(&mu_);
    std::string ends;
    for (const auto& [how, count] : ended_) absl::StrAppend(&ends, "; ", count, "x ", how);
    std::printf(
        "whole: %d s, %d workers of %d slots, %d runs: jobs asked for %d, results %d, doubled %d, "
        "missing %zu, results of a later attempt %d, leases that ended without a result %d%s, "
        "workers gone %d\n",
        sizes.seconds, sizes.workers, kPlayedSlots, sizes.runs, submitted_, done_, doubled_,
        open_.size(), later_attempts_, Lost(), ends.c_str(), left_);
    return open_.empty() && doubled_ == 0 && Lost() == 0 && left_ == 0;
  }

 private:
  int Lost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    int lost = 0;
    for (const auto& [how, count] : ended_) lost += count;
    return lost;
  }

  mutable Mutex mu_;
  std::unordered_map<std::string, int64_t> open_ ABSL_GUARDED_BY(mu_);  // since when
  std::vector<double> latencies_ms_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, int> ended_ ABSL_GUARDED_BY(mu_);  // by how, without a result
  int submitted_ ABSL_GUARDED_BY(mu_) = 0;
  int done_ ABSL_GUARDED_BY(mu_) = 0;
  int doubled_ ABSL_GUARDED_BY(mu_) = 0;
  int later_attempts_ ABSL_GUARDED_BY(mu_) = 0;
  int left_ ABSL_GUARDED_BY(mu_) = 0;
};

// Commits jobs and submits them, as runs do, at a pace.
class Asking {
 public:
  Asking(const Sizes& sizes, Store* store, WorkerGateway* gateway, Account* account)
      : sizes_(sizes), store_(store), gateway_(gateway), account_(account) {
    for (int t = 0; t < kThreads; ++t) threads_.emplace_back([this, t] { Loop(t); });
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  // Enough threads for the store to commit in groups.
  static constexpr int kThreads = 16;

  void Loop(int thread) {
    const double per_second =
        kLoad * sizes_.workers * kPlayedSlots / absl::ToDoubleSeconds(kJobTime) / kThreads;
    const int64_t begin = SteadyNanos();
    int asked = 0;
    while (true) {
      const double seconds = static_cast<double>(SteadyNanos() - begin) / 1e9;
      if (seconds >= sizes_.seconds) return;
      if (asked >= seconds * per_second) {
        absl::SleepFor(kPace);
        continue;
      }
      const int number = asked++ * kThreads + thread;
      const v1::JobSpec spec = PlayedSpec(absl::StrCat(number));
      const std::string job_id = JobId(spec);
      CHECK_OK(store_->AddJob(job_id, spec));
      account_->Submitted(job_id);
      gateway_->Submit(job_id, spec, 0, absl::StrCat("run", number % sizes_.runs));
    }
  }

  const Sizes sizes_;
  Store* const store_;
  WorkerGateway* const gateway_;
  Account* const account_;
  std::vector<std::thread> threads_;
};

bool BenchFleet(const Sizes& sizes) {
  Account account;
  ServedGateway served;
  WorkerGateway& gateway = served.gateway();
  gateway.SetResultListener([&](const v1::JobResult& result) { account.Take(result); });
  gateway.SetFleetListener([&](const v1::FleetEvent& event) { account.Hear(event); });
  const auto workers = StartPlayedFleet(served.Serve(), sizes.workers, gateway, kJobTime);
  Asking asking(sizes, &served.store(), &gateway, &account);
  const absl::Time end = absl::Now() + absl::Seconds(sizes.seconds);
  while (absl::Now() < end) {
    const absl::Duration part = std::min(absl::Minutes(1), end - absl::Now());
    absl::SleepFor(part);
    account.PrintMinute(absl::ToDoubleSeconds(part));
  }
  asking.Join();
  const absl::Time give_up = absl::Now() + kLongestEnd;
  while (account.open() > 0 && absl::Now() < give_up) absl::SleepFor(absl::Milliseconds(100));
  const bool good = account.PrintWhole(sizes);
  workers->Kill();
  return good;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  ksearch::SetMinimumLogLevel(ksearch::LogLevel::kWarning);
  ksearch::ServeAsPlayedFleet(argc, argv);
  ksearch::Sizes sizes;
  if (!ksearch::ReadCounts(argc, argv, {&sizes.seconds, &sizes.workers, &sizes.runs})) {
    std::fprintf(stderr, "usage: ksearch_fleet_bench [seconds [workers [runs]]]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return ksearch::BenchFleet(sizes) ? 0 : 1;
}
