// Worker and coordinator in one process, over loopback: the real session client and gateway, with
// fakes of the store and the executor.
#include "gpu_worker/session/session_client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/textproto.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/service/worker_service.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_executor.h"
#include "tests/fakes/fake_store.h"
#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

using Phase = JobState::Phase;

v1::Task SomeTask() {
  v1::Task task;
  task.set_name("axpy");
  return task;
}

// A coordinator that can be stopped and restarted on the same port, over one store.
class Coordinator {
 public:
  Coordinator() {
    CHECK_OK(store.PutBlob(TaskDigest(SomeTask()), SomeTask().SerializeAsString()));
    Start();
  }
  ~Coordinator() { Stop(); }

  void Start() {
    WorkerGateway::Options options;
    options.scheduler.report_interval = absl::Milliseconds(100);
    options.scheduler.lease_ttl = lease_ttl;
    options.scheduler.adoption_grace = absl::Milliseconds(500);
    options.tick = absl::Milliseconds(10);
    gateway = std::make_unique<WorkerGateway>(options, &store);
    service_ = std::make_unique<WorkerService>(gateway.get());
    const bool bound = Eventually([&] {
      grpc::ServerBuilder builder;
      ApplyServerSettings(&builder);
      int bound_port = 0;
      builder.AddListeningPort(absl::StrCat("127.0.0.1:", port_), grpc::InsecureServerCredentials(),
                               &bound_port);
      builder.RegisterService(service_.get());
      server_ = builder.BuildAndStart();
      if (server_ == nullptr || bound_port == 0) return false;
      port_ = bound_port;
      return true;
    });
    CHECK(bound);
  }
  void Stop() {
    if (server_ == nullptr) return;
    gateway->Shutdown();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
    server_.reset();
    service_.reset();
    gateway.reset();
  }
  void Resubmit() {
    const auto jobs = store.ReadUnfinishedJobs();
    for (const QueuedJob& job : *jobs) {
      gateway->Submit(job.job_id, job.spec, job.attempts);
    }
  }
  std::string Submit(const std::string& salt) {
    v1::JobSpec spec;
    spec.set_device(v1::DEVICE_CLASS_CPU);
    spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
    spec.set_task_sha256(TaskDigest(SomeTask()));
    spec.set_salt(salt);
    const std::string job_id = JobId(spec);
    CHECK_OK(store.AddJob(job_id, spec));
    gateway->Submit(job_id, spec, 0);
    return job_id;
  }
  bool Recorded(const std::string& job_id) { return store.ReadResult(job_id).value().has_value(); }
  Phase PhaseOf(const std::string& job_id) { return gateway->State(job_id).phase; }
  bool HasWorker() {
    const std::vector<v1::WorkerStatus> workers = gateway->Workers();
    for (const v1::WorkerStatus& worker : workers) {
      if (worker.connected() && worker.has_report()) return true;
    }
    return false;
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

  absl::Duration lease_ttl = absl::Seconds(30);
  FakeStore store;
  std::unique_ptr<WorkerGateway> gateway;

 private:
  std::unique_ptr<WorkerService> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

// A session client on its own thread.
class Worker {
 public:
  Worker(const std::string& address, const std::string& state_dir, FakeExecutor& executor,
         const StayPlan::Options& stay = {}) {
    SessionClient::Options options;
    options.stay = stay;
    options.address = address;
    options.state_dir = state_dir;
    options.slots = 2;
    options.hello.set_name("test");
    v1::DeviceCapability* device = options.hello.add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CPU);
    device->add_languages(v1::LANGUAGE_CPP);
    options.first_backoff = absl::Milliseconds(10);
    options.max_backoff = absl::Milliseconds(100);
    auto created = SessionClient::Create(options, executor);
    CHECK_OK(created.status());
    client = *std::move(created);
    thread_ = std::thread([this] {
      ended = client->Run();
      done_ = true;
    });
  }
  ~Worker() {
    client->Stop();
    if (thread_.joinable()) thread_.join();
  }
  bool done() const { return done_; }

  std::unique_ptr<SessionClient> client;
  absl::Status ended;  // once done()

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

class SessionClientTest : public ::testing::Test {
 protected:
  ScratchFolder scratch_;
  FakeExecutor executor_;
  Coordinator coordinator_;
};

TEST_F(SessionClientTest, JobsAreDoneAndRecorded) {
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  std::vector<std::string> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(coordinator_.Submit(absl::StrCat(i)));
  for (const std::string& job : jobs) {
    ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  }
  EXPECT_EQ(executor_.started(), 20);
  const v1::JobResult result = *coordinator_.store.ReadResult(jobs[3]).value();
  EXPECT_EQ(result.message(), "3");
  EXPECT_EQ(result.worker_id(), worker.client->worker_id());
  ASSERT_TRUE(Eventually([&] { return coordinator_.PhaseOf(jobs[19]) == Phase::kDone; }));
  const std::vector<AttemptRow> attempts = coordinator_.store.attempts();
  for (const AttemptRow& attempt : attempts) {
    EXPECT_EQ(attempt.ended, "recorded");
  }
}

TEST_F(SessionClientTest, WorkerThatJoinsLateGetsTheWaitingJob) {
  const std::string job = coordinator_.Submit("early");
  EXPECT_EQ(coordinator_.PhaseOf(job), Phase::kQueued);
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  EXPECT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
}

TEST_F(SessionClientTest, WorkerWaitsForItsCoordinator) {
  const std::string address = coordinator_.address();
  coordinator_.Stop();
  Worker worker(address, scratch_.path(), executor_);
  coordinator_.Start();
  EXPECT_TRUE(Eventually([&] { return coordinator_.HasWorker(); }));
}

TEST_F(SessionClientTest, RunningJobOutlivesTheCoordinatorsRestart) {
  executor_.Hold(true);
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  const std::string job = coordinator_.Submit("long");
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  coordinator_.Stop();
  coordinator_.Start();
  coordinator_.Resubmit();
  ASSERT_TRUE(Eventually([&] { return coordinator_.PhaseOf(job) == Phase::kLeased; }));
  executor_.Hold(false);
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(executor_.started(), 1);
  EXPECT_EQ(coordinator_.store.attempts().size(), 1u);
}

TEST_F(SessionClientTest, ResultFinishedWhileTheCoordinatorIsAwayArrivesOnce) {
  executor_.Hold(true);
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  const std::string job = coordinator_.Submit("long");
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  coordinator_.Stop();
  executor_.Hold(false);
  ASSERT_TRUE(Eventually([&] { return executor_.ended() == 1; }));
  coordinator_.Start();
  coordinator_.Resubmit();
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  ASSERT_TRUE(Eventually([&] { return coordinator_.PhaseOf(job) == Phase::kDone; }));
  EXPECT_EQ(executor_.started(), 1);
}

TEST_F(SessionClientTest, RestartedWorkerSendsWhatItHadSpooled) {
  coordinator_.store.FailWrites(absl::UnavailableError("store is busy"));
  const std::string job = coordinator_.Submit("spooled");
  {
    Worker worker(coordinator_.address(), scratch_.path(), executor_);
    ASSERT_TRUE(Eventually(
        [&] { return coordinator_.gateway->State(job).lease_state == v1::HeldLease::FINISHED; }));
  }
  EXPECT_FALSE(coordinator_.Recorded(job));
  coordinator_.store.FailWrites(absl::OkStatus());
  FakeExecutor idle;
  Worker again(coordinator_.address(), scratch_.path(), idle);
  EXPECT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(executor_.started() + idle.started(), 1);
}

TEST_F(SessionClientTest, CrashedWorkersJobIsDoneByTheNextOne) {
  executor_.Hold(true);
  std::string job;
  {
    Worker worker(coordinator_.address(), scratch_.path(), executor_);
    job = coordinator_.Submit("crash");
    ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  }
  executor_.Hold(false);
  Worker again(coordinator_.address(), scratch_.path(), executor_);
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(coordinator_.store.ReadResult(job).value()->attempt(), 2);
}

TEST_F(SessionClientTest, CancelStopsTheExecution) {
  executor_.Hold(true);
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  const std::string job = coordinator_.Submit("unwanted");
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 1; }));
  coordinator_.gateway->Cancel(job);
  ASSERT_TRUE(Eventually([&] { return executor_.ended() == 1; }));
  EXPECT_FALSE(coordinator_.Recorded(job));
  // The slot is free again.
  executor_.Hold(false);
  const std::string next = coordinator_.Submit("wanted");
  EXPECT_TRUE(Eventually([&] { return coordinator_.Recorded(next); }));
}

TEST_F(SessionClientTest, ReturnedJobIsDoneByAnotherWorker) {
  FakeExecutor broken;
  broken.FailWith(absl::UnavailableError("no compiler"));
  ScratchFolder other;
  Worker first(coordinator_.address(), scratch_.path(), broken);
  ASSERT_TRUE(Eventually([&] { return coordinator_.HasWorker(); }));
  const std::string job = coordinator_.Submit("job");
  ASSERT_TRUE(Eventually([&] { return broken.ended() >= 1; }));
  Worker second(coordinator_.address(), other.path(), executor_);
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(coordinator_.store.ReadResult(job).value()->worker_id(), second.client->worker_id());
}

TEST_F(SessionClientTest, DrainedWorkerFinishesAndLeaves) {
  executor_.Hold(true);
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  std::vector<std::string> jobs;
  for (int i = 0; i < 3; ++i) jobs.push_back(coordinator_.Submit(absl::StrCat(i)));
  ASSERT_TRUE(Eventually([&] { return executor_.started() == 2; }));
  worker.client->Drain();
  executor_.Hold(false);
  ASSERT_TRUE(Eventually([&] { return worker.done(); }));
  EXPECT_TRUE(worker.ended.ok()) << worker.ended;
  EXPECT_EQ(executor_.started(), 2);
  EXPECT_EQ(coordinator_.store.results(), 2);
  EXPECT_EQ(coordinator_.gateway->queued(), 1);
}

TEST_F(SessionClientTest, CoordinatorCanDrainAWorker) {
  Worker worker(coordinator_.address(), scratch_.path(), executor_);
  ASSERT_TRUE(Eventually([&] { return coordinator_.HasWorker(); }));
  EXPECT_FALSE(coordinator_.gateway->Drain("nobody").ok());
  ASSERT_TRUE(coordinator_.gateway->Drain(worker.client->worker_id()).ok());
  EXPECT_TRUE(Eventually([&] { return worker.done(); }));
  EXPECT_TRUE(worker.ended.ok());
}

TEST_F(SessionClientTest, IdleWorkerDrainsAtOnceWithoutACoordinator) {
  const std::string address = coordinator_.address();
  coordinator_.Stop();
  Worker worker(address, scratch_.path(), executor_);
  worker.client->Drain();
  EXPECT_TRUE(Eventually([&] { return worker.done(); }));
  EXPECT_TRUE(worker.ended.ok());
}

TEST_F(SessionClientTest, JobThatDoesNotEndWithinTheGraceIsDoneByAnotherWorkerAtOnce) {
  FakeExecutor slow;
  slow.Hold(true);
  ScratchFolder other;
  Worker first(coordinator_.address(), scratch_.path(), slow);
  const std::string job = coordinator_.Submit("slow");
  ASSERT_TRUE(Eventually([&] { return slow.started() == 1; }));
  ASSERT_TRUE(coordinator_.gateway->Drain(first.client->worker_id(), absl::Milliseconds(100)).ok());
  ASSERT_TRUE(Eventually([&] { return first.done(); }));
  EXPECT_TRUE(first.ended.ok()) << first.ended;
  EXPECT_TRUE(Eventually([&] { return slow.ended() == 1; }));  // stopped
  EXPECT_EQ(coordinator_.PhaseOf(job), Phase::kQueued);
  Worker second(coordinator_.address(), other.path(), executor_);
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  const std::vector<AttemptRow> attempts = coordinator_.store.attempts();
  EXPECT_EQ(attempts[0].ended, "returned");
  EXPECT_EQ(attempts[0].note, "the worker leaves: the coordinator asked it to");
}

TEST_F(SessionClientTest, WorkerLeavesWhenItHasBeenIdleForLong) {
  Worker worker(coordinator_.address(), scratch_.path(), executor_,
                {.idle_timeout = absl::Milliseconds(300)});
  const std::string job = coordinator_.Submit("job");
  ASSERT_TRUE(Eventually([&] { return worker.done(); }));
  EXPECT_TRUE(worker.ended.ok()) << worker.ended;
  EXPECT_TRUE(coordinator_.Recorded(job));
}

TEST_F(SessionClientTest, IdleWorkerLeavesWithoutACoordinatorToo) {
  const std::string address = coordinator_.address();
  coordinator_.Stop();
  Worker worker(address, scratch_.path(), executor_, {.idle_timeout = absl::Milliseconds(300)});
  ASSERT_TRUE(Eventually([&] { return worker.done(); }));
  EXPECT_TRUE(worker.ended.ok()) << worker.ended;
}

TEST_F(SessionClientTest, WorkerSaysHowLongItStaysAndGetsNothingThatWouldNotEndInTime) {
  Worker worker(coordinator_.address(), scratch_.path(), executor_,
                {.lifetime = absl::Seconds(60)});  // a job is expected to take 2 min
  ASSERT_TRUE(Eventually([&] { return coordinator_.HasWorker(); }));
  const v1::WorkerReport report = coordinator_.gateway->Workers()[0].report();
  EXPECT_GT(FromProto(report.time_left()), absl::Seconds(20));
  EXPECT_LT(FromProto(report.time_left()), absl::Seconds(55));
  const std::string job = coordinator_.Submit("job");
  ScratchFolder other;
  FakeExecutor second_executor;
  Worker second(coordinator_.address(), other.path(), second_executor);
  ASSERT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(executor_.started(), 0);
}

TEST_F(SessionClientTest, NewerSessionOfTheSameWorkerIdEndsTheOlderForGood) {
  Worker first(coordinator_.address(), scratch_.path(), executor_);
  ASSERT_TRUE(Eventually([&] { return coordinator_.HasWorker(); }));
  // A copied state folder: the same id under another lock.
  ScratchFolder copy;
  std::filesystem::copy_file(scratch_.path() + "/worker_id", copy.path() + "/worker_id");
  FakeExecutor other;
  Worker second(coordinator_.address(), copy.path(), other);
  ASSERT_TRUE(Eventually([&] { return first.done(); }));
  EXPECT_EQ(first.ended.code(), absl::StatusCode::kAborted);
  const std::string job = coordinator_.Submit("job");
  EXPECT_TRUE(Eventually([&] { return coordinator_.Recorded(job); }));
  EXPECT_EQ(other.started(), 1);
}

TEST_F(SessionClientTest, RefusedWorkerStopsAndSaysWhy) {
  SessionClient::Options options;
  options.address = coordinator_.address();
  options.state_dir = scratch_.path();
  auto client = SessionClient::Create(options, executor_);  // no devices
  ASSERT_TRUE(client.ok());
  const absl::Status status = (*client)->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("devices"), std::string::npos);
}

}  // namespace
}  // namespace ksearch
