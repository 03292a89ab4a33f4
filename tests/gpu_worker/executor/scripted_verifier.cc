// Stands in for ksearch-verifier: does what the request's job.salt says.
//   pass        a verdict, after a progress message     trouble     an infrastructure error
//   die         exits with status 9                     hang        reads no further, never answers
//   garbage     a frame that is no message              die_once:F  dies if file F is not there yet
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "common/message_frames.h"
#include "proto/runner.pb.h"

int main(int argc, char** argv) {
  int fd = -1;
  bool config = false;
  for (int i = 1; i < argc; ++i) {
    absl::string_view value = argv[i];
    if (absl::ConsumePrefix(&value, "--socket-fd=") && !absl::SimpleAtoi(value, &fd)) return 2;
    config |= absl::StartsWith(argv[i], "--config=");
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
      reply.mutable_verdict()->set_message(request.task().name() + " " + std::to_string(getpid()));
    }
    if (!ksearch::SendMessage(fd, reply, absl::InfiniteFuture()).ok()) return 1;
  }
  return 0;
}
