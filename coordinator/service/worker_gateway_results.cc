// What workers send and fetch: results of their leases, and tasks. Also notifies listeners of
// results.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/platform.h"
#include "common/recorded_inputs.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "coordinator/service/request_check.h"
#include "coordinator/service/worker_gateway.h"

namespace ksearch {

absl::Status WorkerGateway::CheckPlatform(const v1::JobResult& result) {
  MutexLock lock(&mu_);
  const auto job = open_jobs_.find(result.job_id());
  if (job == open_jobs_.end()) return absl::OkStatus();
  const v1::Platform platform = PlatformOf(result.device());
  if (Meets(platform, job->second.platform)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("result.device: measured with ",
                                                 PlatformText(platform), "; job ", result.job_id(),
                                                 " asks for ", PlatformText(job->second.platform)));
}

absl::Status WorkerGateway::CheckOwner(const v1::RecordResultRequest& request,
                                       const WorkerIdentity& identity) {
  const v1::JobResult& result = request.result();
  MutexLock lock(&mu_);
  if (!identity.Owner().empty()) {
    const auto worker = workers_.find(result.worker_id());
    if (worker == workers_.end()) {
      return absl::UnavailableError(absl::StrCat("worker ", result.worker_id(),
                                                 " has not connected since the coordinator "
                                                 "started"));
    }
    if (worker->second.identity.Owner() != identity.Owner()) {
      return absl::PermissionDeniedError(absl::StrCat(
          "result.worker_id: ", result.worker_id(), " belongs to a worker with other credentials"));
    }
  }
  // A finished job keeps its result, whichever worker brings another.
  const auto job = open_jobs_.find(result.job_id());
  if (job == open_jobs_.end()) return absl::OkStatus();
  const auto lease = job->second.worker_of_lease.find(request.lease_id());
  const bool given = lease != job->second.worker_of_lease.end();
  // Without credentials an unknown lease is believed: the worker may have outlived the database
  // that the lease came from.
  if (given ? lease->second == result.worker_id() : identity.Owner().empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("lease_id: ", request.lease_id(), " of job ",
                                                 result.job_id(), " was not given to worker ",
                                                 result.worker_id()));
}

void WorkerGateway::RecordResult(const v1::RecordResultRequest& request, Recorded done,
                                 const WorkerIdentity& identity) {
  absl::Status status = CheckResult(request);
  if (status.ok()) status = CheckOwner(request, identity);
  if (status.ok()) status = CheckPlatform(request.result());
  if (!status.ok()) {
    LOG(WARNING) << "msg=\"result refused\" job_id=" << request.result().job_id().substr(0, 64)
                 << " worker=" << request.result().worker_id().substr(0, 64) << " reason=\""
                 << status.message() << "\"";
    done(status);
    return;
  }
  if (!BeginWrite()) {
    done(absl::UnavailableError("the coordinator is shutting down"));
    return;
  }
  v1::JobResult result = request.result();
  result.set_device_nano_usd(DeviceCost(result));
  store_->RecordResult(result, request.lease_id(),
                       [this, result, lease_id = request.lease_id(), done = std::move(done)](
                           absl::StatusOr<v1::RecordResultReply::Disposition> disposition) mutable {
                         if (disposition.ok()) OnRecorded(result, lease_id, *disposition);
                         done(std::move(disposition));
                         EndWrite();
                       });
}

int64_t WorkerGateway::DeviceCost(const v1::JobResult& result) {
  if (!pool_price_ || !result.stage_times().has_device_held()) return 0;
  std::string pool;
  int devices = 0;
  {
    MutexLock lock(&mu_);
    const auto worker = workers_.find(result.worker_id());
    if (worker == workers_.end()) return 0;
    const v1::WorkerHello& hello = worker->second.status.hello();
    pool = hello.pool();
    for (const v1::DeviceCapability& device : hello.devices()) {
      if (!device.build_only()) ++devices;
    }
  }
  if (pool.empty() || devices == 0) return 0;
  const absl::Duration held = std::clamp(FromProto(result.stage_times().device_held()),
                                         absl::ZeroDuration(), absl::Hours(24 * 365));
  return static_cast<int64_t>(std::ceil(absl::FDivDuration(held, absl::Hours(1)) *
                                        static_cast<double>(pool_price_(pool)) / devices));
}

void WorkerGateway::ReadBlob(const std::string& sha256,
                             absl::AnyInvocable<void(absl::StatusOr<Blob>)> done,
                             const WorkerIdentity& identity) {
  if (!IsSha256Hex(sha256)) {
    done(absl::InvalidArgumentError("sha256: must be 64 lower-case hex digits"));
    return;
  }
  std::set<std::string> tasks = TasksOf(identity);
  const bool is_input = options_.inputs != nullptr && options_.inputs->Has(sha256);
  if (!is_input && !identity.Owner().empty() && tasks.count(sha256) == 0) {
    done(absl::PermissionDeniedError(
        absl::StrCat("sha256: ", sha256, " is not the task of a lease that was given to you")));
    return;
  }
  if (!BeginWrite()) {
    done(absl::UnavailableError("the coordinator is shutting down"));
    return;
  }
  blocking_.Post([this, sha256, is_input, tasks = std::move(tasks), identity,
                  done = std::move(done)]() mutable {
    if (is_input) {
      done(ReadInput(sha256, tasks, identity));
    } else {
      absl::StatusOr<std::string> task = store_->ReadBlob(sha256);
      done(task.ok() ? absl::StatusOr<Blob>(Blob{*std::move(task), nullptr})
                     : absl::StatusOr<Blob>(task.status()));
    }
    EndWrite();
  });
}

std::set<std::string> WorkerGateway::TasksOf(const WorkerIdentity& identity) {
  std::set<std::string> tasks;
  MutexLock lock(&mu_);
  for (const auto& [job_id, job] : open_jobs_) {
    for (const auto& [lease_id, worker_id] : job.worker_of_lease) {
      if (OwnerOf(worker_id) == identity.Owner()) tasks.insert(job.task_sha256);
    }
  }
  return tasks;
}

absl::StatusOr<WorkerGateway::Blob> WorkerGateway::ReadInput(const std::string& sha256,
                                                             const std::set<std::string>& tasks,
                                                             const WorkerIdentity& identity) {
  bool allowed = identity.Owner().empty();
  for (auto name = tasks.begin(); name != tasks.end() && !allowed; ++name) {
    ASSIGN_OR_RETURN(const std::string bytes, store_->ReadBlob(*name));
    v1::Task task;
    if (!task.ParseFromString(bytes)) continue;
    const std::set<std::string> inputs = RecordedInputsOf(task);
    allowed = inputs.count(sha256) > 0;
  }
  if (!allowed) {
    return absl::PermissionDeniedError(
        absl::StrCat("sha256: ", sha256, " is no input of the task of a lease given to you"));
  }
  ASSIGN_OR_RETURN(const std::string path, options_.inputs->Use(sha256));
  ASSIGN_OR_RETURN(auto file, MappedFile::Open(path));
  return Blob{"", std::move(file)};
}

void WorkerGateway::Tell(v1::FleetEvent event) const {
  if (!fleet_listener_) return;
  *event.mutable_at() = ToProto(clock_->Now());
  if (const auto worker = workers_.find(event.worker_id()); worker != workers_.end()) {
    event.set_worker_name(worker->second.status.name());
  }
  fleet_listener_(std::move(event));
}

}  // namespace ksearch
