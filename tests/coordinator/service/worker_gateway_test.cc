#include "coordinator/service/worker_gateway.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/protocol_version.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using Phase = JobState::Phase;

class FakeLink final : public WorkerLink {
 public:
  void Send(const v1::WorkerDown& down) override {
    MutexLock lock(&mu_);
    sent_.push_back(down);
  }
  void End(const absl::Status& status) override {
    MutexLock lock(&mu_);
    ended_ = status;
  }
  std::vector<v1::WorkerDown> sent() {
    MutexLock lock(&mu_);
    return sent_;
  }
  absl::Status ended() {
    MutexLock lock(&mu_);
    return ended_;
  }
  std::vector<v1::JobOffer> offers() {
    std::vector<v1::JobOffer> offers;
    const std::vector<v1::WorkerDown> downs = sent();
    for (const v1::WorkerDown& down : downs) {
      offers.insert(offers.end(), down.offers().begin(), down.offers().end());
    }
    return offers;
  }

 private:
  Mutex mu_;
  std::vector<v1::WorkerDown> sent_ ABSL_GUARDED_BY(mu_);
  absl::Status ended_ ABSL_GUARDED_BY(mu_);
};

v1::WorkerHello Hello(const std::string& worker, const std::string& incarnation = "i1") {
  v1::WorkerHello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_worker_id(worker);
  hello.set_incarnation(incarnation);
  v1::DeviceCapability* device = hello.add_devices();
  device->set_device_class(v1::DEVICE_CLASS_CPU);
  device->add_languages(v1::LANGUAGE_CPP);
  return hello;
}

class WorkerGatewayTest : public ::testing::Test {
 protected:
  WorkerGatewayTest() {
    WorkerGateway::Options options;
    options.tick = absl::Milliseconds(1);
    gateway_ = std::make_unique<WorkerGateway>(options, &store_, &clock_);
    gateway_->SetResultListener([this](const v1::JobResult& result) {
      MutexLock lock(&mu_);
      heard_.push_back(result);
    });
  }
  ~WorkerGatewayTest() override { gateway_->Shutdown(); }

  std::string Submit(const std::string& salt) {
    v1::JobSpec spec;
    spec.set_device(v1::DEVICE_CLASS_CPU);
    spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
    spec.set_salt(salt);
    const std::string job_id = JobId(spec);
    CHECK_OK(store_.AddJob(job_id, spec));
    gateway_->Submit(job_id, spec, 0);
    return job_id;
  }
  void Join(const std::string& worker, FakeLink* link, int slots,
            const std::string& incarnation = "i1") {
    ASSERT_TRUE(gateway_->BeginSession(Hello(worker, incarnation), link).ok());
    v1::WorkerReport report;
    report.set_free_slots(slots);
    ASSERT_TRUE(gateway_->Report(worker, link, report).ok());
  }
  absl::StatusOr<v1::RecordResultReply::Disposition> Record(const v1::JobOffer& offer,
                                                            const std::string& worker) {
    v1::RecordResultRequest request;
    request.set_lease_id(offer.lease_id());
    request.mutable_result()->set_job_id(offer.job_id());
    request.mutable_result()->set_attempt(offer.attempt());
    request.mutable_result()->set_worker_id(worker);
    request.mutable_result()->set_outcome(v1::OUTCOME_PASSED);
    absl::StatusOr<v1::RecordResultReply::Disposition> answer = absl::UnknownError("no answer");
    gateway_->RecordResult(request, [&](auto disposition) { answer = std::move(disposition); });
    return answer;
  }
  std::vector<v1::JobResult> heard() {
    MutexLock lock(&mu_);
    return heard_;
  }

  Mutex mu_;
  std::vector<v1::JobResult> heard_ ABSL_GUARDED_BY(mu_);
  FakeClock clock_;
  FakeStore store_;
  FakeLink link_;
  FakeLink other_;
  FakeLink links_[4];
  std::unique_ptr<WorkerGateway> gateway_;
};

TEST_F(WorkerGatewayTest, SubmittedJobReachesAnIdleWorkerAtOnce) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  ASSERT_EQ(link_.offers().size(), 1u);
  EXPECT_EQ(link_.offers()[0].job_id(), job);
  EXPECT_EQ(gateway_->leased(), 1);
  ASSERT_EQ(store_.attempts().size(), 1u);
  EXPECT_EQ(store_.attempts()[0].worker_id, "w1");
  EXPECT_EQ(store_.attempts()[0].ended, "");
}

TEST_F(WorkerGatewayTest, DirectivesAreNumberedInTheOrderTheyAreSent) {
  Join("w1", &link_, 5);
  for (int i = 0; i < 5; ++i) Submit(absl::StrCat(i));
  const std::vector<v1::WorkerDown> sent = link_.sent();
  ASSERT_EQ(sent.size(), 6u);
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].directive_seq(), static_cast<int64_t>(i) + 1);
  }
}

TEST_F(WorkerGatewayTest, RecordedResultEndsTheJobAndIsHeardOnce) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  const v1::JobOffer offer = link_.offers()[0];
  EXPECT_EQ(Record(offer, "w1").value(), v1::RecordResultReply::RECORDED);
  EXPECT_EQ(Record(offer, "w1").value(), v1::RecordResultReply::ALREADY_RECORDED);
  EXPECT_EQ(gateway_->State(job).phase, Phase::kDone);
  EXPECT_EQ(store_.attempts()[0].ended, "recorded");
  ASSERT_EQ(heard().size(), 1u);
  EXPECT_EQ(heard()[0].job_id(), job);
  EXPECT_EQ(gateway_->Workers()[0].jobs_done(), 1);
}

TEST_F(WorkerGatewayTest, ResultNobodyAskedForIsUnknown) {
  v1::JobOffer offer;
  offer.set_lease_id("x");
  offer.set_job_id(std::string(64, 'a'));
  offer.set_attempt(1);
  EXPECT_EQ(Record(offer, "w1").value(), v1::RecordResultReply::UNKNOWN_JOB);
  EXPECT_TRUE(heard().empty());
}

TEST_F(WorkerGatewayTest, StoreTroubleIsTheWorkersAnswerAndTheJobGoesOn) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(Record(link_.offers()[0], "w1").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(gateway_->State(job).phase, Phase::kLeased);
  store_.FailWrites(absl::OkStatus());
  EXPECT_EQ(Record(link_.offers()[0], "w1").value(), v1::RecordResultReply::RECORDED);
}

TEST_F(WorkerGatewayTest, SilentWorkersJobExpiresAndIsRecordedAsLost) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  clock_.Advance(absl::Seconds(30));
  ASSERT_TRUE(Eventually([&] { return gateway_->State(job).phase == Phase::kQueued; }));
  EXPECT_EQ(store_.attempts()[0].ended, "lost");
  EXPECT_EQ(store_.attempts()[0].note, "no report for the length of the lease");
}

TEST_F(WorkerGatewayTest, JobThatKillsItsWorkersGetsAWorkerLostResult) {
  const std::string job = Submit("a");
  for (int life = 0; life < 4; ++life) Join("w1", &links_[life], 1, absl::StrCat("i", life));
  const auto result = store_.ReadResult(job);
  ASSERT_TRUE((*result).has_value());
  EXPECT_EQ((*result)->outcome(), v1::OUTCOME_WORKER_LOST);
  EXPECT_EQ((*result)->attempt(), 3);
  EXPECT_EQ((*result)->message(),
            "given up after 3 attempts; lost by w1: the worker no longer has it");
  EXPECT_EQ(heard().size(), 1u);
}

TEST_F(WorkerGatewayTest, WorkerLostResultIsWrittenAgainWhenTheStoreRefused) {
  const std::string job = Submit("a");
  store_.FailWrites(absl::ResourceExhaustedError("disk full"));
  for (int life = 0; life < 4; ++life) Join("w1", &links_[life], 1, absl::StrCat("i", life));
  EXPECT_FALSE(store_.ReadResult(job)->has_value());
  store_.FailWrites(absl::OkStatus());
  ASSERT_TRUE(Eventually([&] {
    clock_.Advance(absl::Seconds(1));
    return store_.ReadResult(job)->has_value();
  }));
  EXPECT_EQ(heard().size(), 1u);
}

TEST_F(WorkerGatewayTest, CancelTellsTheWorkerAndClosesTheAttempt) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  gateway_->Cancel(job);
  EXPECT_THAT(link_.sent().back().cancel_lease_ids(), ElementsAre(link_.offers()[0].lease_id()));
  EXPECT_EQ(store_.attempts()[0].ended, "cancelled");
}

TEST_F(WorkerGatewayTest, EndTellsTheWorkerAndEverybodyWhoWaits) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  EXPECT_EQ(gateway_->FactsOf(job).since, clock_.Now());
  EXPECT_EQ(gateway_->FactsOf(job).last_trouble, "");
  gateway_->End(job, v1::OUTCOME_CANCELLED, "cancelled by request");
  EXPECT_THAT(link_.sent().back().cancel_lease_ids(), ElementsAre(link_.offers()[0].lease_id()));
  const auto result = store_.ReadResult(job);
  ASSERT_TRUE(result.ok() && result->has_value());
  EXPECT_EQ((*result)->outcome(), v1::OUTCOME_CANCELLED);
  EXPECT_EQ((*result)->message(), "cancelled by request");
  EXPECT_EQ(heard().size(), 1u);
}

TEST_F(WorkerGatewayTest, NewSessionTakesOverFromTheOlder) {
  Join("w1", &link_, 1);
  Join("w1", &other_, 1);
  EXPECT_EQ(link_.ended().code(), absl::StatusCode::kAborted);
  // Late messages and the end of the old stream change nothing.
  v1::WorkerReport report;
  report.set_free_slots(7);
  EXPECT_TRUE(gateway_->Report("w1", &link_, report).ok());
  gateway_->EndSession("w1", &link_);
  EXPECT_TRUE(gateway_->Workers()[0].connected());
  Submit("a");
  EXPECT_EQ(other_.offers().size(), 1u);
  EXPECT_TRUE(link_.offers().empty());
}

TEST_F(WorkerGatewayTest, WorkersAreListedWithTheirState) {
  Join("w1", &link_, 2);
  Join("w2", &other_, 1);
  gateway_->EndSession("w2", &other_);
  const std::vector<v1::WorkerStatus> workers = gateway_->Workers();
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_TRUE(workers[0].connected());
  EXPECT_EQ(workers[0].report().free_slots(), 2);
  EXPECT_FALSE(workers[1].connected());
  EXPECT_TRUE(Eventually([&] { return store_.ListWorkers()->size() == 2; }));
}

TEST_F(WorkerGatewayTest, MalformedMessagesAreRefused) {
  v1::WorkerHello hello = Hello("w1");
  hello.set_protocol_version(9);
  EXPECT_EQ(gateway_->BeginSession(hello, &link_).code(), absl::StatusCode::kFailedPrecondition);
  Join("w1", &link_, 1);
  v1::WorkerReport report;
  report.set_free_slots(-1);
  EXPECT_EQ(gateway_->Report("w1", &link_, report).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Record(v1::JobOffer(), "w1").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(WorkerGatewayTest, ShutdownEndsSessionsAndRefusesWork) {
  Join("w1", &link_, 1);
  const std::string job = Submit("a");
  gateway_->Shutdown();
  EXPECT_EQ(link_.ended().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(gateway_->BeginSession(Hello("w2"), &other_).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Record(link_.offers()[0], "w1").status().code(), absl::StatusCode::kUnavailable);
  Submit("b");
  EXPECT_EQ(gateway_->queued(), 0);
}

TEST_F(WorkerGatewayTest, AResultOfAnotherPlatformIsRefusedAndTheJobStaysOpen) {
  v1::WorkerHello hello = Hello("w1");
  hello.mutable_devices(0)->mutable_fingerprint()->set_name("H200");
  hello.mutable_devices(0)->mutable_fingerprint()->set_harness_version("5");
  ASSERT_TRUE(gateway_->BeginSession(hello, &link_).ok());
  v1::WorkerReport report;
  report.set_free_slots(1);
  ASSERT_TRUE(gateway_->Report("w1", &link_, report).ok());
  v1::JobSpec spec;
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  const std::vector<v1::Platform> platforms = gateway_->PlatformsFor(spec);
  ASSERT_EQ(platforms.size(), 1u);
  *spec.mutable_platform() = platforms[0];
  const std::string job_id = JobId(spec);
  CHECK_OK(store_.AddJob(job_id, spec));
  gateway_->Submit(job_id, spec, 0);
  ASSERT_EQ(link_.offers().size(), 1u);
  v1::RecordResultRequest request;
  request.set_lease_id(link_.offers()[0].lease_id());
  v1::JobResult* result = request.mutable_result();
  result->set_job_id(job_id);
  result->set_attempt(1);
  result->set_worker_id("w1");
  result->set_outcome(v1::OUTCOME_PASSED);
  const auto record = [&](const std::string& model, const std::string& harness) {
    result->mutable_device()->set_name(model);
    result->mutable_device()->set_harness_version(harness);
    absl::Status status;
    gateway_->RecordResult(request, [&](const auto& answer) { status = answer.status(); });
    return status;
  };
  const absl::Status refused = record("H100", "5");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), absl::StrCat("result.device: measured with H100, harness 5; job ",
                                            job_id, " asks for H200, harness 5"));
  EXPECT_FALSE(record("H200", "4").ok());
  EXPECT_FALSE(store_.ReadResult(job_id)->has_value());
  EXPECT_TRUE(record("H200", "5").ok());
  EXPECT_TRUE(store_.ReadResult(job_id)->has_value());
}

TEST_F(WorkerGatewayTest, WhoLeavesBringsNoPlatform) {
  v1::JobSpec spec;
  spec.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  EXPECT_TRUE(gateway_->PlatformsFor(spec).empty());
  Join("w1", &link_, 1);
  EXPECT_EQ(gateway_->PlatformsFor(spec).size(), 1u);
  v1::WorkerReport report;
  report.set_draining(true);
  ASSERT_TRUE(gateway_->Report("w1", &link_, report).ok());
  EXPECT_TRUE(gateway_->PlatformsFor(spec).empty());
}

}  // namespace
}  // namespace ksearch
