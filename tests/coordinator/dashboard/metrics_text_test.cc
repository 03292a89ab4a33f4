#include "coordinator/dashboard/metrics/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "absl/strings/str_split.h"
#include "coordinator/dashboard/metrics/prometheus_text.h"

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;

v1::FeedEntry Fleet(v1::FleetEvent::Kind kind, const std::string& job, int64_t second,
                    const std::string& text = "") {
  v1::FeedEntry entry;
  v1::FleetEvent* event = entry.mutable_fleet();
  event->set_kind(kind);
  event->set_job_id(job);
  event->mutable_at()->set_seconds(1'700'000'000 + second);
  event->set_text(text);
  return entry;
}

MetricsInput SomeInput() {
  MetricsInput input;
  input.facts.set_version("1.2.3");
  input.facts.set_schema_version(5);
  input.facts.set_state_dir("/");
  input.facts.mutable_started_at()->set_seconds(1'700'000'000);
  v1::JobSummary* job = input.jobs.add_jobs();
  job->set_state(v1::JobSummary::QUEUED);
  job->mutable_platform()->set_device_model("NVIDIA H200");
  input.jobs.add_jobs()->set_state(v1::JobSummary::LEASED);
  v1::WorkerStatus* worker = input.workers.add_workers();
  worker->set_connected(true);
  worker->mutable_hello()->add_devices()->mutable_fingerprint()->set_name("AMD \"EPYC\"\\\n");
  for (const bool connected : {true, false}) {
    v1::WorkerStatus* gpus = input.workers.add_workers();
    gpus->set_connected(connected);
    gpus->set_name(connected ? "node1" : "left");
    v1::DeviceReading* reading = gpus->mutable_report()->mutable_health()->add_readings();
    reading->set_device_id("GPU-1");
    reading->set_sm_clock_mhz(1755);
    reading->set_memory_clock_mhz(3201);
    reading->set_temperature_celsius(71);
    reading->set_power_milliwatts(612'500);
    reading->set_throttle_reasons(0x24);
  }
  v1::RunStatus* run = input.runs.add_runs();
  run->set_run_id("r1");
  run->set_task("axpy");
  run->set_state(v1::RUN_STATE_RUNNING);
  run->mutable_best()->set_speedup(2.5);
  v1::LedgerLine* line = run->mutable_ledger()->add_lines();
  line->set_nano_usd_cap(2'000'000'000);
  line->set_nano_usd_spent(500'000'000);
  line->set_nano_usd_reserved(250'000'000);
  for (const char* harness : {"5", "6"}) {  // no label: one sample
    v1::Demand* demand = input.demand.add_demands();
    demand->mutable_requirement()->set_device_class(v1::DEVICE_CLASS_CUDA);
    demand->mutable_requirement()->set_device_model("NVIDIA H200");
    demand->mutable_requirement()->add_languages(v1::LANGUAGE_CUDA);
    demand->mutable_requirement()->set_harness_version(harness);
    demand->set_queued(2);
    demand->mutable_oldest()->set_seconds(harness[0] - '0');
  }
  input.demand.set_idle_slots(3);
  v1::PoolReport* pool = input.demand.add_pools()->mutable_report();
  pool->set_pool("slurm");
  pool->set_pending(1);
  pool->set_fault("sbatch: quota");
  FeedCounts counts;
  counts.Count(Fleet(v1::FleetEvent::LEASE_STARTED, "j1", 0));
  v1::FeedEntry ended = Fleet(v1::FleetEvent::JOB_ENDED, "j1", 4);
  ended.mutable_fleet()->set_outcome(v1::OUTCOME_PASSED);
  ended.mutable_fleet()->mutable_device_time()->set_seconds(3);
  counts.Count(ended);
  counts.Count(Fleet(v1::FleetEvent::LEASE_ENDED, "j2", 5, "lost: no report"));
  counts.Count(Fleet(v1::FleetEvent::LEASE_ENDED, "j3", 5, "returned: no compiler"));
  v1::FeedEntry call = Fleet(v1::FleetEvent::CALL_ANSWERED, "", 6);
  call.mutable_fleet()->mutable_call()->set_provider("p");
  call.mutable_fleet()->mutable_call()->set_model("m");
  call.mutable_fleet()->mutable_call()->set_input_tokens(100);
  call.mutable_fleet()->mutable_call()->set_nano_usd(1'000'000);
  counts.Count(call);
  input.counts = counts.totals();
  return input;
}

TEST(MetricsText, SaysWhatIsSeen) {
  const std::string text = MetricsText(SomeInput());
  for (const char* line : {
           "ks_build_info{version=\"1.2.3\",schema=\"5\"} 1\n",
           "ks_queue_depth{gpu=\"NVIDIA H200\"} 1\n",
           "ks_jobs_leased{gpu=\"any\"} 1\n",
           "ks_workers{state=\"ready\",gpu=\"AMD \\\"EPYC\\\"\\\\\\n\"} 1\n",
           "ks_gpu_sm_clock_hertz{worker=\"node1\",device=\"GPU-1\"} 1755000000\n",
           "ks_gpu_memory_clock_hertz{worker=\"node1\",device=\"GPU-1\"} 3201000000\n",
           "ks_gpu_temperature_celsius{worker=\"node1\",device=\"GPU-1\"} 71\n",
           "ks_gpu_power_watts{worker=\"node1\",device=\"GPU-1\"} 612.5\n",
           "ks_gpu_throttled{worker=\"node1\",device=\"GPU-1\",reason=\"power\"} 1\n",
           "ks_gpu_throttled{worker=\"node1\",device=\"GPU-1\",reason=\"thermal\"} 1\n",
           "ks_gpu_throttled{worker=\"node1\",device=\"GPU-1\",reason=\"hardware\"} 0\n",
           "ks_runs{state=\"running\"} 1\n",
           "ks_demand_jobs{device=\"cuda\",gpu=\"NVIDIA H200\",architecture=\"any\","
           "languages=\"cuda\",build_only=\"0\"} 4\n",
           "ks_demand_oldest_seconds{device=\"cuda\",gpu=\"NVIDIA H200\",architecture=\"any\","
           "languages=\"cuda\",build_only=\"0\"} 6\n",
           "ks_demand_jobs_all 4\n",
           "ks_idle_slots 3\n",
           "ks_pool_instances{pool=\"slurm\",state=\"pending\"} 1\n",
           "ks_pool_faulty{pool=\"slurm\"} 1\n",
           "ks_best_speedup{task=\"axpy\"} 2.5\n",
           "ks_budget_remaining_usd{run=\"r1\",task=\"axpy\"} 1.25\n",
           "ks_evals_total{outcome=\"passed\"} 1\n",
           "ks_evals_total{outcome=\"worker_lost\"} 0\n",
           "ks_eval_seconds_bucket{le=\"2\"} 0\n",
           "ks_eval_seconds_bucket{le=\"5\"} 1\n",
           "ks_eval_seconds_bucket{le=\"+Inf\"} 1\n",
           "ks_eval_seconds_sum 4\n",
           "ks_eval_seconds_count 1\n",
           "ks_eval_device_seconds_total 3\n",
           "ks_lease_expired_total 1\n",
           "ks_sandbox_violations_total 0\n",
           "ks_llm_requests_total{provider=\"p\",model=\"m\",class=\"answered\"} 1\n",
           "ks_llm_tokens_total{provider=\"p\",model=\"m\",bucket=\"input\"} 100\n",
           "ks_llm_cost_usd_total{provider=\"p\",model=\"m\"} 0.001\n",
           "process_start_time_seconds 1700000000\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsText, TellsNothingOfGpusThatAreGoneAndNoNumberThatIsNotKnown) {
  const std::string text = MetricsText(SomeInput());
  EXPECT_THAT(text, Not(HasSubstr("worker=\"left\"")));
  EXPECT_THAT(text, Not(HasSubstr("ks_gpu_power_limit_watts{")));
}

TEST(MetricsText, NamesEveryFamilyOnceBeforeItsSamples) {
  std::set<std::string> families;
  std::string family;
  const std::vector<std::string> lines =
      absl::StrSplit(MetricsText(SomeInput()), '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    if (line.rfind("# TYPE ", 0) == 0) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (line[0] != '#') {
      EXPECT_EQ(line.rfind(family, 0), 0u) << line;
    }
  }
  EXPECT_GT(families.size(), 15u);
}

TEST(MetricsText, AnEmptyCoordinatorHasWhatAlertsLookAt) {
  const std::string text = MetricsText({});
  EXPECT_THAT(text, HasSubstr("ks_workers{state=\"ready\",gpu=\"any\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("ks_queue_depth{gpu=\"any\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("ks_evals_total{outcome=\"passed\"} 0\n"));
}

TEST(MetricsText, PrometheusTakesIt) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  }
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("metrics" + std::to_string(::getpid()));
  std::ofstream(file) << MetricsText(SomeInput());
  // Its output concerns style, e.g. names; it exits with 1 if the text is invalid.
  const int status = std::system(
      ("promtool check metrics <" + file.string() + " >" + file.string() + ".out 2>&1").c_str());
  std::ifstream out(file.string() + ".out");
  const std::string said((std::istreambuf_iterator<char>(out)), {});
  std::filesystem::remove(file);
  std::filesystem::remove(file.string() + ".out");
  EXPECT_NE(WEXITSTATUS(status), 1) << said;
  EXPECT_THAT(said, Not(HasSubstr("error")));
}

TEST(PrometheusText, WritesNumbersThatCanBeReadBack) {
  PrometheusText text;
  text.Family("a", "gauge", "one\ntwo");
  text.Sample({}, 123456789012345.0);
  text.Sample({{"x", "1"}}, -0.5);
  text.Sample({{"x", "2"}}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(text.text(),
            "# HELP a one\\ntwo\n# TYPE a gauge\na 123456789012345\n"
            "a{x=\"1\"} -0.5\na{x=\"2\"} +Inf\n");
}

}  // namespace
}  // namespace ksearch::dashboard
