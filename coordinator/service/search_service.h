#ifndef KSEARCH_COORDINATOR_SERVICE_SEARCH_SERVICE_H_
#define KSEARCH_COORDINATOR_SERVICE_SEARCH_SERVICE_H_

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "coordinator/engine/model_caller.h"
#include "coordinator/engine/run_registry.h"
#include "coordinator/events/event_feed.h"
#include "coordinator/service/access/access_control.h"
#include "coordinator/service/archive_room.h"
#include "coordinator/service/disk_watch.h"
#include "coordinator/service/job_clients.h"
#include "coordinator/service/pool_board.h"
#include "coordinator/service/refusal_board.h"
#include "coordinator/service/result_watch.h"
#include "coordinator/service/worker_gateway.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/task_suite.h"
#include "proto/search_service.grpc.pb.h"

namespace ksearch {

// Message of a job that was dropped because its last client disconnected.
inline constexpr absl::string_view kClientLeft = "every client that asked for it went away";

// The RPCs for people and scripts. Translates between messages and the views, registry and gateway;
// holds no state. Synchronous, because it has few callers and each call may read SQLite, which must
// not happen in a gRPC reaction. Thread-safe; borrows everything.
class SearchService final : public v1::SearchService::Service {
 public:
  struct Parts {
    Store* store;
    RunRegistry* runs;
    WorkerGateway* workers;
    const TaskSuite* tasks;
    ResultWatch* results;
    ModelCaller* models;
    EventFeed* feed;
    v1::ServerFacts facts;                              // only the constant ones
    const AccessControl* access = nullptr;              // null: no tokens are in use
    std::vector<std::string> mailboxes;                 // folders
    PoolBoard* pools = nullptr;                         // null: pools are not supported
    std::function<std::vector<v1::SinkFacts>()> sinks;  // null: no sinks
    // Returns the run as one HTML file. RESOURCE_EXHAUSTED: it would exceed `most_bytes`.
    std::function<absl::StatusOr<std::string>(const std::string& run_id, int64_t most_bytes)>
        report;
    RefusalBoard* refusals = nullptr;  // null: no refusals are reported
    const DiskWatch* disk = nullptr;   // null: free space is not checked
    ArchiveRoom* archives = nullptr;   // null: copies of the database are not supported
  };
  explicit SearchService(Parts parts) : parts_(std::move(parts)) {}

  // Ends every stream within about 100 ms; later streams end at once.
  void Shutdown() {
    closing_ = true;
    parts_.feed->Close();
  }

  grpc::Status StartRun(grpc::ServerContext* context, const v1::StartRunRequest* request,
                        v1::StartRunReply* reply) override;
  grpc::Status EstimateRun(grpc::ServerContext* context, const v1::StartRunRequest* request,
                           v1::RunEstimate* reply) override;
  grpc::Status ListRuns(grpc::ServerContext* context, const v1::ListRunsRequest* request,
                        v1::ListRunsReply* reply) override;
  grpc::Status GetRun(grpc::ServerContext* context, const v1::GetRunRequest* request,
                      v1::RunStatus* reply) override;
  grpc::Status WatchRun(grpc::ServerContext* context, const v1::WatchRunRequest* request,
                        grpc::ServerWriter<v1::WatchRunReply>* writer) override;
  grpc::Status WatchFeed(grpc::ServerContext* context, const v1::WatchFeedRequest* request,
                         grpc::ServerWriter<v1::FeedEntry>* writer) override;
  grpc::Status ListEvents(grpc::ServerContext* context, const v1::ListEventsRequest* request,
                          v1::ListEventsReply* reply) override;
  grpc::Status GetTree(grpc::ServerContext* context, const v1::GetTreeRequest* request,
                       v1::WorldModel* reply) override;
  grpc::Status GetBest(grpc::ServerContext* context, const v1::GetBestRequest* request,
                       v1::BestReply* reply) override;
  grpc::Status GetCandidate(grpc::ServerContext* context, const v1::GetCandidateRequest* request,
                            v1::CandidateReply* reply) override;
  grpc::Status StopRun(grpc::ServerContext* context, const v1::StopRunRequest* request,
                       v1::RunStatus* reply) override;
  grpc::Status ResumeRun(grpc::ServerContext* context, const v1::ResumeRunRequest* request,
                         v1::RunStatus* reply) override;
  grpc::Status SteerRun(grpc::ServerContext* context, const v1::SteerRunRequest* request,
                        v1::RunStatus* reply) override;
  grpc::Status ListWorkers(grpc::ServerContext* context, const v1::ListWorkersRequest* request,
                           v1::ListWorkersReply* reply) override;
  grpc::Status DrainWorker(grpc::ServerContext* context, const v1::DrainWorkerRequest* request,
                           v1::DrainWorkerReply* reply) override;
  grpc::Status GetDemand(grpc::ServerContext* context, const v1::GetDemandRequest* request,
                         v1::DemandReply* reply) override;
  grpc::Status ReportPool(grpc::ServerContext* context, const v1::ReportPoolRequest* request,
                          v1::ReportPoolReply* reply) override;
  grpc::Status ListTasks(grpc::ServerContext* context, const v1::ListTasksRequest* request,
                         v1::ListTasksReply* reply) override;
  grpc::Status ListSolutions(grpc::ServerContext* context, const v1::ListSolutionsRequest* request,
                             v1::ListSolutionsReply* reply) override;
  grpc::Status Evaluate(grpc::ServerContext* context, const v1::EvaluateRequest* request,
                        grpc::ServerWriter<v1::EvaluateReply>* writer) override;
  grpc::Status Recheck(grpc::ServerContext* context, const v1::RecheckRequest* request,
                       grpc::ServerWriter<v1::RecheckReply>* writer) override;
  grpc::Status CheckProvider(grpc::ServerContext* context, const v1::CheckProviderRequest* request,
                             v1::CheckProviderReply* reply) override;
  grpc::Status ListPrompts(grpc::ServerContext* context, const v1::ListPromptsRequest* request,
                           v1::ListPromptsReply* reply) override;
  grpc::Status GetPrompt(grpc::ServerContext* context, const v1::GetPromptRequest* request,
                         v1::MailboxEntry* reply) override;
  grpc::Status AnswerPrompt(grpc::ServerContext* context, const v1::AnswerPromptRequest* request,
                            v1::AnswerPromptReply* reply) override;
  grpc::Status ExportRun(grpc::ServerContext* context, const v1::ExportRunRequest* request,
                         grpc::ServerWriter<v1::RecordedLine>* writer) override;
  grpc::Status ReadTimeline(grpc::ServerContext* context, const v1::ReadTimelineRequest* request,
                            grpc::ServerWriter<v1::TimelineEntry>* writer) override;
  grpc::Status ExportReport(grpc::ServerContext* context, const v1::ExportReportRequest* request,
                            grpc::ServerWriter<v1::ReportPart>* writer) override;
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsReply* reply) override;
  grpc::Status CancelJob(grpc::ServerContext* context, const v1::CancelJobRequest* request,
                         v1::CancelJobReply* reply) override;
  grpc::Status ReportSuite(grpc::ServerContext* context, const v1::ReportSuiteRequest* request,
                           v1::SuiteReport* reply) override;
  grpc::Status ListResults(grpc::ServerContext* context, const v1::ListResultsRequest* request,
                           v1::ListResultsReply* reply) override;
  grpc::Status ListMemory(grpc::ServerContext* context, const v1::ListMemoryRequest* request,
                          v1::ListMemoryReply* reply) override;
  grpc::Status GetRunMemory(grpc::ServerContext* context, const v1::GetRunMemoryRequest* request,
                            v1::RunMemory* reply) override;
  grpc::Status ForgetMemory(grpc::ServerContext* context, const v1::ForgetMemoryRequest* request,
                            v1::ForgetMemoryReply* reply) override;
  grpc::Status Backup(grpc::ServerContext* context, const v1::BackupRequest* request,
                      grpc::ServerWriter<v1::BackupPart>* writer) override;
  grpc::Status ArchiveRuns(grpc::ServerContext* context, const v1::ArchiveRunsRequest* request,
                           grpc::ServerWriter<v1::ArchivePart>* writer) override;
  grpc::Status RemoveRuns(grpc::ServerContext* context, const v1::RemoveRunsRequest* request,
                          v1::RemoveRunsReply* reply) override;
  grpc::Status GetServerFacts(grpc::ServerContext* context,
                              const v1::GetServerFactsRequest* request,
                              v1::ServerFacts* reply) override;

 private:
  // RESOURCE_EXHAUSTED: the disk has no room for new work.
  absl::Status CheckDisk() const {
    return parts_.disk == nullptr ? absl::OkStatus() : parts_.disk->Check();
  }
  // Checks that a stream may continue. UNAVAILABLE: the server is shutting down; UNAUTHENTICATED:
  // the caller's token is no longer valid.
  absl::Status CheckStillServed(const grpc::ServerContext& context) const;
  // If the request asks for it, waits until a connected worker can judge the run's candidates.
  absl::Status AwaitWorker(const grpc::ServerContext& context, const v1::StartRunRequest& request);
  absl::Status Watch(grpc::ServerContext* context, const v1::WatchRunRequest& request,
                     grpc::ServerWriter<v1::WatchRunReply>* writer);
  absl::Status Follow(grpc::ServerContext* context, const v1::WatchFeedRequest& request,
                      grpc::ServerWriter<v1::FeedEntry>* writer);
  absl::Status Describe(grpc::ServerContext* context, const v1::EvaluateRequest& request,
                        grpc::ServerWriter<v1::EvaluateReply>* writer);
  absl::Status Judge(grpc::ServerContext* context, const v1::EvaluateRequest& request,
                     grpc::ServerWriter<v1::EvaluateReply>* writer);
  absl::Status RepeatConfirmation(grpc::ServerContext* context, const v1::RecheckRequest& request,
                                  grpc::ServerWriter<v1::RecheckReply>* writer);
  // Returns the result of the job once there is one. Submits the job as soon as a worker can take
  // it, and sends `progress` to the caller. FAILED_PRECONDITION: no worker could take it by
  // `give_up` (monotonic clock). If the caller disconnects, the job is dropped unless somebody else
  // waits for it.
  absl::StatusOr<v1::JobResult> Await(grpc::ServerContext* context, const v1::Task& task,
                                      const std::string& job_id, const v1::JobSpec& spec,
                                      absl::Time give_up,
                                      const std::function<void(const std::string&)>& progress);
  // Returns the job with its platform set: one for which there is a recorded result, otherwise the
  // first of the connected workers' platforms (PlatformsFor). While no worker is connected, workers
  // as last seen determine which results count. FAILED_PRECONDITION: no worker could run it by
  // `give_up` (monotonic clock).
  absl::StatusOr<v1::JobSpec> Place(grpc::ServerContext* context, const v1::JobSpec& spec,
                                    absl::Time give_up,
                                    const std::function<void(const std::string&)>& progress);
  // Ends a job whose last client has disconnected, unless a run needs it.
  void DropIfUnwanted(const std::string& job_id);
  absl::Status Cancel(grpc::ServerContext* context, const v1::CancelJobRequest& request,
                      v1::CancelJobReply* reply);

  const Parts parts_;
  std::atomic<bool> closing_{false};
  JobClients clients_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SERVICE_SEARCH_SERVICE_H_
