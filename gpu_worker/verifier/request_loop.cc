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

// Runners are kept in reserve for a next job for this long; afterwards others can use their memory.
constexpr absl::Duration kReserveTime = absl::Minutes(10);

// Returns whether a request, or the end of the stream, arrives within this time.
bool IsReadable(int fd, absl::Duration time) {
  struct pollfd ready = {fd, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) != 0;
}

absl::Status Probe(Bench& bench) {
  if (bench.gpu() != nullptr) RETURN_IF_ERROR(bench.gpu()->probe());
  RETURN_IF_ERROR(bench.DeviceHealth());
  // No job can be judged if runners do not start, even on a healthy device. Uses a new metronome,
  // because the bench's own runner may have been started before the trouble.
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
      // Writing the verdict will detect a worker that has hung up.
      SendMessage(fd, update, absl::InfiniteFuture()).IgnoreError();
    });
    absl::StatusOr<v1::Verdict> verdict = verifier.Verify(request);
    if (verdict.ok()) {
      *reply.mutable_verdict() = *std::move(verdict);
    } else {
      LOG(WARNING) << "msg=\"request failed\" request=" << request.request_id() << " error=\""
                   << verdict.status().message() << "\"";
      reply.set_infrastructure_error(std::string(verdict.status().message()));
      // What it lacked may be held here.
      bench.DropKept();
    }
    // Another worker's job may use these processors next.
    if (bench.gpu() == nullptr) bench.starter().DropReserve();
    RETURN_IF_ERROR(SendMessage(fd, reply, absl::InfiniteFuture()));
    // A failed context ends the process, and the next process gets a new one.
    RETURN_IF_ERROR(bench.DeviceHealth());
    // A waiting job starts the runners it needs first.
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
