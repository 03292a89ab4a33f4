#include "coordinator/views/result_view.h"

#include <algorithm>
#include <map>
#include <string>

#include "common/identity.h"
#include "common/platform.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/scheduler/platform_choice.h"

namespace ksearch {
namespace {

constexpr int kMaxResultsPerReply = 1000;
// Specs hold whole programs.
constexpr int kResultsPerRead = 256;

// Digests of the current tasks, each read once.
class TaskDigests {
 public:
  explicit TaskDigests(const TaskSuite& tasks) : tasks_(tasks) {}
  // Empty: the task is gone.
  const std::string& Of(const std::string& name) {
    const auto [it, fresh] = digests_.try_emplace(name);
    if (fresh) {
      if (const auto task = tasks_.Load(name); task.ok()) it->second = TaskDigest(*task);
    }
    return it->second;
  }

 private:
  const TaskSuite& tasks_;
  std::map<std::string, std::string> digests_;
};

// ResultSummary.stale.
absl::StatusOr<std::string> StaleText(Store& store, const FleetFacts& fleet, const ResultRow& row,
                                      TaskDigests* digests) {
  if (row.outcome == v1::OUTCOME_WORKER_LOST || row.outcome == v1::OUTCOME_CANCELLED) {
    return "given up: it says nothing about the candidate";
  }
  // Its id is a hash of the problem's content, and the same on every platform.
  if (row.spec.kind() == v1::JOB_KIND_DESCRIBE) return "";
  const std::string& digest = digests->Of(row.spec.task_name());
  if (digest.empty()) return "its task is gone";
  if (digest != row.spec.task_sha256()) return "its task has changed since";
  v1::JobSpec job = row.spec;
  job.clear_platform();
  std::vector<v1::Platform> platforms = fleet.PlatformsFor(job);
  if (platforms.empty()) {
    ASSIGN_OR_RETURN(platforms, PlatformsAsLastSeen(store, job));
  }
  return WhyStale(row.spec, platforms);
}

}  // namespace

absl::StatusOr<std::vector<v1::Platform>> PlatformsAsLastSeen(Store& store,
                                                              const v1::JobSpec& spec) {
  ASSIGN_OR_RETURN(const auto workers, store.ListWorkers());
  std::vector<v1::WorkerHello> hellos;
  for (const v1::WorkerStatus& worker : workers) hellos.push_back(worker.hello());
  return PlatformsFor(hellos, spec);
}

absl::StatusOr<v1::ListResultsReply> ViewResults(Store& store, const FleetFacts& fleet,
                                                 const TaskSuite& tasks,
                                                 const v1::ListResultsRequest& request) {
  if (request.limit() < 0) return absl::InvalidArgumentError("limit: must not be negative");
  const int limit =
      request.limit() > 0 ? std::min(request.limit(), kMaxResultsPerReply) : kMaxResultsPerReply;
  TaskDigests digests(tasks);
  v1::ListResultsReply reply;
  for (int64_t before = 0;;) {
    ASSIGN_OR_RETURN(const std::vector<ResultRow> rows,
                     store.ListResults(request.task(), before, kResultsPerRead));
    if (rows.empty()) return reply;
    for (const ResultRow& row : rows) {
      before = row.number;
      ASSIGN_OR_RETURN(const std::string stale, StaleText(store, fleet, row, &digests));
      if (request.stale() && stale.empty()) continue;
      if (reply.results_size() >= limit) {
        reply.set_more(true);
        return reply;
      }
      ASSIGN_OR_RETURN(const auto result, store.ReadResult(row.job_id));
      v1::ResultSummary* summary = reply.add_results();
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
