// While tokens are in use, a worker can access only its own worker_id, leases and tasks.
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/blob_folder.h"
#include "common/digest.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/protocol_version.h"
#include "coordinator/service/worker_gateway.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

class KeptLink final : public WorkerLink {
 public:
  void Send(const v1::WorkerDown& down) override {
    for (const v1::JobOffer& offer : down.offers()) offers.push_back(offer);
    for (const std::string& lease_id : down.cancel_lease_ids()) cancelled.push_back(lease_id);
  }
  void End(const absl::Status& status) override { ended = status; }
  std::vector<v1::JobOffer> offers;
  std::vector<std::string> cancelled;
  absl::Status ended;
};

class WorkerOwnershipTest : public ::testing::Test {
 protected:
  WorkerOwnershipTest() : gateway_(std::make_unique<WorkerGateway>(Slow(), &store_, &clock_)) {}
  ~WorkerOwnershipTest() override {
    if (gateway_ != nullptr) gateway_->Shutdown();
  }

  // Another process on the same database, as main.cc makes it; all tokens but `ended` are valid.
  void Restart(const std::string& ended = "") {
    gateway_->Shutdown();
    gateway_ = std::make_unique<WorkerGateway>(Slow(), &store_, &clock_);
    const auto unfinished = store_.ReadUnfinishedJobs();
    auto owners = *store_.ReadWorkerOwners();
    std::erase_if(owners, [&](const auto& owner) { return owner.second == "token/" + ended; });
    gateway_->Restore(*unfinished, owners, {});
    for (const QueuedJob& job : *unfinished) {
      gateway_->Submit(job.job_id, job.spec, job.attempts);
    }
  }
  absl::Status ReportLease(const std::string& worker, KeptLink* link, const v1::JobOffer& offer) {
    v1::WorkerReport report;
    report.set_applied_directive_seq(1);
    v1::HeldLease* held = report.add_leases();
    held->set_lease_id(offer.lease_id());
    held->set_job_id(offer.job_id());
    held->set_attempt(1);
    held->set_state(v1::HeldLease::RUNNING);
    return gateway_->Report(worker, link, report);
  }

  // Ticks would call the links on another thread.
  static WorkerGateway::Options Slow() {
    WorkerGateway::Options options;
    options.tick = absl::Hours(1);
    return options;
  }
  absl::Status Join(const std::string& worker, KeptLink* link, const WorkerIdentity& identity) {
    v1::WorkerHello hello;
    hello.set_protocol_version(kProtocolVersion);
    hello.set_worker_id(worker);
    hello.set_name("said");
    hello.set_incarnation("i");
    hello.add_devices()->set_device_class(v1::DEVICE_CLASS_CPU);
    hello.mutable_devices(0)->add_languages(v1::LANGUAGE_CPP);
    const absl::Status status = gateway_->BeginSession(hello, link, identity);
    if (!status.ok()) return status;
    v1::WorkerReport report;
    report.set_free_slots(1);
    return gateway_->Report(worker, link, report);
  }
  void Submit(const std::string& task) {
    v1::JobSpec spec;
    spec.set_device(v1::DEVICE_CLASS_CPU);
    spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
    spec.set_task_sha256(task);
    CHECK_OK(store_.PutBlob(task, "task"));
    CHECK_OK(store_.AddJob(JobId(spec), spec));
    gateway_->Submit(JobId(spec), spec, 0);
  }
  absl::Status Record(const v1::JobOffer& offer, const std::string& worker,
                      const WorkerIdentity& identity) {
    v1::RecordResultRequest request;
    request.set_lease_id(offer.lease_id());
    request.mutable_result()->set_job_id(offer.job_id());
    request.mutable_result()->set_attempt(1);
    request.mutable_result()->set_worker_id(worker);
    request.mutable_result()->set_outcome(v1::OUTCOME_PASSED);
    absl::Status answer;
    gateway_->RecordResult(
        request, [&](auto disposition) { answer = disposition.status(); }, identity);
    return answer;
  }
  absl::Status Read(const std::string& task, const WorkerIdentity& identity) {
    Mutex mu;
    CondVar done;
    std::optional<absl::Status> status;
    gateway_->ReadBlob(
        task,
        [&](const absl::StatusOr<WorkerGateway::Blob>& blob) {
          if (blob.ok()) read_ = std::string(blob->view());
          MutexLock lock(&mu);
          status = blob.status();
          done.NotifyAll();
        },
        identity);
    MutexLock lock(&mu);
    while (!status.has_value()) done.Wait(&mu);
    return *status;
  }

  std::string read_;  // by Read
  const WorkerIdentity one_{"t1", ""};
  const WorkerIdentity two_{"t2", ""};
  const std::string task_ = std::string(64, 'a');
  FakeClock clock_;
  FakeStore store_;
  KeptLink link_, other_, again_;  // outlive the gateway
  std::unique_ptr<WorkerGateway> gateway_;
};

TEST_F(WorkerOwnershipTest, WorkerIdBelongsToTheTokenItCameWith) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, two_)));
  EXPECT_TRUE(link_.ended.ok()) << "the owner's session goes on: " << link_.ended;
  EXPECT_TRUE(Join("w1", &other_, one_).ok());
  EXPECT_TRUE(absl::IsAborted(link_.ended));
}

TEST_F(WorkerOwnershipTest, CertifiedNameCountsMoreThanTheToken) {
  ASSERT_TRUE(Join("w1", &link_, {"t1", "node1"}).ok());
  EXPECT_EQ(gateway_->Workers()[0].name(), "node1");
  EXPECT_EQ(gateway_->Workers()[0].hello().name(), "node1");
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, {"t1", "node2"})));
  EXPECT_TRUE(Join("w1", &other_, {"t9", "node1"}).ok()) << "a new token, the same certificate";
}

TEST_F(WorkerOwnershipTest, ResultIsTakenFromTheWorkerThatHasTheLeaseOnly) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  Submit(task_);
  ASSERT_EQ(link_.offers.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(Record(link_.offers[0], "w2", two_))) << "no hello yet";
  ASSERT_TRUE(Join("w2", &other_, two_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Record(link_.offers[0], "w1", two_)));
  EXPECT_TRUE(absl::IsInvalidArgument(Record(link_.offers[0], "w2", two_)));
  v1::JobOffer made_up = link_.offers[0];
  made_up.set_lease_id("made-up");
  EXPECT_TRUE(absl::IsInvalidArgument(Record(made_up, "w2", two_)));
  EXPECT_EQ(store_.results(), 0);
  EXPECT_TRUE(Record(link_.offers[0], "w1", one_).ok());
  EXPECT_EQ(store_.results(), 1);
  EXPECT_TRUE(Record(link_.offers[0], "w1", one_).ok()) << "an acknowledgment may be lost";
}

TEST_F(WorkerOwnershipTest, LeaseOfAnotherWorkerIsRefusedWithoutTokensToo) {
  ASSERT_TRUE(Join("w1", &link_, {}).ok());
  ASSERT_TRUE(Join("w2", &other_, {}).ok());
  Submit(task_);
  const bool first = !link_.offers.empty();
  const v1::JobOffer& offer = first ? link_.offers.at(0) : other_.offers.at(0);
  EXPECT_TRUE(absl::IsInvalidArgument(Record(offer, first ? "w2" : "w1", {})));
  EXPECT_TRUE(Record(offer, first ? "w1" : "w2", {}).ok());
}

TEST_F(WorkerOwnershipTest, OnlyTasksOfOwnLeasesCanBeRead) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  Submit(task_);
  ASSERT_EQ(link_.offers.size(), 1u);
  ASSERT_TRUE(Join("w2", &other_, two_).ok());
  EXPECT_TRUE(Read(task_, one_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Read(task_, two_)));
  const std::string unasked(64, 'b');
  ASSERT_TRUE(store_.PutBlob(unasked, "another task").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Read(unasked, one_)));
  EXPECT_TRUE(Read(unasked, {}).ok()) << "no tokens in use";
}

TEST_F(WorkerOwnershipTest, ACertificateIsOfOneWorkerIdAndAWorkerIdOfOneKey) {
  std::vector<std::string> refused;
  gateway_->SetRefusalListener([&](const std::string& name, const absl::Status& why) {
    refused.push_back(absl::StrCat(name, ": ", why.message()));
  });
  WorkerIdentity identity = {"t1", ""};
  identity.joined = JoinedWorker{"t1", "w1", std::string(32, 'a'), absl::InfiniteFuture()};
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w2", &link_, identity)));
  ASSERT_TRUE(Join("w1", &link_, identity).ok());
  WorkerIdentity impostor = identity;
  impostor.joined->key_id = std::string(32, 'b');
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, impostor))) << "the token is not enough";
  gateway_->EndSessionOfWorker("w2");
  EXPECT_TRUE(link_.ended.ok());
  gateway_->EndSessionOfWorker("w1");
  EXPECT_TRUE(absl::IsPermissionDenied(link_.ended));
  // The key identifies the worker, whatever token it uses, even when the old token has expired.
  gateway_->EndSessionsOf("t1");
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, impostor)));
  identity.token_id = identity.joined->token_id = "t2";
  EXPECT_TRUE(Join("w1", &again_, identity).ok());
  identity.pool = "spot";
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, identity))) << "the hello names no pool";
  EXPECT_GE(refused.size(), 4u);
}

TEST_F(WorkerOwnershipTest, RecordedInputsAreReadByWhoeverHasALeaseOfTheirTask) {
  std::string folder = (std::filesystem::temp_directory_path() / "ksearch-inputs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto remove = absl::MakeCleanup([&] { std::filesystem::remove_all(folder); });
  const auto inputs = *BlobFolder::Open(folder);
  const std::string name = Sha256Hex("values");
  ASSERT_TRUE(inputs->Put(name, "values").ok());
  v1::Task task;
  task.add_workloads()->add_inputs()->mutable_recorded()->set_sha256(name);
  WorkerGateway::Options options = Slow();
  options.inputs = inputs.get();
  gateway_ = std::make_unique<WorkerGateway>(options, &store_, &clock_);
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  ASSERT_TRUE(store_.PutBlob(task_, task.SerializeAsString()).ok());
  Submit(task_);
  ASSERT_EQ(link_.offers.size(), 1u);
  ASSERT_TRUE(Join("w2", &other_, two_).ok());
  EXPECT_TRUE(Read(name, one_).ok());
  EXPECT_EQ(read_, "values");
  EXPECT_TRUE(absl::IsPermissionDenied(Read(name, two_)));
  EXPECT_TRUE(Read(name, {}).ok()) << "no tokens in use";
  EXPECT_TRUE(absl::IsPermissionDenied(Read(Sha256Hex("others"), one_)));
  gateway_.reset();
}

TEST_F(WorkerOwnershipTest, EndOfATokenEndsItsSessionsAndFreesItsWorkerIds) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  ASSERT_TRUE(Join("w2", &other_, two_).ok());
  gateway_->EndSessionsOf("t1");
  EXPECT_TRUE(absl::IsUnauthenticated(link_.ended));
  EXPECT_TRUE(other_.ended.ok());
  EXPECT_TRUE(Join("w1", &again_, {"t3", ""}).ok()) << "the same worker with a new token";
}

TEST_F(WorkerOwnershipTest, OwnersAndLeasesOutliveTheCoordinator) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  Submit(task_);
  ASSERT_EQ(link_.offers.size(), 1u);
  const v1::JobOffer offer = link_.offers[0];
  ASSERT_TRUE(Eventually([&] { return store_.ReadWorkerOwners()->contains("w1"); }));
  Restart();
  EXPECT_TRUE(absl::IsPermissionDenied(Join("w1", &other_, two_)));
  ASSERT_TRUE(Join("w2", &other_, two_).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Read(task_, two_)));
  EXPECT_TRUE(absl::IsInvalidArgument(Record(offer, "w2", two_)));
  ASSERT_TRUE(ReportLease("w2", &other_, offer).ok());
  EXPECT_EQ(other_.cancelled, std::vector<std::string>{offer.lease_id()});
  EXPECT_EQ(gateway_->State(offer.job_id()).phase, JobState::Phase::kQueued);
  EXPECT_EQ(store_.results(), 0);

  // The result may come before the first report, the task may not have been fetched yet.
  EXPECT_TRUE(Read(task_, one_).ok());
  ASSERT_TRUE(Join("w1", &again_, one_).ok());
  EXPECT_TRUE(Record(offer, "w1", one_).ok());
  EXPECT_EQ(store_.results(), 1);
}

TEST_F(WorkerOwnershipTest, WorkerKeepsItsLeaseAcrossARestart) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  Submit(task_);
  ASSERT_EQ(link_.offers.size(), 1u);
  Restart();
  v1::JobOffer made_up = link_.offers[0];
  made_up.set_lease_id("made-up");
  ASSERT_TRUE(Join("w1", &again_, one_).ok());
  ASSERT_TRUE(ReportLease("w1", &again_, made_up).ok());
  EXPECT_EQ(gateway_->State(made_up.job_id()).phase, JobState::Phase::kQueued);
  ASSERT_TRUE(ReportLease("w1", &again_, link_.offers[0]).ok());
  EXPECT_EQ(gateway_->State(made_up.job_id()).phase, JobState::Phase::kLeased);
  EXPECT_EQ(gateway_->State(made_up.job_id()).worker_id, "w1");
}

TEST_F(WorkerOwnershipTest, EndedTokenOwnsNothingInTheNextLife) {
  ASSERT_TRUE(Join("w1", &link_, one_).ok());
  ASSERT_TRUE(Eventually([&] { return store_.ReadWorkerOwners()->contains("w1"); }));
  Restart("t1");
  EXPECT_TRUE(Join("w1", &other_, two_).ok()) << "revoked while the coordinator was down";
  Restart();
  gateway_->EndSessionsOf("t2");
  EXPECT_TRUE(Join("w1", &again_, {"t3", ""}).ok()) << "revoked before the worker was back";
}

}  // namespace
}  // namespace ksearch
