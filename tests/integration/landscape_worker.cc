#include "tests/integration/landscape_worker.h"

#include <grpcpp/grpcpp.h>

#include <cmath>
#include <utility>

#include "absl/time/clock.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"
#include "tests/integration/landscape_search.h"
#include "tests/integration/played_worker.h"

namespace ksearch {
namespace {

constexpr char kId[] = "landscape";
constexpr double kBaselineUs = 500;
constexpr absl::Duration kDialAgainAfter = absl::Milliseconds(20);
constexpr absl::Duration kCallLimit = absl::Seconds(20);

v1::DeviceFingerprint Device() {
  v1::DeviceFingerprint device;
  device.set_device_id("played");
  device.set_name("a played processor");
  device.set_architecture("x86-64-v3");
  device.set_harness_version("8");
  device.set_toolkit("g++ 12");
  return device;
}

double CostOf(const Landscape& landscape, const v1::Sources& sources) {
  if (sources.files_size() != 1) return 1;
  const auto code = ReadProgram(landscape, sources.files(0).content());
  return code.has_value() ? landscape.Cost(code->point) : 1;
}

// A number derived from the program, instead of a count of measurements.
uint64_t NumberOf(const v1::Sources& sources) {
  uint64_t number = 0;
  for (const char c : CandidateId(sources)) number = number * 31 + static_cast<unsigned char>(c);
  return number;
}

}  // namespace

LandscapeWorker::LandscapeWorker(std::vector<World> worlds, std::string address)
    : worlds_(std::move(worlds)), address_(std::move(address)) {
  thread_ = std::thread([this] { Run(); });
}

LandscapeWorker::~LandscapeWorker() {
  stopping_ = true;
  {
    MutexLock lock(&mu_);
    if (session_ != nullptr) session_->TryCancel();
  }
  thread_.join();
}

void LandscapeWorker::Run() {
  while (!stopping_) {
    // A new channel each time: one that has failed waits longer and longer.
    const auto stub = v1::WorkerService::NewStub(MakeChannel(address_, ClientAccess()));
    Serve(stub.get());
    if (!stopping_) absl::SleepFor(kDialAgainAfter);
  }
}

void LandscapeWorker::Serve(v1::WorkerService::Stub* stub) {
  grpc::ClientContext context;
  {
    MutexLock lock(&mu_);
    session_ = &context;
  }
  if (stopping_) context.TryCancel();
  const auto stream = stub->Session(&context);
  v1::WorkerUp up = PlayedHello(kId, v1::DEVICE_CLASS_CPU, v1::LANGUAGE_CPP, Device());
  stream->Write(up);
  up.mutable_report()->set_free_slots(1);
  up.mutable_report()->mutable_health()->set_healthy(true);
  stream->Write(up);
  v1::WorkerDown down;
  while (stream->Read(&down)) {
    for (const v1::JobOffer& offer : down.offers()) Record(stub, offer);
    up.mutable_report()->set_applied_directive_seq(down.directive_seq());
    stream->Write(up);
  }
  stream->Finish();
  MutexLock lock(&mu_);
  session_ = nullptr;
}

void LandscapeWorker::Record(v1::WorkerService::Stub* stub, const v1::JobOffer& offer) {
  v1::RecordResultRequest request;
  request.set_lease_id(offer.lease_id());
  *request.mutable_result() = Judge(offer);
  std::unique_ptr<v1::WorkerService::Stub> again;
  while (!stopping_) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + kCallLimit));
    v1::RecordResultReply reply;
    if ((again != nullptr ? again.get() : stub)->RecordResult(&context, request, &reply).ok())
      return;
    absl::SleepFor(kDialAgainAfter);
    again = v1::WorkerService::NewStub(MakeChannel(address_, ClientAccess()));
  }
}

v1::JobResult LandscapeWorker::Judge(const v1::JobOffer& offer) const {
  const v1::JobSpec& spec = offer.spec();
  const auto& [landscape, task] = WorldOf(spec.task_name());
  v1::JobResult result;
  if (spec.kind() == v1::JOB_KIND_SCREEN) {
    auto played = PlayedScreening(*landscape, *task, spec.candidate(), /*seed=*/1,
                                  NumberOf(spec.candidate()));
    if (played.has_value()) {
      result = *std::move(played);
    } else {
      result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
      result.set_message("no program of the landscape");
    }
  } else {
    result.set_outcome(v1::OUTCOME_PASSED);
    const double us = kBaselineUs * CostOf(*landscape, spec.candidate());
    for (const std::string& uuid : spec.workload_uuids()) {
      v1::WorkloadResult* workload = result.add_workloads();
      workload->set_workload_uuid(uuid);
      workload->set_outcome(v1::OUTCOME_PASSED);
      workload->mutable_baseline()->set_median_us(kBaselineUs);
      workload->mutable_candidate()->set_median_us(us);
    }
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result.add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      const double over =
          std::log(CostOf(*landscape, rival.sources()) / CostOf(*landscape, spec.candidate()));
      comparison->set_verdict(over > 0 ? v1::Comparison::IMPROVED : v1::Comparison::WORSE);
      comparison->set_log_speedup(over);
      comparison->set_ci_low(over - 0.01);
      comparison->set_ci_high(over + 0.01);
    }
  }
  result.set_job_id(offer.job_id());
  result.set_attempt(offer.attempt());
  result.set_worker_id(kId);
  *result.mutable_device() = Device();
  return result;
}

const LandscapeWorker::World& LandscapeWorker::WorldOf(const std::string& task_name) const {
  for (const World& world : worlds_) {
    if (world.task->name() == task_name) return world;
  }
  return worlds_.front();
}

}  // namespace ksearch
