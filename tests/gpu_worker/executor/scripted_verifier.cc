// A fake ksearch-verifier that does what the request's job.salt says.
//   pass        a verdict, after a progress message     trouble     an infrastructure error
//   die         exits with status 9                     hang        reads no further, never answers
// With --gpu it takes 1.5 s for a job that is timed, 0.3 s for others, as a GPU would.
//   garbage     a frame that is no message              die_once:F  dies if file F is not there yet
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/message_frames.h"
#include "proto/runner.pb.h"

namespace {

// The answer of a candidate that looks around on the GPU with this UUID of fake_nvml.
std::string SeenOn(const std::string& uuid) {
  const char number = uuid.back();
  return std::string("seen: count=1 bus=0000:0") + static_cast<char>('a' + (number - '0')) +
         ":00.0 uuid=" + uuid + " nodes=" + number + ",\n";
}

}  // namespace

int main(int argc, char** argv) {
  int fd = -1;
  bool config = false;
  std::string gpu;
  for (int i = 1; i < argc; ++i) {
    absl::string_view value = argv[i];
    if (absl::ConsumePrefix(&value, "--socket-fd=") && !absl::SimpleAtoi(value, &fd)) return 2;
    config |= absl::StartsWith(argv[i], "--config=");
    value = argv[i];
    if (absl::ConsumePrefix(&value, "--gpu=")) gpu = std::string(value);
  }
  if (fd < 0 || !config) return 2;
  ksearch::v1::VerifierRequest request;
  while (ksearch::ReceiveMessage(fd, absl::InfiniteFuture(), &request).ok()) {
    std::string what = request.job().salt();
    if (what.rfind("die_once:", 0) == 0) {
      const std::string path = what.substr(9);
      what = ::access(path.c_str(), F_OK) == 0 ? "pass" : "die";
      if (what == "die") ::fclose(::fopen(path.c_str(), "w"));
    }
    if (what == "die") return 9;
    if (what == "hang") {
      while (true) ::pause();
    }
    if (what == "garbage") {
      [[maybe_unused]] const ssize_t n = ::write(fd, "\x03\x00\x00\x00\xFF\xFF\xFF", 7);
      continue;
    }
    ksearch::v1::VerifierReply reply;
    reply.set_request_id(request.request_id());
    if (what == "trouble") {
      reply.set_infrastructure_error("no memory for the oracle");
    } else {
      reply.mutable_progress()->set_stage("check");
      if (!ksearch::SendMessage(fd, reply, absl::InfiniteFuture()).ok()) return 1;
      reply.mutable_verdict()->set_outcome(ksearch::v1::OUTCOME_PASSED);
      if (!gpu.empty() && !request.probe()) {
        // Takes as long as a measurement.
        const bool timed = request.job().kind() == ksearch::v1::JOB_KIND_SCREEN;
        ::usleep(timed ? 1'500'000 : 300'000);
        reply.mutable_verdict()->set_stderr_excerpt(SeenOn(gpu));
      }
      reply.mutable_verdict()->set_message(request.task().name() + " " + std::to_string(getpid()));
    }
    if (!ksearch::SendMessage(fd, reply, absl::InfiniteFuture()).ok()) return 1;
  }
  return 0;
}
