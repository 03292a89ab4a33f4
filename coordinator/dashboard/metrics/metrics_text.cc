#include "coordinator/dashboard/metrics/metrics_text.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/disk_space.h"
#include "common/run_facts.h"
#include "common/textproto.h"
#include "coordinator/dashboard/metrics/prometheus_text.h"

namespace ksearch::dashboard {
namespace {

constexpr double kNano = 1e-9;

// NVML's event reasons that lower clocks, from NVIDIA's NVML API reference: the software
// power cap; slowdowns by heat, of software and of hardware; hardware slowdown and power brake.
constexpr std::pair<const char*, uint64_t> kThrottleReasons[] = {
    {"power", 0x4}, {"thermal", 0x20 | 0x40}, {"hardware", 0x8 | 0x80}};

// "PASSED" -> "passed"
std::string Word(absl::string_view name, absl::string_view prefix) {
  absl::ConsumePrefix(&name, prefix);
  return absl::AsciiStrToLower(name);
}

std::string GpuOf(const v1::WorkerStatus& worker) {
  for (const v1::DeviceCapability& device : worker.hello().devices()) {
    if (!device.build_only()) return device.fingerprint().name();
  }
  return "none";
}

std::string StateOf(const v1::WorkerStatus& worker) {
  if (!worker.connected()) return "gone";
  if (worker.report().draining()) return "draining";
  if (worker.report().has_health() && !worker.report().health().healthy()) return "sick";
  return "ready";
}

void AddJobs(const v1::ListJobsReply& jobs, PrometheusText* text) {
  std::map<std::string, std::pair<int, int>> by_gpu;  // waiting, with a worker
  for (const v1::JobSummary& job : jobs.jobs()) {
    const std::string& model = job.platform().device_model();
    auto& counts = by_gpu[model.empty() ? "any" : model];
    counts.first += job.state() == v1::JobSummary::QUEUED;
    counts.second += job.state() == v1::JobSummary::LEASED;
  }
  if (by_gpu.empty()) by_gpu["any"] = {0, 0};
  text->Family("ks_queue_depth", "gauge", "Jobs that wait for a worker, by the device they need.");
  for (const auto& [gpu, counts] : by_gpu) text->Sample({{"gpu", gpu}}, counts.first);
  text->Family("ks_jobs_leased", "gauge", "Jobs that are with a worker, by the device they need.");
  for (const auto& [gpu, counts] : by_gpu) text->Sample({{"gpu", gpu}}, counts.second);
}

// The demand, for other autoscalers (KEDA, a script).
void AddDemand(const v1::DemandReply& reply, PrometheusText* text) {
  const auto labels = [](const v1::Demand& demand) {
    const v1::WorkerRequirement& needs = demand.requirement();
    std::vector<std::string> languages;
    for (const int language : needs.languages()) {
      languages.push_back(
          Word(v1::Language_Name(static_cast<v1::Language>(language)), "LANGUAGE_"));
    }
    return PrometheusText::Labels{
        {"device", Word(v1::DeviceClass_Name(needs.device_class()), "DEVICE_CLASS_")},
        {"gpu", needs.device_model().empty() ? "any" : needs.device_model()},
        {"architecture", needs.architecture().empty() ? "any" : needs.architecture()},
        {"languages", absl::StrJoin(languages, "+")},
        {"build_only", needs.build_only() ? "1" : "0"}};
  };
  // Requirements that differ only in what is not a label make one sample.
  const auto add = [&](absl::string_view name, absl::string_view help, bool add_up,
                       const std::function<double(const v1::Demand&)>& value) {
    std::map<PrometheusText::Labels, double> samples;
    for (const v1::Demand& demand : reply.demands()) {
      double& sample = samples[labels(demand)];
      sample = add_up ? sample + value(demand) : std::max(sample, value(demand));
    }
    text->Family(name, "gauge", help);
    for (const auto& [label, sample] : samples) text->Sample(label, sample);
  };
  add("ks_demand_jobs", "Jobs and callers that wait for a worker, by their requirements.", true,
      [](const v1::Demand& demand) { return demand.queued() + demand.waiting_callers(); });
  add("ks_demand_oldest_seconds", "How long the oldest of the jobs waits.", false,
      [](const v1::Demand& demand) { return absl::ToDoubleSeconds(FromProto(demand.oldest())); });
  add("ks_demand_expected_seconds", "How long the waiting jobs are expected to take on one slot.",
      true, [](const v1::Demand& demand) {
        return absl::ToDoubleSeconds(FromProto(demand.expected_time()));
      });
  int all = 0;
  for (const v1::Demand& demand : reply.demands())
    all += demand.queued() + demand.waiting_callers();
  text->Family("ks_demand_jobs_all", "gauge", "The sum of ks_demand_jobs; always there.");
  text->Sample({}, all);
  text->Family("ks_idle_slots", "gauge", "Free slots of connected workers.");
  text->Sample({}, reply.idle_slots());
  text->Family("ks_pool_instances", "gauge", "Workers of an autoscaler's pool, by state.");
  for (const v1::PoolStatus& pool : reply.pools()) {
    const v1::PoolReport& report = pool.report();
    for (const auto& [state, count] :
         {std::pair("wanted", report.wanted()), std::pair("pending", report.pending()),
          std::pair("running", report.running()), std::pair("connected", report.connected())}) {
      text->Sample({{"pool", report.pool()}, {"state", state}}, count);
    }
  }
  text->Family("ks_pool_faulty", "gauge", "1 while a pool's autoscaler cannot start workers.");
  for (const v1::PoolStatus& pool : reply.pools()) {
    text->Sample({{"pool", pool.report().pool()}}, pool.report().fault().empty() ? 0 : 1);
  }
}

void AddWorkers(const v1::ListWorkersReply& workers, PrometheusText* text) {
  std::map<std::pair<std::string, std::string>, int> counts;
  // Metrics that alerts read are present even when they are 0.
  counts[{"ready", "any"}] = 0;
  for (const v1::WorkerStatus& worker : workers.workers()) {
    ++counts[{StateOf(worker), GpuOf(worker)}];
  }
  text->Family("ks_workers", "gauge",
               "Known workers by state (ready, draining, sick, gone) and first device.");
  for (const auto& [key, count] : counts) {
    text->Sample({{"state", key.first}, {"gpu", key.second}}, count);
  }
}

// The latest readings of connected workers' GPUs; unknown numbers are left out.
void AddGpus(const v1::ListWorkersReply& workers, PrometheusText* text) {
  using Reading = v1::DeviceReading;
  const auto for_each =
      [&](const std::function<void(PrometheusText::Labels, const Reading&)>& visit) {
        for (const v1::WorkerStatus& worker : workers.workers()) {
          if (!worker.connected()) continue;
          for (const Reading& reading : worker.report().health().readings()) {
            visit({{"worker", worker.name()}, {"device", reading.device_id()}}, reading);
          }
        }
      };
  const auto known = [&](const std::function<double(const Reading&)>& number) {
    for_each([&](const PrometheusText::Labels& labels, const Reading& reading) {
      if (const double value = number(reading); value != 0) text->Sample(labels, value);
    });
  };
  text->Family("ks_gpu_sm_clock_hertz", "gauge", "Clock of a GPU's multiprocessors.");
  known([](const Reading& reading) { return 1e6 * reading.sm_clock_mhz(); });
  text->Family("ks_gpu_memory_clock_hertz", "gauge", "Clock of a GPU's memory.");
  known([](const Reading& reading) { return 1e6 * reading.memory_clock_mhz(); });
  text->Family("ks_gpu_temperature_celsius", "gauge", "Temperature of a GPU.");
  known([](const Reading& reading) { return reading.temperature_celsius(); });
  text->Family("ks_gpu_power_watts", "gauge", "Power that a GPU draws.");
  known([](const Reading& reading) { return reading.power_milliwatts() / 1e3; });
  text->Family("ks_gpu_power_limit_watts", "gauge", "The most power that a GPU may draw.");
  known([](const Reading& reading) { return reading.power_limit_milliwatts() / 1e3; });
  text->Family("ks_gpu_throttled", "gauge",
               "1 while a GPU lowers its clocks, by reason (power, thermal, hardware).");
  for_each([&](PrometheusText::Labels labels, const Reading& reading) {
    labels.emplace_back("reason", "");
    for (const auto& [reason, bits] : kThrottleReasons) {
      labels.back().second = reason;
      text->Sample(labels, (reading.throttle_reasons() & bits) != 0 ? 1 : 0);
    }
  });
}

void AddRuns(const v1::ListRunsReply& runs, PrometheusText* text) {
  std::map<v1::RunState, int> states = {{v1::RUN_STATE_RUNNING, 0}};
  std::map<std::string, double> best;
  for (const v1::RunStatus& run : runs.runs()) {
    ++states[run.state()];
    if (!run.has_best()) continue;
    double& known = best[run.task()];
    known = std::max(known, run.best().speedup());
  }
  text->Family("ks_runs", "gauge", "Runs on record, by state.");
  for (const auto& [state, count] : states) {
    text->Sample({{"state", Word(v1::RunState_Name(state), "RUN_STATE_")}}, count);
  }
  text->Family("ks_best_speedup", "gauge",
               "Best confirmed speed-up over the baseline of all runs on the task.");
  for (const auto& [task, speedup] : best) text->Sample({{"task", task}}, speedup);
  text->Family("ks_budget_remaining_usd", "gauge",
               "Of active runs with a cap on money: what is left, reservations counted as spent.");
  for (const v1::RunStatus& run : runs.runs()) {
    if (HasEnded(run.state()) || run.ledger().lines().empty()) continue;
    const v1::LedgerLine& line = run.ledger().lines(0);
    if (!line.has_nano_usd_cap()) continue;
    const int64_t left = line.nano_usd_cap() - line.nano_usd_spent() - line.nano_usd_reserved();
    text->Sample({{"run", run.run_id()}, {"task", run.task()}}, static_cast<double>(left) * kNano);
  }
}

void AddResults(const FeedCounts::Totals& counts, PrometheusText* text) {
  text->Family("ks_evals_total", "counter", "Jobs that ended since the start, by outcome.");
  std::map<v1::Outcome, int64_t> results = counts.results;
  results[v1::OUTCOME_PASSED] += 0;
  results[v1::OUTCOME_WORKER_LOST] += 0;
  for (const auto& [outcome, count] : results) {
    text->Sample({{"outcome", Word(v1::Outcome_Name(outcome), "OUTCOME_")}},
                 static_cast<double>(count));
  }
  text->Family("ks_eval_seconds", "histogram", "Time from a job's lease to its result.");
  text->Histogram(FeedCounts::EvalBounds(), counts.eval_seconds, counts.eval_seconds_sum);
  text->Family("ks_eval_device_seconds_total", "counter", "Time that jobs held a device.");
  text->Sample({}, counts.device_seconds);
  text->Family("ks_lease_expired_total", "counter",
               "Leases that ended because their worker was lost.");
  text->Sample({}, static_cast<double>(counts.leases_lost));
  text->Family("ks_sandbox_violations_total", "counter",
               "Results of candidates that were caught cheating.");
  const auto cheats = counts.results.find(v1::OUTCOME_CHEAT);
  text->Sample({}, cheats == counts.results.end() ? 0 : static_cast<double>(cheats->second));
}

void AddCalls(const FeedCounts::Totals& counts, PrometheusText* text) {
  text->Family("ks_llm_requests_total", "counter",
               "Calls to models that ended since the start, by how (answered, failed).");
  for (const auto& [model, calls] : counts.calls) {
    for (const auto& [ended, count] :
         {std::pair("answered", calls.answered), std::pair("failed", calls.failed)}) {
      text->Sample({{"provider", model.first}, {"model", model.second}, {"class", ended}},
                   static_cast<double>(count));
    }
  }
  text->Family("ks_llm_tokens_total", "counter", "Tokens of these calls.");
  for (const auto& [model, calls] : counts.calls) {
    for (const auto& [bucket, count] :
         {std::pair("input", calls.input_tokens), std::pair("output", calls.output_tokens)}) {
      text->Sample({{"provider", model.first}, {"model", model.second}, {"bucket", bucket}},
                   static_cast<double>(count));
    }
  }
  text->Family("ks_llm_cost_usd_total", "counter", "Money for these calls, in US dollars.");
  for (const auto& [model, calls] : counts.calls) {
    text->Sample({{"provider", model.first}, {"model", model.second}},
                 static_cast<double>(calls.nano_usd) * kNano);
  }
}

void AddProcess(const v1::ServerFacts& facts, PrometheusText* text) {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  text->Family("process_cpu_seconds_total", "counter", "Processor time of the coordinator.");
  text->Sample({}, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  text->Family("process_start_time_seconds", "gauge", "When the coordinator began, Unix time.");
  text->Sample({}, absl::ToDoubleSeconds(FromProto(facts.started_at()) - absl::UnixEpoch()));
  if (FILE* const file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    long all = 0, resident = 0;
    if (std::fscanf(file, "%ld %ld", &all, &resident) == 2) {
      text->Family("process_resident_memory_bytes", "gauge", "Memory of the coordinator.");
      text->Sample({},
                   static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    }
    std::fclose(file);
  }
  if (const auto disk = DiskSpaceOf(facts.state_dir()); disk.ok()) {
    text->Family("ks_disk_free_bytes", "gauge", "Free on the disk of the state folder.");
    text->Sample({}, static_cast<double>(disk->free_bytes));
    text->Family("ks_disk_size_bytes", "gauge", "Size of the disk of the state folder.");
    text->Sample({}, static_cast<double>(disk->size_bytes));
  }
}

}  // namespace

std::string MetricsText(const MetricsInput& input) {
  PrometheusText text;
  text.Family("ks_build_info", "gauge", "1; its labels say what runs.");
  text.Sample(
      {{"version", input.facts.version()}, {"schema", absl::StrCat(input.facts.schema_version())}},
      1);
  AddJobs(input.jobs, &text);
  AddWorkers(input.workers, &text);
  AddGpus(input.workers, &text);
  AddDemand(input.demand, &text);
  AddRuns(input.runs, &text);
  AddResults(input.counts, &text);
  AddCalls(input.counts, &text);
  text.Family("ks_open_pages", "gauge", "Event streams that are being read.");
  text.Sample({}, input.open_pages);
  AddProcess(input.facts, &text);
  return text.text();
}

}  // namespace ksearch::dashboard
