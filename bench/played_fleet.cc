#include "bench/played_fleet.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/protocol_version.h"
#include "common/rng.h"
#include "common/textproto.h"
#include "proto/worker_service.grpc.pb.h"

namespace ksearch {
namespace {

constexpr char kWorkersFlag[] = "--workers";

// Calls what is due, in order of time, on a thread of its own.
class Timers {
 public:
  Timers() : thread_([this] { Loop(); }) { thread_.detach(); }
  void After(absl::Duration delay, std::function<void()> call) {
    MutexLock lock(&mu_);
    calls_.emplace(Clock::Real().SteadyNow() + delay, std::move(call));
    changed_.NotifyAll();
  }

 private:
  [[noreturn]] void Loop() {
    while (true) {
      std::function<void()> call;
      {
        MutexLock lock(&mu_);
        while (calls_.empty() || calls_.begin()->first > Clock::Real().SteadyNow()) {
          changed_.WaitFor(&mu_, calls_.empty()
                                     ? absl::Seconds(1)
                                     : calls_.begin()->first - Clock::Real().SteadyNow());
        }
        call = std::move(calls_.begin()->second);
        calls_.erase(calls_.begin());
      }
      call();
    }
  }

  Mutex mu_;
  CondVar changed_;
  std::multimap<absl::Time, std::function<void()>> calls_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: uses the others, until the process ends
};

// Answers an offer, after the time that the job takes, with a result that says when it came, and
// reports like a real worker: at every change, and when it is time.
class PlayedWorker final : public grpc::ClientBidiReactor<v1::WorkerUp, v1::WorkerDown> {
 public:
  PlayedWorker(const std::string& address, int number, absl::Duration job_time, Timers* timers)
      : channel_(MakeOwnChannel(address, number)),
        stub_(v1::WorkerService::NewStub(channel_)),
        hello_(PlayedHelloOf(number)),
        job_time_(job_time),
        timers_(timers),
        rng_(static_cast<uint64_t>(number)) {
    stub_->async()->Session(&context_, this);
    v1::WorkerUp up;
    *up.mutable_hello() = hello_;
    {
      MutexLock lock(&mu_);
      Queue(std::move(up));
      Report();
      StartRead(&down_);
      // Threads of unary calls and of timers write, too.
      AddHold();
      StartCall();
    }
    ReportAgain();
  }

 private:
  // Channels to one address share a connection by default; real workers never share one.
  static std::shared_ptr<grpc::Channel> MakeOwnChannel(const std::string& address, int number) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt("ksearch.bench.number", number);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    const int64_t now = SteadyNanos();
    std::vector<std::pair<v1::JobOffer, absl::Duration>> jobs;
    {
      MutexLock lock(&mu_);
      applied_ = down_.directive_seq();
      if (down_.has_report_within()) report_within_ = FromProto(down_.report_within());
      for (const v1::JobOffer& offer : down_.offers()) {
        v1::HeldLease& held = held_[offer.lease_id()];
        held.set_lease_id(offer.lease_id());
        held.set_job_id(offer.job_id());
        held.set_attempt(offer.attempt());
        held.set_state(v1::HeldLease::RUNNING);
        jobs.emplace_back(offer, job_time_ * (0.5 + rng_.NextDouble()));
      }
    }
    for (auto& [offer, time] : jobs) {
      if (time <= absl::ZeroDuration()) {
        SendResult(offer, now);
      } else {
        timers_->After(time, [this, offer = std::move(offer), now] { SendResult(offer, now); });
      }
    }
    StartRead(&down_);
  }
  void OnWriteDone(bool ok) override {
    MutexLock lock(&mu_);
    out_.pop_front();
    if (ok && !out_.empty()) StartWrite(&out_.front());
  }
  void OnDone(const grpc::Status& status) override {
    LOG(ERROR) << "a session has ended: " << status.error_message();
  }

  void SendResult(const v1::JobOffer& offer, int64_t received_nanos) {
    struct Call {
      grpc::ClientContext context;
      v1::RecordResultRequest request;
      v1::RecordResultReply reply;
    };
    auto* const call = new Call;
    call->request.set_lease_id(offer.lease_id());
    v1::JobResult* result = call->request.mutable_result();
    result->set_job_id(offer.job_id());
    result->set_attempt(offer.attempt());
    result->set_worker_id(hello_.worker_id());
    result->set_outcome(v1::OUTCOME_PASSED);
    result->set_message(absl::StrCat(received_nanos));
    v1::Samples* samples = result->add_workloads()->mutable_candidate();
    for (int i = 0; i < 200; ++i) samples->add_latency_us(10.0 + i);
    stub_->async()->RecordResult(&call->context, &call->request, &call->reply,
                                 [this, call](const grpc::Status& status) {
                                   if (!status.ok()) {
                                     LOG(ERROR) << "RecordResult: " << status.error_message();
                                   }
                                   MutexLock lock(&mu_);
                                   held_.erase(call->request.lease_id());
                                   Report();
                                   delete call;
                                 });
  }
  void ReportAgain() {
    absl::Duration within;
    {
      MutexLock lock(&mu_);
      within = report_within_;
    }
    timers_->After(within, [this] {
      {
        MutexLock lock(&mu_);
        Report();
      }
      ReportAgain();
    });
  }
  void Report() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    v1::WorkerUp up;
    up.mutable_report()->set_applied_directive_seq(applied_);
    for (const auto& [id, held] : held_) *up.mutable_report()->add_leases() = held;
    up.mutable_report()->set_free_slots(kPlayedSlots - static_cast<int>(held_.size()));
    Queue(std::move(up));
  }
  void Queue(v1::WorkerUp up) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    out_.push_back(std::move(up));
    if (out_.size() == 1) StartWrite(&out_.front());
  }

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::WorkerService::Stub> stub_;
  const v1::WorkerHello hello_;
  const absl::Duration job_time_;
  Timers* const timers_;
  grpc::ClientContext context_;
  v1::WorkerDown down_;
  Mutex mu_;
  Rng rng_ ABSL_GUARDED_BY(mu_);
  std::deque<v1::WorkerUp> out_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::HeldLease> held_ ABSL_GUARDED_BY(mu_);  // by lease
  int64_t applied_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Duration report_within_ ABSL_GUARDED_BY(mu_) = absl::Seconds(10);
};

}  // namespace

v1::WorkerHello PlayedHelloOf(int number) {
  v1::WorkerHello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_worker_id(absl::StrCat("bench-", ::getpid(), "-", number));
  hello.set_incarnation("1");
  v1::DeviceCapability* device = hello.add_devices();
  device->set_device_class(v1::DEVICE_CLASS_CPU);
  device->add_languages(v1::LANGUAGE_CPP);
  return hello;
}

v1::JobSpec PlayedSpec(const std::string& salt) {
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.set_device(v1::DEVICE_CLASS_CPU);
  spec.set_task_name("bench");
  spec.set_salt(salt);
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = spec.mutable_candidate()->add_files();
  file->set_path("kernel.cpp");
  file->set_content(std::string(2000, 'x'));
  return spec;
}

int64_t SteadyNanos() {
  return absl::ToUnixNanos(Clock::Real().SteadyNow());  // one clock for all processes of a machine
}

int ConnectedWorkers(const WorkerGateway& gateway) {
  const std::vector<v1::WorkerStatus> workers = gateway.Workers();
  return static_cast<int>(std::count_if(workers.begin(), workers.end(), [](const auto& worker) {
    return worker.connected() && worker.has_report();
  }));
}

std::unique_ptr<Subprocess> StartPlayedFleet(const std::string& address, int count,
                                             const WorkerGateway& gateway,
                                             absl::Duration job_time) {
  SubprocessOptions options;
  options.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), kWorkersFlag,
                  absl::StrCat(count), address, absl::StrCat(absl::ToInt64Milliseconds(job_time))};
  options.inherited_fds = {{2, 2}};
  auto child = Subprocess::Start(options);
  CHECK_OK(child.status());
  while (ConnectedWorkers(gateway) < count) absl::SleepFor(absl::Milliseconds(5));
  return *std::move(child);
}

void ServeAsPlayedFleet(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  int count = 0;
  int64_t milliseconds = 0;
  if (args.size() != 4 || args[0] != kWorkersFlag || !absl::SimpleAtoi(args[1], &count) ||
      !absl::SimpleAtoi(args[3], &milliseconds)) {
    return;
  }
  Timers timers;
  std::vector<std::unique_ptr<PlayedWorker>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(
        std::make_unique<PlayedWorker>(args[2], i, absl::Milliseconds(milliseconds), &timers));
  }
  while (true) absl::SleepFor(absl::Seconds(1));
}

}  // namespace ksearch
