// Which results count: those on record for the platforms that there are.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/grpc_channel.h"
#include "common/identity.h"
#include "common/platform.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/engine/job_specs.h"
#include "coordinator/scheduler/platform_choice.h"
#include "coordinator/service/evaluation.h"
#include "coordinator/service/search_service.h"

namespace ksearch {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(100);
constexpr int kMaxResultsPerReply = 1000;
// Specs hold whole programs.
constexpr int kResultsPerRead = 256;

v1::JobSpec WithoutPlatform(v1::JobSpec spec) {
  spec.clear_platform();
  return spec;
}

}  // namespace

absl::StatusOr<std::vector<v1::Platform>> SearchService::PlatformsAsLastSeen(
    const v1::JobSpec& spec) const {
  ASSIGN_OR_RETURN(const auto workers, parts_.store->ListWorkers());
  std::vector<v1::WorkerHello> hellos;
  for (const v1::WorkerStatus& worker : workers) hellos.push_back(worker.hello());
  return PlatformsFor(hellos, spec);
}

absl::StatusOr<v1::JobSpec> SearchService::Place(
    grpc::ServerContext* context, const v1::JobSpec& spec, absl::Time give_up,
    const std::function<void(const std::string&)>& progress) {
  int64_t seen = 0;
  for (bool first = true; !context->IsCancelled(); first = false) {
    RETURN_IF_ERROR(MayGoOn(*context));
    const std::vector<v1::Platform> connected = parts_.workers->PlatformsFor(spec);
    std::vector<v1::Platform> platforms = connected;
    if (connected.empty()) {
      ASSIGN_OR_RETURN(platforms, PlatformsAsLastSeen(spec));
    }
    for (const v1::Platform& platform : platforms) {
      v1::JobSpec placed = spec;
      SetPlatform(platform, &placed);
      const std::string salt = placed.salt();
      ASSIGN_OR_RETURN(const std::string job_id, IdOfJobToTry(*parts_.store, &placed));
      ASSIGN_OR_RETURN(const auto result, parts_.store->ReadResult(job_id));
      placed.set_salt(salt);
      if (result.has_value()) return placed;
    }
    if (!connected.empty()) {
      v1::JobSpec placed = spec;
      SetPlatform(connected[0], &placed);
      return placed;
    }
    if (Clock::Real().SteadyNow() >= give_up) return absl::FailedPreconditionError(NobodyFor(spec));
    if (first) progress("waiting for a worker");
    seen = parts_.results->Wait(seen, kPollInterval);
  }
  return absl::CancelledError("the caller went away");
}

std::string SearchService::MissingPlatform(const v1::RunStatus& run) const {
  if (HasEnded(run.state()) || run.platform().ByteSizeLong() == 0) return "";
  v1::JobSpec spec;
  spec.set_kind(v1::JOB_KIND_SCREEN);
  spec.mutable_candidate()->set_language(run.language());
  *spec.mutable_platform() = run.platform();
  if (!parts_.workers->PlatformsFor(spec).empty()) return "";
  std::vector<std::string> others;
  for (const v1::Platform& other : parts_.workers->PlatformsFor(WithoutPlatform(spec))) {
    others.push_back(PlatformText(other));
  }
  if (others.empty()) return "no connected worker has it";
  return absl::StrCat("no connected worker has it; there is ", absl::StrJoin(others, " and "));
}

// What cannot be read any more is left out: the results are there all the same.
std::string SearchService::PacketOf(const std::string& run_id, const CandidateRow& row,
                                    std::vector<v1::JobResult> results) {
  std::vector<v1::JobResult> parent;
  if (!row.parent_candidate_id.empty()) {
    if (auto read = parts_.store->ReadResultsOf(run_id, row.parent_candidate_id); read.ok()) {
      parent = *std::move(read);
    }
  }
  if (const auto run = parts_.store->ReadRun(run_id); run.ok()) {
    const auto foreign = [&](const v1::JobResult& result) {
      return result.has_device() && !Meets(PlatformOf(result.device()), run->status.platform());
    };
    std::erase_if(results, foreign);
    std::erase_if(parent, foreign);
  }
  v1::Task task;
  const auto spec = parts_.store->ReadJob(row.job_id);
  const auto blob = spec.ok() ? parts_.store->ReadBlob(spec->task_sha256())
                              : absl::StatusOr<std::string>(spec.status());
  const bool known = blob.ok() && task.ParseFromString(*blob);
  return CandidatePacket(known ? &task : nullptr, results, parent);
}

grpc::Status SearchService::ListResults(grpc::ServerContext*, const v1::ListResultsRequest* request,
                                        v1::ListResultsReply* reply) {
  return ToGrpc(FillResults(*request, reply));
}

absl::Status SearchService::FillResults(const v1::ListResultsRequest& request,
                                        v1::ListResultsReply* reply) {
  if (request.limit() < 0) return absl::InvalidArgumentError("limit: must not be negative");
  const int limit =
      request.limit() > 0 ? std::min(request.limit(), kMaxResultsPerReply) : kMaxResultsPerReply;
  std::map<std::string, std::string> digests;  // of tasks as they are now, by name
  const auto digest_of = [&](const std::string& name) {
    const auto [it, fresh] = digests.try_emplace(name);
    if (!fresh) return it->second;
    if (const auto task = parts_.tasks->Load(name); task.ok()) it->second = TaskDigest(*task);
    return it->second;
  };
  for (int64_t before = 0;;) {
    ASSIGN_OR_RETURN(const std::vector<ResultRow> rows,
                     parts_.store->ListResults(request.task(), before, kResultsPerRead));
    if (rows.empty()) return absl::OkStatus();
    for (const ResultRow& row : rows) {
      before = row.number;
      std::string stale;
      if (row.outcome == v1::OUTCOME_WORKER_LOST || row.outcome == v1::OUTCOME_CANCELLED) {
        stale = "given up: it says nothing of the candidate";
      } else if (const std::string digest = digest_of(row.spec.task_name());
                 digest != row.spec.task_sha256()) {
        stale = digest.empty() ? "its task is gone" : "its task has changed since";
      } else {
        const v1::JobSpec job = WithoutPlatform(row.spec);
        std::vector<v1::Platform> platforms = parts_.workers->PlatformsFor(job);
        if (platforms.empty()) {
          ASSIGN_OR_RETURN(platforms, PlatformsAsLastSeen(job));
        }
        stale = WhyStale(row.spec, platforms);
      }
      if (request.stale() && stale.empty()) continue;
      if (reply->results_size() >= limit) {
        reply->set_more(true);
        return absl::OkStatus();
      }
      ASSIGN_OR_RETURN(const auto result, parts_.store->ReadResult(row.job_id));
      v1::ResultSummary* summary = reply->add_results();
      summary->set_job_id(row.job_id);
      summary->set_kind(row.spec.kind());
      summary->set_task(row.spec.task_name());
      summary->set_candidate_id(CandidateId(row.spec.candidate()));
      summary->set_outcome(row.outcome);
      if (result.has_value()) {
        summary->set_message(result->message());
        if (result->has_device()) *summary->mutable_platform() = PlatformOf(result->device());
      }
      *summary->mutable_recorded_at() = ToProto(row.recorded);
      summary->set_stale(stale);
    }
  }
}

}  // namespace ksearch
