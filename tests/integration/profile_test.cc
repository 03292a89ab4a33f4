// A search on a GPU task with a simulated worker: its profiles reach the next prompt and the
// command line, but are not counted as evaluations. Takes a few seconds.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/access/client_access.h"
#include "common/grpc_channel.h"
#include "common/mutex.h"
#include "common/protocol_version.h"
#include "common/textproto.h"
#include "coordinator/store/rows.h"
#include "google/protobuf/struct.pb.h"
#include "gpu_worker/profile/ncu_csv.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.grpc.pb.h"
#include "tests/integration/from_json.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

// Takes every job at once. A program whose text says "speedup 2" is twice as fast as the baseline;
// profiles are one that was recorded on an H200, or a refusal.
class ProfilingWorker {
 public:
  ProfilingWorker(const std::string& address, bool may_profile) : may_profile_(may_profile) {
    const auto text = ReadFile(
        LocalCluster::SourcePath("tests/gpu_worker/profile/testdata/h200_raw.txt"), 1 << 20);
    EXPECT_TRUE(text.ok()) << text.status();
    const auto profile = ParseNcuCsv(text.value_or(""));
    EXPECT_TRUE(profile.ok()) << profile.status();
    if (profile.ok()) profile_ = *profile;
    stub_ = v1::WorkerService::NewStub(MakeChannel(address, ClientAccess()));
    thread_ = std::thread([this] { Serve(); });
  }
  ~ProfilingWorker() {
    context_.TryCancel();
    thread_.join();
  }

  std::map<v1::JobKind, int> jobs() {
    MutexLock lock(&mu_);
    return jobs_;
  }

 private:
  v1::DeviceFingerprint Device() const {
    v1::DeviceFingerprint device;
    device.set_device_id("GPU-played");
    device.set_name("NVIDIA H200");
    device.set_architecture("sm_90a");
    return device;
  }

  void Serve() {
    const auto stream = stub_->Session(&context_);
    v1::WorkerUp up;
    v1::WorkerHello* hello = up.mutable_hello();
    hello->set_protocol_version(kProtocolVersion);
    hello->set_worker_id("played");
    hello->set_name("played");
    hello->set_incarnation("1");
    v1::DeviceCapability* device = hello->add_devices();
    device->set_device_class(v1::DEVICE_CLASS_CUDA);
    *device->mutable_fingerprint() = Device();
    device->add_languages(v1::LANGUAGE_CUDA);
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
    {
      MutexLock lock(&mu_);
      ++jobs_[offer.spec().kind()];
    }
    v1::RecordResultRequest request;
    request.set_lease_id(offer.lease_id());
    v1::JobResult* result = request.mutable_result();
    result->set_job_id(offer.job_id());
    result->set_attempt(offer.attempt());
    result->set_worker_id("played");
    result->set_outcome(v1::OUTCOME_PASSED);
    *result->mutable_device() = Device();
    result->mutable_stage_times()->mutable_device_held()->set_seconds(1);
    if (offer.spec().kind() == v1::JOB_KIND_PROFILE) {
      EXPECT_EQ(offer.spec().architecture(), "sm_90a");
      if (may_profile_) *result->mutable_profile() = profile_;
      result->mutable_profile()->set_workload_uuid(offer.spec().workload_uuids(0));
      if (!may_profile_) {
        result->mutable_profile()->set_absence(v1::Profile::NOT_PERMITTED);
        result->mutable_profile()->set_note("the counters are the administrator's");
      }
    } else if (IsEvaluation(offer.spec().kind()) && offer.spec().kind() != v1::JOB_KIND_CHECK) {
      Judge(offer.spec(), result);
    }
    grpc::ClientContext context;
    v1::RecordResultReply reply;
    const absl::Status status = FromGrpc(stub_->RecordResult(&context, request, &reply));
    EXPECT_TRUE(status.ok()) << status;
  }

  static void Judge(const v1::JobSpec& spec, v1::JobResult* result) {
    const std::string& text = spec.candidate().files(0).content();
    const size_t at = text.find("speedup ");
    double speedup = 1;
    EXPECT_TRUE(at != std::string::npos && absl::SimpleAtod(text.substr(at + 8, 1), &speedup))
        << text;
    result->mutable_build()->set_architecture("sm_90a");
    v1::KernelFacts* facts = result->mutable_build()->add_kernels();
    facts->set_name("demo::gemm");
    facts->set_registers(40);
    for (int i = 0; i < spec.workload_uuids_size(); ++i) {
      v1::WorkloadResult* workload = result->add_workloads();
      workload->set_workload_uuid(spec.workload_uuids(i));
      workload->set_outcome(v1::OUTCOME_PASSED);
      workload->set_floor_us(10 * (i + 1));
      workload->mutable_baseline()->set_median_us(60 * (i + 1));
      workload->mutable_candidate()->set_median_us(60 * (i + 1) / speedup);
    }
    for (const v1::Rival& rival : spec.rivals()) {
      v1::Comparison* comparison = result->add_comparisons();
      comparison->set_rival_id(rival.rival_id());
      comparison->set_verdict(v1::Comparison::EQUAL);
    }
  }

  const bool may_profile_;
  v1::Profile profile_;
  std::unique_ptr<v1::WorkerService::Stub> stub_;
  grpc::ClientContext context_;
  Mutex mu_;
  std::map<v1::JobKind, int> jobs_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last: uses the rest
};

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() {
    cluster_.StartModelServer(
        LocalCluster::SourcePath("tests/integration/data/profiled.cassette.textproto"));
    cluster_.StartCoordinator();
  }
  void Search(const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"run",      "--task", "rmsnorm_bf16", "--language", "cuda",
                                     "--rounds", "3"};
    args.insert(args.end(), more.begin(), more.end());
    const CommandOutput run = cluster_.Cli(args);
    EXPECT_THAT(run.out, HasSubstr("budget of 3 rounds is spent")) << run.err;
    const std::string log = cluster_.Cli({"log", "last", "--json"}).out;
    for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
      events_.push_back(FromJson<v1::RunEvent>(std::string(line)));
    }
  }
  std::string CandidateOfRound(int round) const {
    for (const v1::RunEvent& event : events_) {
      if (event.kind() == v1::RunEvent::CANDIDATE_PASSED && event.round() == round) {
        return event.candidate_id();
      }
    }
    return "none";
  }
  v1::CandidateReply Show(const std::string& candidate) {
    return FromJson<v1::CandidateReply>(cluster_.Cli({"show", "last", candidate, "--json"}).out);
  }
  int Notes(const std::string& text) const {
    int notes = 0;
    for (const v1::RunEvent& event : events_) notes += absl::StrContains(event.text(), text);
    return notes;
  }

  LocalCluster cluster_;
  std::vector<v1::RunEvent> events_;
};

constexpr char kGemmLine[] = "demo::gemm: 93 % of the time, 2 launches of 128 us, grid 64x64";

TEST_F(ProfileTest, ThePacketReachesTheNextPromptAndTheCommandLine) {
  ProfilingWorker worker(cluster_.address(), /*may_profile=*/true);
  Search();
  // Rounds 1 (2x) and 2 (3x) are each the best so far; round 3 is round 2's program again.
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_SCREEN], 2);
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_PROFILE], 2);
  EXPECT_EQ(Notes("profiled: 3 kernel(s), demo::gemm takes 93 % of their time"), 2);
  const v1::CandidateReply second = Show(CandidateOfRound(2));
  EXPECT_EQ(second.call().purpose(), "improve");
  EXPECT_THAT(second.call().prompt(), HasSubstr("# What compiler and profiler say"));
  EXPECT_THAT(second.call().prompt(), HasSubstr(kGemmLine));
  EXPECT_THAT(second.call().prompt(), HasSubstr("farthest: workload "));
  EXPECT_THAT(second.packet(), HasSubstr(kGemmLine));
  EXPECT_EQ(second.results_size(), 3) << "screening, confirmation, profile";

  const CommandOutput shown = cluster_.Cli({"show", "last", CandidateOfRound(1)});
  EXPECT_THAT(shown.out, HasSubstr(kGemmLine));
  EXPECT_THAT(shown.out, HasSubstr("profiled on b16384: 3 kernel(s)"));
  const auto status = FromJson<v1::RunStatus>(cluster_.Cli({"status", "last", "--json"}).out);
  const int judged = worker.jobs()[v1::JOB_KIND_SCREEN] + worker.jobs()[v1::JOB_KIND_CONFIRM];
  EXPECT_EQ(status.rounds_done(), 3);
  EXPECT_EQ(status.ledger().evaluations(), judged);
  const int others = worker.jobs()[v1::JOB_KIND_PROFILE] + worker.jobs()[v1::JOB_KIND_BASELINE] +
                     worker.jobs()[v1::JOB_KIND_EXAMINE];
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_PROFILE], 2);
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_BASELINE], 1);
  EXPECT_EQ(status.ledger().gpu_time().seconds(), judged + others);
}

TEST_F(ProfileTest, ARefusalIsToldOnceAndNotAskedForAgain) {
  ProfilingWorker worker(cluster_.address(), /*may_profile=*/false);
  Search();
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_PROFILE], 1);
  EXPECT_EQ(Notes("not profiled: the counters are the administrator's; not asked for again"), 1);
  const std::string prompt = Show(CandidateOfRound(2)).call().prompt();
  EXPECT_THAT(prompt, HasSubstr("not profiled: the counters are the administrator's"));
  EXPECT_THAT(prompt, HasSubstr("demo::gemm: 40 registers a thread, no spills"));
}

TEST_F(ProfileTest, NothingIsProfiledIfTheRunSaysSo) {
  ProfilingWorker worker(cluster_.address(), /*may_profile=*/true);
  Search({"--profile", "never"});
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_SCREEN], 2);
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_PROFILE], 0);
}

TEST_F(ProfileTest, EvalPrintsThePacket) {
  ProfilingWorker worker(cluster_.address(), /*may_profile=*/true);
  const std::string source = cluster_.folder() + "/kernel.cu";
  std::ofstream(source) << "// speedup 4\n";
  const std::vector<std::string> args = {"eval",       "--task", "rmsnorm_bf16",
                                         "--language", "cuda",   source};
  EXPECT_THAT(cluster_.Cli(args).out, Not(HasSubstr(kGemmLine)));
  std::vector<std::string> profiled = args;
  profiled.push_back("--profile");
  const CommandOutput text = cluster_.Cli(profiled);
  EXPECT_THAT(text.out, HasSubstr("profiled on b16384: 3 kernel(s)\n")) << text.err;
  EXPECT_THAT(text.out, HasSubstr(kGemmLine));
  EXPECT_THAT(text.out, Not(HasSubstr("kernels for sm_90a:"))) << "told twice";
  profiled.push_back("--json");
  const std::string json = cluster_.Cli(profiled).out;
  const auto document = FromJson<google::protobuf::Struct>(json);
  ASSERT_TRUE(document.fields().contains("packet")) << json;
  EXPECT_THAT(document.fields().at("packet").string_value(), HasSubstr(kGemmLine));
  google::protobuf::util::JsonParseOptions without_packet;
  without_packet.ignore_unknown_fields = true;
  v1::JobResult result;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &result, without_packet).ok());
  EXPECT_EQ(result.profile().kernels_size(), 3);
  EXPECT_EQ(result.profile().kernels(0).registers(), 40);
  EXPECT_EQ(worker.jobs()[v1::JOB_KIND_PROFILE], 1) << "the second time from the store";
}

}  // namespace
}  // namespace ksearch
