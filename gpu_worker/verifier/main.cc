// ksearch-verifier --socket-fd=N --config=FILE: one per device. Takes VerifierRequests from the
// worker and answers them one after another, until the worker hangs up.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/verifier/bench.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"
#include "gpu_worker/verifier/request_loop.h"
#include "proto/config.pb.h"

namespace ksearch {
namespace {

struct Flags {
  int socket_fd = -1;
  std::string config_path;
};

absl::StatusOr<Flags> ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    absl::string_view value = argv[i];
    if (absl::ConsumePrefix(&value, "--socket-fd=")) {
      if (!absl::SimpleAtoi(value, &flags.socket_fd)) {
        return absl::InvalidArgumentError(absl::StrCat("--socket-fd: '", value, "' is no number"));
      }
    } else if (absl::ConsumePrefix(&value, "--config=")) {
      flags.config_path = std::string(value);
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown argument '", argv[i], "'"));
    }
  }
  if (flags.socket_fd < 0) return absl::InvalidArgumentError("--socket-fd=N is required");
  return flags;
}

// Every buffer set is a few open files.
void RaiseOpenFileLimit() {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Bench::Options BenchOptions(const v1::DeviceSettings& device) {
  Bench::Options options;
  const long cache_bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache_bytes > 0) options.last_level_cache_bytes = cache_bytes;
  if (device.max_rotation_bytes() > 0) options.max_rotation_bytes = device.max_rotation_bytes();
  if (device.has_max_baseline_age()) {
    options.max_baseline_age = FromProto(device.max_baseline_age());
  }
  return options;
}

absl::Status Run(int argc, char** argv) {
  ASSIGN_OR_RETURN(const Flags flags, ParseFlags(argc, argv));
  v1::WorkerConfig config;
  if (!flags.config_path.empty()) RETURN_IF_ERROR(ReadTextproto(flags.config_path, &config));
  RaiseOpenFileLimit();
  ASSIGN_OR_RETURN(const std::unique_ptr<Sandbox> sandbox, MakeSandbox(config.sandbox()));
  const std::string folder = config.binary_dir().empty() ? BinaryFolder() : config.binary_dir();
  const Clock& clock = Clock::Real();
  RunnerStarter starter(*sandbox, folder + "/ksearch-runner", config.sandbox(), clock);
  Bench bench(starter, MemfdBufferSets::Create, clock, BenchOptions(config.device()));
  return ServeRequests(flags.socket_fd, bench);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  ksearch::SetLogName("ksearch-verifier");
  const absl::Status status = ksearch::Run(argc, argv);
  if (status.ok()) return EXIT_SUCCESS;
  LOG(ERROR) << "msg=\"cannot go on\" error=\"" << status.message() << "\"";
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : EXIT_FAILURE;
}
