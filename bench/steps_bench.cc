// How long the steps of many searches wait for the store: real searches by world_model on a
// landscape, the real registry, calls and SQLite at synchronous=FULL. The model is simulated in
// this process, and so are the measurements; each takes about the given time, so that CYCLES cycles
// are in flight.
//   ksearch_steps_bench [RUNS [CYCLES [SECONDS [REPLY_SECONDS]]]]     default: 50 runs, 16, 60 s, 4
//   s
// With REPLY_SECONDS 0 everything is answered at once, and the steps wait for the processor
// only.
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/bench_numbers.h"
#include "bench/watched_store.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/unique_fd.h"
#include "coordinator/engine/run_registry.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"
#include "coordinator/tasks/directory_suite.h"
#include "tests/integration/landscape_search.h"

namespace ksearch {
namespace {

constexpr double kEvaluationShare = 0.25;  // of REPLY_SECONDS
constexpr int kRounds = 1'000'000;
constexpr int kMostWarmup = 90;  // seconds
constexpr char kTask[] = "tunable_scale_f32";

struct Sizes {
  int runs = 50;
  int cycles = 16;
  int seconds = 60;
  double reply_seconds = 4;
};

// Calls functions later, on its own threads.
class Later {
 public:
  explicit Later(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Serve(); });
  }
  ~Later() {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

  void Do(absl::Duration delay, std::function<void()> what) {
    MutexLock lock(&mu_);
    due_.push({Clock::Real().SteadyNow() + delay, ++order_, std::move(what)});
    changed_.NotifyOne();
  }

 private:
  struct Due {
    absl::Time at;
    int64_t order = 0;
    std::function<void()> what;
    bool operator<(const Due& other) const {
      return std::pair(at, order) > std::pair(other.at, other.order);
    }
  };

  void Serve() {
    while (true) {
      std::function<void()> what;
      {
        MutexLock lock(&mu_);
        while (!stopping_ && (due_.empty() || due_.top().at > Clock::Real().SteadyNow())) {
          const absl::Duration wait =
              due_.empty() ? absl::Seconds(1) : due_.top().at - Clock::Real().SteadyNow();
          changed_.WaitFor(&mu_, wait);
        }
        if (stopping_) return;
        what = due_.top().what;
        due_.pop();
      }
      what();
    }
  }

  Mutex mu_;
  CondVar changed_;
  std::priority_queue<Due> due_ ABSL_GUARDED_BY(mu_);
  int64_t order_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

class PlayedModel final : public LlmClient {
 public:
  PlayedModel(const LandscapePlayer& player, double seconds, Later* later)
      : player_(player), seconds_(seconds), later_(later) {}

  void Complete(LlmRequest request, Done done) override {
    auto answer = std::make_shared<Done>(std::move(done));
    // Half to one and a half times the mean, so that replies do not come in waves.
    const double spread =
        0.5 + static_cast<double>(std::hash<std::string>()(request.call_id) % 1000) / 1000;
    later_->Do(absl::Seconds(seconds_ * spread),
               [this, request = std::move(request), answer = std::move(answer)] {
                 LlmReply reply;
                 reply.text = player_.Answer({request.call_id, request.system, request.user}).text;
                 reply.finish_reason = "stop";
                 reply.model = "played";
                 (*answer)(std::move(reply));
               });
  }

 private:
  const LandscapePlayer& player_;
  const double seconds_;
  Later* const later_;
};

class PlayedWorkers final : public JobSink {
 public:
  PlayedWorkers(Store* store, const LandscapePlayer& player, const v1::Task& task, double seconds,
                Later* later)
      : store_(store), player_(player), task_(task), seconds_(seconds), later_(later) {}

  void Submit(const std::string& /*run_id*/, const std::string& job_id,
              const v1::JobSpec& spec) override {
    later_->Do(absl::Seconds(seconds_), [this, job_id, spec] {
      v1::JobResult result = Measured(spec);
      result.set_job_id(job_id);
      result.set_attempt(1);
      store_->RecordResult(result, "lease of " + job_id, [](const auto&) {});
    });
  }
  void CancelQueued(const std::string& /*job_id*/) override {}

 private:
  v1::JobResult Measured(const v1::JobSpec& spec) const {
    v1::JobResult result;
    if (spec.candidate().files_size() > 0) {
      auto played = PlayedScreening(player_.landscape(), task_, spec.candidate(), 1, 1);
      if (played.has_value()) result = *std::move(played);
    }
    if (result.outcome() == v1::OUTCOME_UNSPECIFIED) result.set_outcome(v1::OUTCOME_PASSED);
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result.add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      comparison->set_verdict(v1::Comparison::IMPROVED);
      comparison->set_log_speedup(0.1);
      comparison->set_ci_low(0.09);
      comparison->set_ci_high(0.11);
    }
    return result;
  }

  Store* const store_;
  const LandscapePlayer& player_;
  const v1::Task& task_;
  const double seconds_;
  Later* const later_;
};

double ProcessorSeconds() {
  timespec used = {};
  CHECK(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

int CyclesInFlight(Store* store) {
  int cycles = 0;
  const std::vector<v1::RunStatus> runs = store->ListRuns().value();
  for (const v1::RunStatus& status : runs) {
    CHECK(status.state() == v1::RUN_STATE_RUNNING);
    cycles += status.cycles_size();
  }
  return cycles;
}

// Measures ten times a second how long the disk takes for the least that a commit needs.
class DiskProbe {
 public:
  explicit DiskProbe(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
        thread_([this] { Probe(); }) {
    CHECK(fd_.ok());
  }
  ~DiskProbe() { Take(); }

  std::vector<double> Take() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    return std::move(milliseconds_);
  }

 private:
  void Probe() {
    const std::string block(4096, 'x');
    while (!stopping_) {
      const absl::Time start = Clock::Real().SteadyNow();
      CHECK(::pwrite(fd_.get(), block.data(), block.size(), 0) == 4096 && ::fsync(fd_.get()) == 0);
      milliseconds_.push_back(absl::ToDoubleMilliseconds(Clock::Real().SteadyNow() - start));
      absl::SleepFor(absl::Milliseconds(100));
    }
  }

  const UniqueFd fd_;
  std::atomic<bool> stopping_ = false;
  std::vector<double> milliseconds_;
  std::thread thread_;  // last: uses the rest
};

void Print(const char* what, std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto at = [&](double share) {
    return milliseconds[static_cast<size_t>(share * static_cast<double>(milliseconds.size() - 1))];
  };
  const auto late =
      milliseconds.end() - std::upper_bound(milliseconds.begin(), milliseconds.end(), 100.0);
  std::printf("%s: p50 %.2f ms, p99 %.2f ms, p99.9 %.2f ms, longest %.2f ms; %d over 100 ms\n",
              what, at(0.5), at(0.99), at(0.999), milliseconds.back(), static_cast<int>(late));
}

void Measure(const Sizes& sizes, const std::string& source, const std::string& folder) {
  const std::string landscapes = source + "/configs/demo/landscapes/";
  const LandscapePlayer player(Landscape::Load(landscapes + "smooth.landscape.textproto").value());
  const auto tasks = MakeDirectorySuite({landscapes + "tasks"}).value();
  const v1::Task task = tasks->Load(kTask).value();
  Store::Options options;
  options.path = folder + "/steps.db";
  WatchedStore store(Store::Open(options).value());
  Later later(2);
  PlayedWorkers workers(&store, player, task, kEvaluationShare * sizes.reply_seconds, &later);
  std::vector<ModelCaller::Provider> providers;
  ModelCaller::Provider& provider = providers.emplace_back();
  provider.name = "played";
  provider.default_model = "played";
  provider.client = std::make_unique<PlayedModel>(player, sizes.reply_seconds, &later);
  provider.unlimited = true;
  ModelCaller models(&store, Clock::Real(), std::move(providers));
  const PriceBook prices;
  RunRegistry runs(RunRegistry::Parts{
      &store, &workers, &models, tasks.get(), &Clock::Real(), v1::RunConfig(),
      [](v1::DeviceClass, const std::string&) { return "a played machine"; }, &prices});
  store.SetArrivalListener([&](const std::string& run_id) { runs.Wake(run_id); });
  for (int i = 1; i <= sizes.runs; ++i) {
    v1::RunConfig config;
    config.set_task(kTask);
    config.set_provider("played");
    config.set_language(v1::LANGUAGE_CPP);
    config.set_rounds(kRounds);
    config.set_parallel(sizes.cycles);
    config.set_seed(static_cast<uint64_t>(i));
    config.set_any_device(true);
    CHECK_OK(runs.Start(absl::StrCat("request ", i), config).status());
  }
  // Until all have their trees and cycles, as far as a tree has that many intents.
  int cycles = 0;
  for (int tries = 0; cycles < sizes.runs * sizes.cycles && tries < kMostWarmup; ++tries) {
    absl::SleepFor(absl::Seconds(1));
    cycles = CyclesInFlight(&store);
  }
  DiskProbe probe(folder + "/probe");
  store.TakeWaits();
  const double processor = ProcessorSeconds();
  const absl::Time start = Clock::Real().SteadyNow();
  absl::SleepFor(absl::Seconds(sizes.seconds));
  const double seconds = absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start);
  const double used = ProcessorSeconds() - processor;
  const std::vector<WatchedStore::Wait> waits = store.TakeWaits();
  std::vector<double> syncs = probe.Take();
  CHECK(!waits.empty());
  int programs = 0;
  const std::vector<v1::RunStatus> standing = store.ListRuns().value();
  for (const v1::RunStatus& status : standing) programs += status.candidates();
  cycles = CyclesInFlight(&store);
  std::printf(
      "%d runs, %d cycles in flight, %d programs so far: %d steps in %.0f s, %.0f a second, "
      "%.0f %% of a core\n",
      sizes.runs, cycles, programs, static_cast<int>(waits.size()), seconds,
      static_cast<double>(waits.size()) / seconds, 100 * used / seconds);
  std::vector<double> commits, all;
  for (const WatchedStore::Wait& wait : waits) {
    commits.push_back(absl::ToDoubleMilliseconds(wait.commit));
    all.push_back(absl::ToDoubleMilliseconds(wait.commit + wait.reads));
  }
  Print("a step waits for its commit", std::move(commits));
  Print("with all that it reads", std::move(all));
  Print("meanwhile, 4 KiB written and synced beside it", std::move(syncs));
}

int Run(const Sizes& sizes) {
  const char* const source = std::getenv("KSEARCH_SOURCE_DIR");
  std::string folder =
      (std::filesystem::temp_directory_path() / "ksearch_steps_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  Measure(sizes, source == nullptr ? "." : source, folder);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  ksearch::Sizes sizes;
  bool good = argc <= 5 && ksearch::ReadCounts(std::min(argc, 4), argv,
                                               {&sizes.runs, &sizes.cycles, &sizes.seconds});
  if (good && argc == 5) {
    good = absl::SimpleAtod(argv[4], &sizes.reply_seconds) && sizes.reply_seconds >= 0 &&
           sizes.reply_seconds <= 3600;
  }
  if (good) return ksearch::Run(sizes);
  std::fprintf(stderr, "usage: %s [RUNS [CYCLES [SECONDS [REPLY_SECONDS]]]]\n", argv[0]);
  return 2;
}
