// A fleet of two GPU models with simulated workers: results of one model are neither compared with
// the other's nor used for it. Takes a few seconds.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/mutex.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.grpc.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/played_worker.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kH100[] = "NVIDIA H100 80GB HBM3";
constexpr char kH200[] = "NVIDIA H200";

// Judges every job at once. A program whose text says "speedup 2" is so much faster than the
// baseline on an H200, and ten times that on an H100.
class FleetWorker {
 public:
  FleetWorker(LocalCluster& cluster, const std::string& model, const std::string& harness = "5")
      : model_(model), harness_(harness), id_(absl::StrReplaceAll(model, {{" ", "-"}})) {
    stub_ = v1::WorkerService::NewStub(MakeChannel(cluster.address(), ClientAccess()));
    thread_ = std::thread([this] { Serve(); });
    AwaitIn(cluster, true);
    cluster_ = &cluster;
  }
  ~FleetWorker() {
    context_.TryCancel();
    thread_.join();
    AwaitIn(*cluster_, false);
  }

  int jobs(v1::JobKind kind) {
    MutexLock lock(&mu_);
    return jobs_[kind];
  }

 private:
  // Until the coordinator lists it as connected, or no longer does.
  void AwaitIn(LocalCluster& cluster, bool connected) const {
    for (const absl::Time give_up = absl::Now() + absl::Seconds(60); absl::Now() < give_up;) {
      if (!cluster.Running("coordinator")) return;
      const auto workers = FromJson<v1::ListWorkersReply>(cluster.Cli({"workers", "--json"}).out);
      bool is = false;
      for (const v1::WorkerStatus& worker : workers.workers()) {
        is |= worker.worker_id() == id_ && worker.connected() && worker.has_report();
      }
      if (is == connected) return;
      absl::SleepFor(absl::Milliseconds(20));
    }
    ADD_FAILURE() << id_ << (connected ? " does not join" : " does not leave");
  }
  v1::DeviceFingerprint Device() const {
    v1::DeviceFingerprint device;
    device.set_device_id(absl::StrCat("GPU-", id_));
    device.set_name(model_);
    device.set_architecture("sm_90a");
    device.set_harness_version(harness_);
    device.set_toolkit("nvcc 13.0");
    return device;
  }
  void Serve() {
    const auto stream = stub_->Session(&context_);
    v1::WorkerUp up = PlayedHello(id_, v1::DEVICE_CLASS_CUDA, v1::LANGUAGE_CUDA, Device());
    stream->Write(up);
    up.mutable_report()->set_free_slots(4);
    up.mutable_report()->mutable_health()->set_healthy(true);
    stream->Write(up);
    v1::WorkerDown down;
    while (stream->Read(&down)) {
      for (const v1::JobOffer& offer : down.offers()) Record(offer);
      up.mutable_report()->set_applied_directive_seq(down.directive_seq());
      stream->Write(up);
    }
  }
  void Record(const v1::JobOffer& offer) {
    const v1::JobSpec& spec = offer.spec();
    {
      MutexLock lock(&mu_);
      ++jobs_[spec.kind()];
    }
    v1::RecordResultRequest request;
    request.set_lease_id(offer.lease_id());
    v1::JobResult* result = request.mutable_result();
    result->set_job_id(offer.job_id());
    result->set_attempt(offer.attempt());
    result->set_worker_id(id_);
    result->set_outcome(v1::OUTCOME_PASSED);
    *result->mutable_device() = Device();
    const double speedup = SpeedupOf(spec.candidate());
    for (const std::string& uuid : spec.workload_uuids()) {
      v1::WorkloadResult* workload = result->add_workloads();
      workload->set_workload_uuid(uuid);
      workload->set_outcome(v1::OUTCOME_PASSED);
      workload->mutable_baseline()->set_median_us(60);
      workload->mutable_candidate()->set_median_us(60 / speedup);
    }
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result->add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      const double over = std::log(speedup / SpeedupOf(rival.sources()));
      comparison->set_verdict(over > 0 ? v1::Comparison::IMPROVED : v1::Comparison::WORSE);
      comparison->set_log_speedup(over);
      comparison->set_ci_low(over - 0.01);
      comparison->set_ci_high(over + 0.01);
    }
    grpc::ClientContext context;
    v1::RecordResultReply reply;
    const absl::Status status = FromGrpc(stub_->RecordResult(&context, request, &reply));
    // The coordinator may be killed just then.
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  }
  // 1 for the baseline, whose text names no speed-up.
  double SpeedupOf(const v1::Sources& sources) const {
    double speedup = 1;
    for (const v1::SourceFile& file : sources.files()) {
      const size_t at = file.content().find("// speedup ");
      if (at == std::string::npos) continue;
      EXPECT_TRUE(absl::SimpleAtod(file.content().substr(at + 11, 1), &speedup));
      return model_ == kH100 ? speedup * 10 : speedup;
    }
    return speedup;
  }

  const std::string model_;
  const std::string harness_;
  const std::string id_;
  LocalCluster* cluster_ = nullptr;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
  grpc::ClientContext context_;
  Mutex mu_;
  std::map<v1::JobKind, int> jobs_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: uses the rest
};

class MixedFleetTest : public testing::Test {
 protected:
  MixedFleetTest() {
    source_ = cluster_.folder() + "/kernel.cu";
    std::ofstream(source_) << "// speedup 4\n";
  }
  void Start(const std::string& model_delay_ms = "0") {
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/profiled.cassette.textproto"),
        {"--delay-ms", model_delay_ms});
    cluster_.StartCoordinator();
  }
  CommandOutput Search(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"run",      "--task", "rmsnorm_bf16", "--language", "cuda",
                                     "--rounds", "3",      "--profile",    "never"};
    args.insert(args.end(), more.begin(), more.end());
    return cluster_.Cli(args);
  }
  CommandOutput Eval(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"eval",       "--task", "rmsnorm_bf16",
                                     "--language", "cuda",   source_};
    args.insert(args.end(), more.begin(), more.end());
    return cluster_.Cli(args);
  }
  v1::RunStatus Status() const {
    return FromJson<v1::RunStatus>(cluster_.Cli({"status", "last", "--json"}).out);
  }
  v1::ListResultsReply Results(bool stale) const {
    std::vector<std::string> args = {"results", "--json"};
    if (stale) args.emplace_back("--stale");
    const CommandOutput out = cluster_.Cli(args);
    EXPECT_EQ(out.exit.code, 0) << out.err;
    return FromJson<v1::ListResultsReply>(out.out);
  }

  LocalCluster cluster_;
  std::string source_;
};

TEST_F(MixedFleetTest, EveryRunIsJudgedByItsOwnModelAlone) {
  Start();
  FleetWorker h100(cluster_, kH100);
  FleetWorker h200(cluster_, kH200);
  const CommandOutput first = Search({"--device-model", kH200});
  EXPECT_EQ(first.exit.code, 0) << first.err;
  EXPECT_EQ(h200.jobs(v1::JOB_KIND_SCREEN), 2);
  EXPECT_EQ(h100.jobs(v1::JOB_KIND_SCREEN), 0);
  EXPECT_DOUBLE_EQ(Status().best_screened(), 3);
  EXPECT_EQ(Status().platform().device_model(), kH200);
  EXPECT_THAT(cluster_.Cli({"status", "last"}).out,
              HasSubstr("\nmeasured with NVIDIA H200 sm_90a, harness 5, nvcc 13.0\n"));
  EXPECT_THAT(cluster_.Cli({"show", "last", Status().best().candidate_id()}).out,
              HasSubstr("\nmeasured with NVIDIA H200 sm_90a, harness 5, nvcc 13.0\n"));

  // The same programs: no result of the H200 answers for the H100.
  const CommandOutput second = Search({"--device-model", kH100});
  EXPECT_EQ(second.exit.code, 0) << second.err;
  EXPECT_EQ(h100.jobs(v1::JOB_KIND_SCREEN), 2);
  EXPECT_EQ(h200.jobs(v1::JOB_KIND_SCREEN), 2);
  EXPECT_DOUBLE_EQ(Status().best_screened(), 30);

  // Now all is on record for both.
  const CommandOutput third = Search({"--device-model", kH200});
  EXPECT_EQ(third.exit.code, 0) << third.err;
  EXPECT_EQ(h200.jobs(v1::JOB_KIND_SCREEN), 2);
  EXPECT_EQ(h200.jobs(v1::JOB_KIND_CHECK), 1);
  EXPECT_DOUBLE_EQ(Status().best_screened(), 3);
}

TEST_F(MixedFleetTest, OnAnyDeviceScoresAreThoseOfOneModel) {
  Start();
  FleetWorker h100(cluster_, kH100);
  FleetWorker h200(cluster_, kH200);
  const CommandOutput run = Search({"--any-device", "--device-model", kH200});
  EXPECT_EQ(run.exit.code, 0) << run.err;
  EXPECT_DOUBLE_EQ(Status().best_screened(), 3);
  EXPECT_NEAR(Status().best().speedup(), 3, 0.001);
  EXPECT_EQ(h200.jobs(v1::JOB_KIND_SCREEN), 2) << "each candidate once, first or again";
  EXPECT_EQ(h100.jobs(v1::JOB_KIND_CONFIRM), 0);
  EXPECT_THAT(cluster_.Cli({"status", "last"}).out, HasSubstr("; other models screen too\n"));
}

TEST_F(MixedFleetTest, AnEvaluationIsAnsweredByResultsOfItsPlatformAndStaleOnesAreListed) {
  Start();
  auto h100 = std::make_unique<FleetWorker>(cluster_, kH100);
  auto h200 = std::make_unique<FleetWorker>(cluster_, kH200);
  EXPECT_THAT(Eval({"--device-model", kH200}).out, AllOf(HasSubstr("4.00x the baseline's speed"),
                                                         HasSubstr("measured with NVIDIA H200")));
  EXPECT_THAT(Eval({"--device-model", kH100}).out, HasSubstr("40.00x the baseline's speed"));
  EXPECT_THAT(Eval({"--device-model", kH200}).out, HasSubstr("4.00x the baseline's speed"));
  EXPECT_EQ(h200->jobs(v1::JOB_KIND_SCREEN), 1) << "the second time from the store";
  EXPECT_EQ(Results(/*stale=*/false).results_size(), 2);
  EXPECT_EQ(Results(/*stale=*/true).results_size(), 0);

  // The H200's worker comes back as another release, the H100 not at all.
  h200.reset();
  h200 = std::make_unique<FleetWorker>(cluster_, kH200, "6");
  h100.reset();
  const v1::ListResultsReply stale = Results(/*stale=*/true);
  ASSERT_EQ(stale.results_size(), 2);
  EXPECT_EQ(stale.results(0).platform().device_model(), kH100);  // the newest first
  EXPECT_EQ(stale.results(0).stale(),
            "device model: NVIDIA H100 80GB HBM3; workers have NVIDIA H200");
  EXPECT_EQ(stale.results(1).stale(), "harness version: 5; workers have 6");
  EXPECT_EQ(stale.results(1).platform().harness_version(), "5");
  EXPECT_EQ(stale.results(1).task(), "rmsnorm_bf16");
  EXPECT_EQ(stale.results(1).outcome(), v1::OUTCOME_PASSED);
  const std::string table = cluster_.Cli({"results", "--stale"}).out;
  EXPECT_THAT(table, HasSubstr("NVIDIA H200 sm_90a, harness 5, nvcc 13.0"));
  EXPECT_THAT(table, HasSubstr("no: harness version: 5; workers have 6"));

  EXPECT_THAT(Eval().out, HasSubstr("4.00x"));
  EXPECT_EQ(h200->jobs(v1::JOB_KIND_SCREEN), 1) << "measured anew";
  EXPECT_EQ(Results(/*stale=*/false).results_size(), 3);
  EXPECT_EQ(Results(/*stale=*/true).results_size(), 2);
  const CommandOutput limited = cluster_.Cli({"results", "--limit", "1"});
  EXPECT_THAT(limited.out, AllOf(HasSubstr("harness 6"), Not(HasSubstr("harness 5"))));
  EXPECT_THAT(limited.err, HasSubstr("there are more; --limit"));

  // While no worker is connected, the workers seen last decide which results count.
  h200.reset();
  EXPECT_THAT(Eval({"--device-model", kH200}).out, HasSubstr("4.00x"));
  EXPECT_EQ(Results(/*stale=*/true).results_size(), 1) << "the H100 was seen with harness 5";
}

TEST_F(MixedFleetTest, ARunWaitsForItsModelAcrossACrash) {
  Start(/*model_delay_ms=*/"300");
  auto h200 = std::make_unique<FleetWorker>(cluster_, kH200);
  EXPECT_EQ(Search({"--detach"}).exit.code, 0);
  cluster_.Kill("coordinator");
  h200.reset();
  cluster_.StartCoordinator();
  FleetWorker h100(cluster_, kH100);
  // Whatever was judged before, the rest must not go to an H100.
  const auto missing = [&] { return Status().platform_missing(); };
  EXPECT_EQ(missing(),
            "no connected worker has it; there is NVIDIA H100 80GB HBM3 sm_90a, harness 5, nvcc "
            "13.0");
  EXPECT_THAT(cluster_.Cli({"status", "last"}).out,
              HasSubstr("measured with NVIDIA H200 sm_90a, harness 5, nvcc 13.0: no connected "
                        "worker has it"));
  h200 = std::make_unique<FleetWorker>(cluster_, kH200);
  const CommandOutput watched = cluster_.Cli({"watch", "last"});
  EXPECT_EQ(watched.exit.code, 0) << watched.err;
  EXPECT_EQ(missing(), "");
  EXPECT_EQ(h100.jobs(v1::JOB_KIND_SCREEN), 0);
  EXPECT_EQ(h100.jobs(v1::JOB_KIND_CONFIRM), 0);
  EXPECT_DOUBLE_EQ(Status().best_screened(), 3);
}

TEST_F(MixedFleetTest, WhatCannotBeIsRefusedWithItsReason) {
  Start();
  FleetWorker h200(cluster_, kH200);
  const CommandOutput run =
      Search({"--device-model", "NVIDIA B200", "--wait-for-workers", "100ms"});
  EXPECT_EQ(run.exit.code, 3);
  EXPECT_THAT(run.err,
              HasSubstr("no connected worker can judge cuda candidates with NVIDIA B200;"));
  EXPECT_EQ(cluster_.Cli({"status"}).out.find("rmsnorm"), std::string::npos) << "nothing was begun";
  const CommandOutput build = Eval({"--build-only", "--device-model", kH200});
  EXPECT_EQ(build.exit.code, 2);
  EXPECT_THAT(build.err, HasSubstr("--device-model"));
  const CommandOutput text = Search({"--device-model", "NVIDIA\nH200"});
  EXPECT_EQ(text.exit.code, 3);
  EXPECT_THAT(text.err, HasSubstr("platform.device_model must be at most 128 printable bytes"));
  EXPECT_EQ(cluster_.Cli({"results", "--limit", "0"}).exit.code, 2);
  const CommandOutput none = cluster_.Cli({"results", "--task", "no_such_task"});
  EXPECT_EQ(none.exit.code, 0);
}

}  // namespace
}  // namespace ksearch
