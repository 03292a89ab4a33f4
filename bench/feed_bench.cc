// The cost of following runs: by polling the store, as WatchRun did, and by the event feed. Runs
// take steps at the same pace in every phase; the processor time of a phase without watchers is
// subtracted. Streams to clients are not included.
//   ksearch_feed_bench [RUNS [WATCHERS [SECONDS]]]    default: 50 runs, 4 watchers each, 5 s a
//   phase
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/bench_numbers.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/store/store.h"

namespace ksearch {
namespace {

constexpr size_t kStateBytes = 1 << 20;  // of a run of some hundred rounds
constexpr int kStepsPerSecond = 20;      // of all runs together
constexpr int kEventsPerStep = 3;
constexpr int kRepetitions = 3;
constexpr absl::Duration kPollInterval = absl::Milliseconds(100);

absl::Duration ProcessorTime() {
  struct rusage usage = {};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

// What polling watchers waited for: every step of any run wakes them.
class StepWatch {
 public:
  void Notify() {
    MutexLock lock(&mu_);
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(&mu_);
    changed_.WaitFor(&mu_, kPollInterval);
  }

 private:
  Mutex mu_;
  CondVar changed_;
};

struct Figures {
  absl::Duration processor_time;
  int64_t run_reads = 0;
  std::vector<double> delays_ms;  // from the event's time to its watcher
};

class Bench {
 public:
  Bench(const std::string& folder, int runs, int watchers, absl::Duration phase)
      : runs_(runs), watchers_(watchers), phase_(phase) {
    Store::Options options;
    options.path = folder + "/bench.db";
    auto store = Store::Open(options);
    CHECK_OK(store.status());
    store_ = *std::move(store);
    store_->SetEventListener([this](const std::vector<v1::FeedEntry>& entries) {
      feed_.Publish(entries);
      steps_.Notify();
    });
    for (int i = 0; i < runs_; ++i) {
      RunRow run;
      run.run_id = Name(i);
      CHECK_OK(store_->CreateRun(run).status());
    }
  }

  enum class Way { kNobody, kPolling, kFeed };
  Figures Measure(Way way) {
    stop_ = false;
    run_reads_ = 0;
    std::vector<std::vector<double>> delays(static_cast<size_t>(runs_ * watchers_));
    std::vector<std::thread> threads;
    const absl::Duration before = ProcessorTime();
    for (size_t i = 0; way != Way::kNobody && i < delays.size(); ++i) {
      const std::string run_id = Name(static_cast<int>(i) % runs_);
      threads.emplace_back([this, way, run_id, mine = &delays[i]] {
        way == Way::kPolling ? Poll(run_id, mine) : Follow(run_id, mine);
      });
    }
    TakeSteps();
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    Figures figures;
    figures.processor_time = ProcessorTime() - before;
    figures.run_reads = run_reads_;
    for (const auto& some : delays) {
      figures.delays_ms.insert(figures.delays_ms.end(), some.begin(), some.end());
    }
    std::sort(figures.delays_ms.begin(), figures.delays_ms.end());
    return figures;
  }

 private:
  static std::string Name(int run) { return absl::StrCat("run-", run); }

  void TakeSteps() {
    const Clock& clock = Clock::Real();
    const int steps = static_cast<int>(absl::ToDoubleSeconds(phase_) * kStepsPerSecond);
    const absl::Time start = clock.SteadyNow();
    StepCommit step;
    step.state = std::string(kStateBytes, 's');
    for (int i = 0; i < steps; ++i) {
      step.run_id = Name(i % runs_);
      step.events.clear();
      for (int e = 0; e < kEventsPerStep; ++e) {
        v1::RunEvent& event = step.events.emplace_back();
        event.set_text("round 12: candidate passed, 1.83x of the baseline");
        *event.mutable_at() = ToProto(clock.Now());
      }
      CHECK_OK(store_->CommitStep(step));
      const absl::Duration ahead =
          (i + 1) * absl::Seconds(1) / kStepsPerSecond - (clock.SteadyNow() - start);
      if (ahead > absl::ZeroDuration()) absl::SleepFor(ahead);
    }
  }

  static void Note(const v1::RunEvent& event, std::vector<double>* delays) {
    delays->push_back(absl::ToDoubleMilliseconds(Clock::Real().Now() - FromProto(event.at())));
  }

  void Poll(const std::string& run_id, std::vector<double>* delays) {
    int64_t after = store_->ReadRun(run_id)->status.last_event_seq();
    while (!stop_) {
      CHECK_OK(store_->ReadRun(run_id).status());
      ++run_reads_;
      const auto events = store_->ReadEvents(run_id, after, 1000);
      CHECK_OK(events.status());
      for (const v1::RunEvent& event : *events) {
        Note(event, delays);
        after = event.seq();
      }
      if (events->empty()) steps_.Wait();
    }
  }

  void Follow(const std::string& run_id, std::vector<double>* delays) {
    const auto subscription = feed_.Subscribe({.runs = true, .run_id = run_id, .fleet = false});
    while (!stop_) {
      const EventFeed::Batch batch = subscription->Next(absl::Milliseconds(250));
      CHECK(!batch.missed);
      for (const auto& entry : batch.entries) Note(entry->run().event(), delays);
    }
  }

  const int runs_;
  const int watchers_;
  const absl::Duration phase_;
  EventFeed feed_;
  StepWatch steps_;
  std::unique_ptr<Store> store_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> run_reads_{0};
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Print(const char* name, double share, const Figures& figures) {
  const std::vector<double>& delays = figures.delays_ms;
  const auto at = [&](double part) {
    return delays.empty() ? 0 : delays[static_cast<size_t>(part * (delays.size() - 1))];
  };
  std::printf(
      "%-8s processor_percent=%.1f run_reads=%lld events=%zu delay_p50_ms=%.2f delay_p99_ms=%.2f\n",
      name, share, static_cast<long long>(figures.run_reads), delays.size(), at(0.5), at(0.99));
}

void Run(const std::string& folder, int runs, int watchers, int seconds) {
  Bench bench(folder, runs, watchers, absl::Seconds(seconds));
  (void)bench.Measure(Bench::Way::kNobody);  // the first one fills the file
  std::vector<double> polling, feed;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto share = [&](const Figures& figures) {
      return 100 * absl::FDivDuration(figures.processor_time, absl::Seconds(seconds));
    };
    const Figures nobody = bench.Measure(Bench::Way::kNobody);
    const Figures polled = bench.Measure(Bench::Way::kPolling);
    const Figures fed = bench.Measure(Bench::Way::kFeed);
    Print("nobody", share(nobody), nobody);
    Print("polling", share(polled), polled);
    Print("feed", share(fed), fed);
    polling.push_back(share(polled) - share(nobody));
    feed.push_back(share(fed) - share(nobody));
  }
  std::printf(
      "runs=%d watchers=%d: beyond nobody, medians of %d: polling %.1f %% of a core, feed %.1f "
      "%%\n",
      runs, runs * watchers, kRepetitions, Median(polling), Median(feed));
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  int numbers[] = {50, 4, 5};
  if (!ksearch::ReadCounts(argc, argv, {&numbers[0], &numbers[1], &numbers[2]})) {
    std::fprintf(stderr, "usage: %s [RUNS [WATCHERS [SECONDS]]]\n", argv[0]);
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "feed_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  ksearch::Run(folder, numbers[0], numbers[1], numbers[2]);
  std::filesystem::remove_all(folder);
  return 0;
}
