#include "gpu_worker/session/session_client.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/backoff.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/grpc_channel.h"
#include "common/log.h"
#include "common/pace.h"
#include "common/protocol_version.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/session/coordinator_link.h"
#include "gpu_worker/session/disk_room.h"

namespace ksearch {
namespace {

// Recorded inputs of tasks that are kept on disk for later jobs.
constexpr int64_t kMostInputBytes = int64_t{32} << 30;

constexpr absl::Duration kDefaultReportWithin = absl::Seconds(10);
constexpr absl::Duration kHealthEvery = absl::Seconds(1);
// The longest time between checks of the plan to stay or leave.
constexpr absl::Duration kPlanEvery = absl::Milliseconds(250);
// Interval for checking acknowledgments while leaving.
constexpr absl::Duration kLeaveCheckEvery = absl::Milliseconds(200);
// The time over which workers spread their first reconnects after a session. A coordinator waits
// longer for them (JobScheduler::Options::adoption_grace).
constexpr absl::Duration kDialSpread = absl::Milliseconds(500);
constexpr absl::Duration kLogFailureEvery = absl::Seconds(30);

// Codes for which a retry is pointless (worker_service.proto).
bool IsFinal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

// A certificate that is not yet or no longer valid by the local clock looks like a wrong one.
std::string ClockHint(const absl::Status& status) {
  const std::string said = absl::AsciiStrToLower(status.message());
  if (!absl::StrContains(said, "certificate") && !absl::StrContains(said, "handshake")) return "";
  return absl::StrCat(
      " (is the coordinator's certificate of the authority that this worker trusts, made for this "
      "address, and valid by this machine's clock, which says ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", Clock::Real().Now(), absl::UTCTimeZone()), "?)");
}

}  // namespace

// One open stream. Read and Write are each called from one thread; Cancel from any.
class SessionStream {
 public:
  explicit SessionStream(std::shared_ptr<v1::WorkerService::StubInterface> stub)
      : stub_(std::move(stub)), stream_(stub_->Session(&context_)) {}

  bool Write(const v1::WorkerUp& up) { return stream_->Write(up); }
  bool Read(v1::WorkerDown* down) { return stream_->Read(down); }
  void WritesDone() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  absl::Status Finish() { return FromGrpc(stream_->Finish()); }

  std::atomic<bool> over{false};  // nothing more will be read

 private:
  grpc::ClientContext context_;
  const std::shared_ptr<v1::WorkerService::StubInterface> stub_;
  const std::unique_ptr<grpc::ClientReaderWriterInterface<v1::WorkerUp, v1::WorkerDown>> stream_;
};

absl::StatusOr<std::unique_ptr<SessionClient>> SessionClient::Create(Options options,
                                                                     JobExecutor& executor) {
  RETURN_IF_ERROR(CheckClientAccess(options.address, options.access));
  if (options.slots < 1) return absl::InvalidArgumentError("slots: must be 1 or more");
  ASSIGN_OR_RETURN(auto state, StateFolder::Open(options.state_dir));
  ASSIGN_OR_RETURN(auto spool, ResultSpool::Open(absl::StrCat(state->path(), "/spool")));
  ASSIGN_OR_RETURN(auto inputs, BlobFolder::Open(InputsFolderOf(state->path())));
  options.access.worker_name = options.hello.name();
  auto client = std::unique_ptr<SessionClient>(new SessionClient(
      std::move(options), std::move(state), std::move(spool), std::move(inputs), executor));
  const ClientAccess& access = client->options_.access;
  if (Joiner::IsNeeded(access)) {
    const auto ask = [link = client->link_.get()](const ClientAccess& with,
                                                  const v1::JoinRequest& request) {
      return link->Join(with, request);
    };
    ASSIGN_OR_RETURN(client->joiner_, Joiner::Open(client->state_->path(), access, client->hello_,
                                                   ask, Clock::Real().Now()));
  }
  return client;
}

SessionClient::SessionClient(Options options, std::unique_ptr<StateFolder> state,
                             std::unique_ptr<ResultSpool> spool, std::unique_ptr<BlobFolder> inputs,
                             JobExecutor& executor)
    : options_(std::move(options)),
      state_(std::move(state)),
      spool_(std::move(spool)),
      hello_(options_.hello),
      link_(std::make_unique<CoordinatorLink>(options_.address, options_.access)),
      held_(options_.slots),
      tasks_([this](const std::string& sha256) { return link_->FetchBlob(sha256); }),
      inputs_folder_(std::move(inputs)),
      inputs_(
          inputs_folder_.get(),
          [this](const std::string& sha256, int64_t offset, const TaskInputs::Take& take) {
            return link_->FetchBlobInto(sha256, offset, take);
          },
          kMostInputBytes),
      sender_(
          *spool_, held_,
          [this](const v1::RecordResultRequest& request) { return link_->RecordResult(request); },
          Backoff(options_.first_backoff, options_.max_backoff, RandomUint64())),
      runner_(options_.slots, state_->worker_id(), executor, tasks_, inputs_, held_,
              [this](const v1::RecordResultRequest& request, std::string* why) {
                const absl::Status status = sender_.Add(request);
                *why = std::string(status.message());
                return status.ok();
              }),
      report_within_ns_(absl::ToInt64Nanoseconds(kDefaultReportWithin)),
      plan_(options_.stay, options_.started == absl::InfinitePast() ? Clock::Real().SteadyNow()
                                                                    : options_.started),
      last_busy_(Clock::Real().SteadyNow()) {
  hello_.set_protocol_version(kProtocolVersion);
  hello_.set_worker_id(state_->worker_id());
  hello_.set_incarnation(RandomHex(8));
}

// A hanging call must not delay joining the threads.
SessionClient::~SessionClient() { link_->Close(); }

absl::Status SessionClient::Run() {
  std::thread plan([this] { FollowPlan(); });
  const absl::Status status = Serve();
  {
    MutexLock lock(&mu_);
    over_ = true;
    changed_.NotifyAll();
  }
  plan.join();
  return status;
}

absl::Status SessionClient::Serve() {
  Backoff backoff(options_.first_backoff, options_.max_backoff, RandomUint64());
  absl::Time last_log = absl::InfinitePast();
  while (!stopping()) {
    if (ReadyToLeave()) {
      if (!held_.empty())
        LOG(WARNING) << "msg=\"leaving with results unacknowledged, kept on disk\"";
      LOG(INFO) << "msg=\"drained\" worker=" << worker_id();
      return absl::OkStatus();
    }
    absl::Status status = GetCertificate();
    if (status.ok()) status = RunSession();
    if (stopping()) break;
    if (IsFinal(status)) {
      LOG(ERROR) << "msg=\"the coordinator refuses this worker\" worker=" << worker_id()
                 << " coordinator=" << options_.address << " reason=\"" << status << "\"";
      return status;
    }
    if (heard_) backoff.Reset();
    const absl::Time now = Clock::Real().SteadyNow();
    if (!status.ok() && (heard_ || now - last_log >= kLogFailureEvery)) {
      last_log = now;
      LOG(WARNING) << "msg=\"no session with the coordinator, dialing again\" coordinator="
                   << options_.address << " reason=\"" << status.message() << ClockHint(status)
                   << "\"";
    }
    if (joiner_ != nullptr && !joiner_->HasCertificate(Clock::Real().SteadyNow())) {
      Pause(backoff.Next());
    } else if (!ReadyToLeave()) {
      AwaitNextTry(backoff.Next());
    }
  }
  return absl::OkStatus();
}

void SessionClient::Drain(const std::string& why, std::optional<absl::Duration> grace) {
  {
    MutexLock lock(&mu_);
    plan_.Leave(why, grace, Clock::Real().SteadyNow());
    changed_.NotifyAll();
  }
  // At once, whether Run has begun or not.
  if (held_.draining()) return;
  LOG(INFO) << "msg=\"draining\" worker=" << worker_id() << " jobs=" << held_.busy()
            << " because=\"" << why << "\"";
  held_.Drain(why);
}

void SessionClient::FollowPlan() {
  bool given_back = false;
  while (true) {
    const bool busy = held_.busy() > 0;
    const int64_t taken = held_.taken();
    StayPlan::Step step;
    {
      MutexLock lock(&mu_);
      if (over_) return;
      const absl::Time now = Clock::Real().SteadyNow();
      if (busy) last_busy_ = now;
      step = plan_.Next(now, busy, taken);
    }
    if (step.leave && !held_.draining()) {
      LOG(INFO) << "msg=\"leaving\" worker=" << worker_id() << " jobs=" << held_.busy()
                << " because=\"" << step.why << "\"";
      held_.Drain(step.why);
    }
    if (step.give_back && !given_back) {
      given_back = true;
      for (const std::string& lease_id : held_.GiveBack()) {
        LOG(INFO) << "msg=\"job given back\" lease_id=" << lease_id << " because=\"" << step.why
                  << "\"";
        runner_.Stop(lease_id);
      }
    }
    MutexLock lock(&mu_);
    if (over_) return;
    changed_.WaitFor(
        &mu_, std::clamp(step.next - Clock::Real().SteadyNow(), absl::Milliseconds(1), kPlanEvery));
  }
}

void SessionClient::Stop() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.NotifyAll();
    if (stream_ != nullptr) stream_->Cancel();
  }
  held_.Touch();
}

absl::Status SessionClient::GetCertificate() {
  session_until_ = Clock::Real().SteadyNow() + options_.longest_session;
  if (joiner_ == nullptr) return absl::OkStatus();
  const auto now = [] { return Clock::Real().SteadyNow(); };
  if (now() >= joiner_->due()) {
    heard_ = false;
    const absl::Status renewed = joiner_->Renew(now);
    if (renewed.ok()) {
      link_->Redial(joiner_->access());
    } else if (IsFinal(renewed) || !joiner_->HasCertificate(now())) {
      return Annotate(renewed, "join");
    } else {
      LOG(WARNING) << "msg=\"certificate not renewed, trying again\" worker=" << worker_id()
                   << " reason=\"" << renewed.message() << "\"";
    }
  }
  session_until_ = std::min(session_until_, joiner_->due());
  return absl::OkStatus();
}

absl::Status SessionClient::RunSession() {
  heard_ = false;
  held_.BeginSession();
  SessionStream stream(link_->stub());
  {
    MutexLock lock(&mu_);
    stream_ = &stream;
    if (stop_) stream.Cancel();
  }
  v1::WorkerUp up;
  *up.mutable_hello() = hello_;
  *up.mutable_hello()->mutable_sent_at() = ToProto(Clock::Real().Now());
  if (stream.Write(up)) {
    std::thread reporter([this, &stream] { ReportLoop(&stream); });
    v1::WorkerDown down;
    while (stream.Read(&down)) {
      if (!heard_.exchange(true)) {
        LOG(INFO) << "msg=\"joined\" worker=" << worker_id() << " coordinator=" << options_.address;
      }
      ApplyMessage(down);
    }
    stream.over = true;
    held_.Touch();
    reporter.join();
  }
  {
    MutexLock lock(&mu_);
    stream_ = nullptr;
  }
  return stream.Finish();
}

void SessionClient::ReportLoop(SessionStream* stream) {
  const absl::Time renew = session_until_;
  Pace pace(RandomUint64());
  bool first = true;
  while (!stream->over && !stopping()) {
    const int64_t version = held_.version();
    const bool leave = ReadyToLeave();
    v1::WorkerUp up;
    *up.mutable_report() = held_.Report(Health());
    if (const absl::Duration left = TimeLeft(); left < absl::InfiniteDuration()) {
      *up.mutable_report()->mutable_time_left() = ToProto(left);
    }
    if (!stream->Write(up)) return;
    const absl::Duration left = renew - Clock::Real().SteadyNow();
    if (leave || left <= absl::ZeroDuration()) {
      stream->WritesDone();  // the coordinator answers by ending the stream
      return;
    }
    const absl::Duration within = absl::Nanoseconds(report_within_ns_.load());
    absl::Duration wait = first ? pace.First(within) : pace.Next(within);
    first = false;
    if (held_.draining()) wait = std::min(wait, kLeaveCheckEvery);
    held_.WaitForChange(version, std::min(wait, left));
  }
}

v1::DeviceHealth SessionClient::Health() {
  const absl::Time now = Clock::Real().SteadyNow();
  if (now - health_sampled_ >= kHealthEvery) {
    health_sampled_ = now;
    if (options_.sample_health) {
      health_ = options_.sample_health();
    } else {
      health_.set_healthy(true);
    }
    CheckDisk();
  }
  return health_;
}

void SessionClient::CheckDisk() {
  const std::string full = DiskFullText(options_.state_dir);
  if (full.empty() != disk_full_.empty()) {
    if (full.empty()) {
      LOG(INFO) << "msg=\"there is space on the disk again\" state_dir=" << options_.state_dir;
    } else {
      LOG(WARNING) << "msg=\"taking no more jobs\" because=\"" << full << "\"";
    }
  }
  disk_full_ = full;
  if (full.empty()) return;
  health_.set_reason(health_.healthy() ? full : absl::StrCat(health_.reason(), "; ", full));
  health_.set_healthy(false);
}

bool SessionClient::ReadyToLeave() {
  if (!held_.draining()) return false;
  if (held_.empty()) return true;
  MutexLock lock(&mu_);
  return held_.busy() == 0 && Clock::Real().SteadyNow() - last_busy_ >= options_.drain_patience;
}

absl::Duration SessionClient::TimeLeft() {
  const bool busy = held_.busy() > 0;
  const int64_t taken = held_.taken();
  MutexLock lock(&mu_);
  return plan_.Next(Clock::Real().SteadyNow(), busy, taken).time_left;
}

void SessionClient::ApplyMessage(const v1::WorkerDown& down) {
  if (down.has_report_within()) {
    // Never a busy loop, whatever the coordinator says.
    const absl::Duration within =
        std::clamp(FromProto(down.report_within()), absl::Milliseconds(10), absl::Minutes(1));
    report_within_ns_ = absl::ToInt64Nanoseconds(within);
  }
  HeldLeases::Orders orders = held_.Apply(down);
  for (v1::JobOffer& offer : orders.start) {
    LOG(INFO) << "msg=\"job accepted\" job_id=" << offer.job_id()
              << " lease_id=" << offer.lease_id() << " attempt=" << offer.attempt();
    runner_.Enqueue(std::move(offer));
  }
  for (const std::string& lease_id : orders.stop) runner_.Stop(lease_id);
  if (down.drain()) {
    std::optional<absl::Duration> grace;
    if (down.has_drain_grace()) grace = FromProto(down.drain_grace());
    Drain("the coordinator asked it to", grace);
  }
}

void SessionClient::AwaitNextTry(absl::Duration delay) {
  // A thousand workers lose their coordinator at the same instant, and must not reconnect in step.
  if (heard_) Pause(Pace(RandomUint64()).First(kDialSpread));
  if (stopping()) return;
  // From then on gRPC spaces its attempts by itself.
  if (!link_->WaitUntilConnected(absl::ZeroDuration())) {
    link_->WaitUntilConnected(options_.max_backoff);
    return;
  }
  if (!heard_) Pause(delay);
}

void SessionClient::Pause(absl::Duration delay) {
  MutexLock lock(&mu_);
  if (!stop_) changed_.WaitFor(&mu_, delay);
}

bool SessionClient::stopping() {
  MutexLock lock(&mu_);
  return stop_;
}

}  // namespace ksearch
