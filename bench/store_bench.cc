// Durable results per second: posters call RecordResult as workers do, one result in flight each,
// on a database with synchronous=FULL, and wait for the acknowledgment.
//   ksearch_store_bench [FOLDER [JOBS [POSTERS]]]    default: a temporary folder, 10000, 64
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mutex.h"
#include "coordinator/store/store.h"

namespace ksearch {
namespace {

// Raw samples make up most of a screening result: 230 of 8 bytes and the rest is about 2 kB.
v1::JobResult TypicalResult(const std::string& job_id) {
  v1::JobResult result;
  result.set_job_id(job_id);
  result.set_worker_id("w1");
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_outcome(v1::OUTCOME_PASSED);
  for (int i = 0; i < 230; ++i) workload->mutable_candidate()->add_latency_us(100 + i * 0.01);
  return result;
}

// A poster's one result in flight.
class Acknowledgment {
 public:
  void Arrive(bool ok) {
    MutexLock lock(&mu_);
    CHECK(ok);
    arrived_ = true;
    changed_.NotifyAll();
  }
  void Await() {
    MutexLock lock(&mu_);
    while (!arrived_) changed_.Wait(&mu_);
    arrived_ = false;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool arrived_ ABSL_GUARDED_BY(mu_) = false;
};

void Measure(const std::string& folder, int jobs, int posters) {
  Store::Options options;
  options.path = folder + "/bench.db";
  auto opened = Store::Open(options);
  CHECK_OK(opened.status());
  Store& store = **opened;
  RunRow run;
  run.run_id = "bench";
  CHECK_OK(store.CreateRun(run).status());
  StepCommit step;
  step.run_id = "bench";
  v1::JobSpec spec;
  spec.mutable_candidate()->add_files()->set_content(std::string(500, 'x'));
  for (int i = 0; i < jobs; ++i) {
    const std::string id = absl::StrCat("job-", i);
    step.jobs.push_back({id, spec, id});
  }
  CHECK_OK(store.CommitStep(step));

  const Clock& clock = Clock::Real();
  std::vector<double> acknowledged_us(jobs);
  std::atomic<int> next{0};
  const absl::Time start = clock.SteadyNow();
  std::vector<std::thread> threads;
  for (int p = 0; p < posters; ++p) {
    threads.emplace_back([&] {
      Acknowledgment acknowledgment;
      for (int i = next++; i < jobs; i = next++) {
        const v1::JobResult result = TypicalResult(absl::StrCat("job-", i));
        const absl::Time posted = clock.SteadyNow();
        store.RecordResult(result, "", [&acknowledgment](auto disposition) {
          acknowledgment.Arrive(disposition.ok() &&
                                *disposition == v1::RecordResultReply::RECORDED);
        });
        acknowledgment.Await();
        acknowledged_us[i] = absl::ToDoubleMicroseconds(clock.SteadyNow() - posted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(clock.SteadyNow() - start);
  std::sort(acknowledged_us.begin(), acknowledged_us.end());
  std::printf(
      "results=%d posters=%d bytes_per_result=%zu results_per_second=%.0f "
      "ack_p50_ms=%.2f ack_p99_ms=%.2f ack_max_ms=%.2f\n",
      jobs, posters, TypicalResult("job-00000").ByteSizeLong(), jobs / seconds,
      acknowledged_us[jobs / 2] / 1e3, acknowledged_us[jobs * 99 / 100] / 1e3,
      acknowledged_us.back() / 1e3);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  int jobs = 10'000;
  int posters = 64;
  if ((argc > 2 && (!absl::SimpleAtoi(argv[2], &jobs) || jobs < 1)) ||
      (argc > 3 && (!absl::SimpleAtoi(argv[3], &posters) || posters < 1)) || argc > 4) {
    std::fprintf(stderr, "usage: %s [FOLDER [JOBS [POSTERS]]]\n", argv[0]);
    return 2;
  }
  const std::string parent = argc > 1 ? argv[1] : std::filesystem::temp_directory_path().string();
  std::string folder = parent + "/store_bench_XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 1;
  }
  ksearch::Measure(folder, jobs, posters);
  std::filesystem::remove_all(folder);
  return 0;
}
