#include "gpu_worker/verifier/request_loop.h"

#include <poll.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/log.h"
#include "common/message_frames.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/job_verifier.h"
#include "gpu_worker/verifier/timing/metronome.h"
#include "proto/runner.pb.h"

namespace ksearch {
namespace {

// So long runners are held in reserve for a next job: their memory is of use to others.
constexpr absl::Duration kReserveTime = absl::Minutes(10);

// Whether a request, or the end of them, is there within this time.
bool IsReadable(int fd, absl::Duration time) {
  struct pollfd ready = {fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) != 0;
}

absl::Status Probe(Bench& bench) {
  if (bench.gpu() != nullptr) RETURN_IF_ERROR(bench.gpu()->probe());
  RETURN_IF_ERROR(bench.DeviceHealth());
  // Without a runner no job can be judged, however well the device is. A new one, since what the
  // bench's own metronome runs may have been started before the trouble.
  return Metronome(bench.starter(), bench.clock()).Tick().status();
}

}  // namespace

absl::Status ServeRequests(int fd, Bench& bench) {
  v1::VerifierRequest request;
  while (true) {
    if (!IsReadable(fd, kReserveTime)) bench.starter().DropReserve();
    const absl::Status received = ReceiveMessage(fd, absl::InfiniteFuture(), &request);
    if (absl::IsUnavailable(received)) return absl::OkStatus();
    RETURN_IF_ERROR(received);
    v1::VerifierReply reply;
    reply.set_request_id(request.request_id());
    if (request.probe()) {
      const absl::Status answer = Probe(bench);
      if (answer.ok()) {
        reply.mutable_verdict()->set_outcome(v1::OUTCOME_PASSED);
      } else {
        reply.set_infrastructure_error(std::string(answer.message()));
      }
      RETURN_IF_ERROR(SendMessage(fd, reply, absl::InfiniteFuture()));
      RETURN_IF_ERROR(bench.DeviceHealth());
      continue;
    }
    JobVerifier verifier(bench, [&](const v1::VerifierReply::Progress& progress) {
      v1::VerifierReply update;
      update.set_request_id(request.request_id());
      *update.mutable_progress() = progress;
      // A worker that hung up is noticed when the verdict is written.
      SendMessage(fd, update, absl::InfiniteFuture()).IgnoreError();
    });
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    if (verdict.ok()) {
      *reply.mutable_verdict() = *std::move(verdict);
    } else {
      LOG(WARNING) << "msg=\"request failed\" request=" << request.request_id() << " error=\""
                   << verdict.status().message() << "\"";
      reply.set_infrastructure_error(std::string(verdict.status().message()));
    }
    // The next to have these processors may be another worker's job.
    if (bench.gpu() == nullptr) bench.starter().DropReserve();
    RETURN_IF_ERROR(SendMessage(fd, reply, absl::InfiniteFuture()));
    // A new process gets a new context.
    RETURN_IF_ERROR(bench.DeviceHealth());
    // A job that waits already starts what it needs first.
    if (bench.gpu() != nullptr && !IsReadable(fd, absl::ZeroDuration())) {
      bench.starter().FillReserve();
    }
  }
}

absl::Status RefuseRequest(int fd, const absl::Status& trouble) {
  v1::VerifierRequest request;
  const absl::Status received = ReceiveMessage(fd, absl::InfiniteFuture(), &request);
  if (absl::IsUnavailable(received)) return trouble;
  RETURN_IF_ERROR(received);
  v1::VerifierReply reply;
  reply.set_request_id(request.request_id());
  reply.set_infrastructure_error(std::string(trouble.message()));
  RETURN_IF_ERROR(SendMessage(fd, reply, absl::InfiniteFuture()));
  return trouble;
}

}  // namespace ksearch
