// ksearch_dispatch_bench: how fast jobs go out and results come home, with the real store
// (synchronous=FULL), gateway and gRPC service, and trivial workers in another process on loopback.
// Prints one line per figure.
//
//   ksearch_dispatch_bench [jobs [workers [runs]]]
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/bench_numbers.h"
#include "bench/played_fleet.h"
#include "bench/served_gateway.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/subprocess.h"
#include "coordinator/scheduler/job_scheduler.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/store/store.h"

namespace ksearch {
namespace {

constexpr int kIdleWorkers = 512;
constexpr int kLatencyJobs = 1000;
constexpr absl::Duration kLatencyPace = absl::Milliseconds(5);
constexpr int kPureWorkers = 64;
constexpr int kPureJobs = 200'000;

struct Sizes {
  int jobs = 10'000;
  int workers = 64;  // that have jobs
  int runs = 1;      // that ask for them in turn
};

// The processor time of this process: other programs on the machine do not count.
int64_t CpuNanos() {
  timespec used = {};
  CHECK(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

int64_t ResidentKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

// Waits for results and keeps the latency of each: submitted -> offer received.
class Results {
 public:
  void Submitted(const std::string& job_id) {
    MutexLock lock(&mu_);
    submitted_[job_id] = SteadyNanos();
  }
  void Take(const v1::JobResult& result) {
    int64_t received = 0;
    CHECK(absl::SimpleAtoi(result.message(), &received));
    MutexLock lock(&mu_);
    latencies_ms_.push_back(static_cast<double>(received - submitted_[result.job_id()]) / 1e6);
    changed_.NotifyAll();
  }
  void WaitFor(size_t count) {
    MutexLock lock(&mu_);
    while (latencies_ms_.size() < count) changed_.Wait(&mu_);
  }
  // The latencies so far, sorted; the list is empty afterwards.
  std::vector<double> TakeLatencies() {
    MutexLock lock(&mu_);
    std::vector<double> latencies = std::move(latencies_ms_);
    latencies_ms_.clear();
    std::sort(latencies.begin(), latencies.end());
    return latencies;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::map<std::string, int64_t> submitted_ ABSL_GUARDED_BY(mu_);
  std::vector<double> latencies_ms_ ABSL_GUARDED_BY(mu_);
};

std::vector<v1::JobSpec> AddJobs(Store* store, const std::string& name, int count) {
  std::vector<v1::JobSpec> specs;
  for (int i = 0; i < count; ++i) specs.push_back(PlayedSpec(absl::StrCat(name, i)));
  // Many at once, so that the store can group them.
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = static_cast<size_t>(t); i < specs.size(); i += 32) {
        CHECK_OK(store->AddJob(JobId(specs[i]), specs[i]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return specs;
}

// A scheduler on a stopped clock, and workers that are done with a job as soon as they
// are offered it.
class InstantFleet {
 public:
  explicit InstantFleet(int workers) : reports_(static_cast<size_t>(workers)) {
    for (int i = 0; i < workers; ++i) {
      scheduler_->Hello(PlayedHelloOf(i), now_);
      ids_.push_back(PlayedHelloOf(i).worker_id());
      reports_[static_cast<size_t>(i)].set_free_slots(kPlayedSlots);
    }
    worked_.set_outcome(v1::OUTCOME_PASSED);
    worked_.add_workloads();
  }

  JobScheduler& scheduler() { return *scheduler_; }
  absl::Time now() const { return now_; }

  // Each worker reports once. `ended` is called after each job.
  void Round(const std::function<void()>& ended) {
    for (size_t w = 0; w < ids_.size(); ++w) {
      v1::WorkerDown down;
      scheduler_->Sync(ids_[w], reports_[w], now_, &down);
      if (down.directive_seq() > 0) reports_[w].set_applied_directive_seq(down.directive_seq());
      for (const v1::JobOffer& offer : down.offers()) {
        // Until a task is known to work, the scheduler offers only one of its jobs at a time.
        scheduler_->NoteResult(offer.job_id(), worked_);
        scheduler_->MarkDone(offer.job_id(), offer.lease_id());
        ended();
      }
    }
  }

 private:
  static std::unique_ptr<JobScheduler> Make() {
    JobScheduler::Options options;
    options.epoch = "e";
    return MakeJobScheduler(options);
  }

  const absl::Time now_ = absl::UnixEpoch();
  const std::unique_ptr<JobScheduler> scheduler_ = Make();
  std::vector<std::string> ids_;
  std::vector<v1::WorkerReport> reports_;
  v1::JobResult worked_;
};

// The decisions of a job's life for a fleet of this size: submitted, offered and done. Twice as
// many jobs as slots wait at any time, from 50 runs, so that no worker is idle.
void BenchDecisions(int workers) {
  constexpr int kRuns = 50;
  InstantFleet fleet(workers);
  const v1::JobSpec spec = PlayedSpec("decisions");
  int submitted = 0, done = 0;
  const auto submit = [&] {
    fleet.scheduler().SubmitFor(absl::StrCat("run", submitted % kRuns), absl::StrCat(submitted),
                                spec, 0, fleet.now());
    ++submitted;
  };
  const int waiting = 2 * workers * kPlayedSlots;
  const int jobs = std::max(4 * waiting, 50'000);
  const int64_t begin = CpuNanos();
  while (submitted < waiting) submit();
  while (done < jobs) {
    fleet.Round([&] {
      ++done;
      if (submitted < jobs) submit();
    });
  }
  std::printf("decision_us %.2f (submit + offer + done in processor time, %d workers, %d jobs)\n",
              static_cast<double>(CpuNanos() - begin) / 1e3 / done, workers, done);
}

void BenchPureScheduler() {
  InstantFleet fleet(kPureWorkers);
  const v1::JobSpec spec = PlayedSpec("pure");
  const int64_t begin = SteadyNanos();
  for (int i = 0; i < kPureJobs; ++i) {
    fleet.scheduler().Submit(absl::StrCat(i), spec, 0, fleet.now());
  }
  int done = 0;
  while (done < kPureJobs) fleet.Round([&] { ++done; });
  const double seconds = static_cast<double>(SteadyNanos() - begin) / 1e9;
  std::printf("scheduler_decisions_per_s %.0f (submit + offer + done, %d workers, no I/O)\n",
              kPureJobs / seconds, kPureWorkers);
}

void BenchDispatch(const Sizes& sizes) {
  Results results;
  ServedGateway served;
  WorkerGateway& gateway = served.gateway();
  gateway.SetResultListener([&](const v1::JobResult& result) { results.Take(result); });
  const std::string address = served.Serve();

  const int64_t before = ResidentKilobytes();
  {
    const auto idle = StartPlayedFleet(address, kIdleWorkers, gateway);
    std::printf("memory_per_idle_worker_kb %.1f (%d workers)\n",
                static_cast<double>(ResidentKilobytes() - before) / kIdleWorkers, kIdleWorkers);
  }
  while (ConnectedWorkers(gateway) > 0) absl::SleepFor(absl::Milliseconds(5));

  const auto workers = StartPlayedFleet(address, sizes.workers, gateway);
  int submitted = 0;
  const auto submit = [&](const v1::JobSpec& spec) {
    const std::string job_id = JobId(spec);
    results.Submitted(job_id);
    gateway.Submit(job_id, spec, 0, absl::StrCat("run", submitted++ % sizes.runs));
  };

  const std::vector<v1::JobSpec> paced = AddJobs(&served.store(), "paced", kLatencyJobs);
  for (const v1::JobSpec& spec : paced) {
    submit(spec);
    absl::SleepFor(kLatencyPace);
  }
  results.WaitFor(paced.size());
  const std::vector<double> latencies = results.TakeLatencies();
  std::printf(
      "dispatch_latency_ms p50 %.2f p99 %.2f (submit to offer received, %d idle workers, "
      "%.0f jobs/s)\n",
      QuantileOf(latencies, 0.5), QuantileOf(latencies, 0.99), sizes.workers,
      1.0 / absl::ToDoubleSeconds(kLatencyPace));

  const std::vector<v1::JobSpec> burst = AddJobs(&served.store(), "burst", sizes.jobs);
  const int64_t cpu_begin = CpuNanos();
  const int64_t begin = SteadyNanos();
  for (const v1::JobSpec& spec : burst) submit(spec);
  results.WaitFor(burst.size());
  const double cpu_us = static_cast<double>(CpuNanos() - cpu_begin) / 1e3 / sizes.jobs;
  const double seconds = static_cast<double>(SteadyNanos() - begin) / 1e9;
  std::printf(
      "durable_results_per_s %.0f (%d jobs of %d runs, %d workers of %d slots, "
      "synchronous=FULL)\n",
      static_cast<double>(sizes.jobs) / seconds, sizes.jobs, sizes.runs, sizes.workers,
      kPlayedSlots);
  std::printf("coordinator_cpu_us_per_result %.0f (of this process, on all its threads)\n", cpu_us);

  workers->Kill();
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  ksearch::SetMinimumLogLevel(ksearch::LogLevel::kWarning);
  ksearch::ServeAsPlayedFleet(argc, argv);
  ksearch::Sizes sizes;
  if (!ksearch::ReadCounts(argc, argv, {&sizes.jobs, &sizes.workers, &sizes.runs})) {
    std::fprintf(stderr, "usage: ksearch_dispatch_bench [jobs [workers [runs]]]\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  ksearch::BenchPureScheduler();
  for (const int workers : {100, 300, 1'000, 3'000, 10'000}) ksearch::BenchDecisions(workers);
  ksearch::BenchDispatch(sizes);
  return 0;
}
