// ksearch-worker: builds the object graph from the config and serves a coordinator until a signal.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/shutdown.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/executor/pipeline_executor.h"
#include "gpu_worker/executor/verifier_process.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/session/session_client.h"
#include "gpu_worker/worker_config.h"

namespace ksearch {
namespace {

// Exit codes of the command line's contract.
constexpr int kConfigError = 3;
constexpr int kNotAuthorised = 4;
constexpr int kUnavailable = 5;

v1::WorkerHello MakeHello(const v1::WorkerConfig& config, const DeviceMonitor& monitor,
                          const Toolchains& toolchains, const v1::IsolationLevel& isolation) {
  v1::WorkerHello hello;
  hello.set_name(config.name());
  hello.set_version(KSEARCH_VERSION);
  v1::DeviceCapability* device = hello.add_devices();
  device->set_device_class(v1::DEVICE_CLASS_CPU);
  *device->mutable_fingerprint() = monitor.Fingerprint();
  for (const auto& [language, builder] : toolchains) device->add_languages(language);
  *hello.mutable_isolation() = isolation;
  return hello;
}

// Everything that can fail for reasons of this machine or its config.
struct Worker {
  std::unique_ptr<Sandbox> sandbox;
  Toolchains toolchains;
  std::unique_ptr<DeviceMonitor> monitor;
  std::unique_ptr<DeviceLock> lock;
  std::unique_ptr<Verifier> verifier;
  std::unique_ptr<JobExecutor> executor;
  std::unique_ptr<SessionClient> session;
};

absl::Status Build(const v1::WorkerConfig& config, Worker* worker) {
  ASSIGN_OR_RETURN(worker->sandbox, MakeSandbox(config.sandbox()));
  ASSIGN_OR_RETURN(worker->toolchains,
                   MakeToolchains(config, config.state_dir(), worker->sandbox.get()));
  ASSIGN_OR_RETURN(worker->monitor, MakeDeviceMonitor(config.device()));
  ASSIGN_OR_RETURN(worker->lock, MakeDeviceLock(config.device()));
  const std::string verifier_config = config.state_dir() + "/verifier.textproto";
  worker->verifier = std::make_unique<VerifierProcess>(VerifierProcess::Options{
      .binary_path = config.binary_dir() + "/ksearch-verifier", .config_path = verifier_config});
  const v1::IsolationLevel isolation = worker->sandbox->isolation();
  worker->executor =
      std::make_unique<PipelineExecutor>(PipelineExecutor::Parts{.toolchains = &worker->toolchains,
                                                                 .monitor = worker->monitor.get(),
                                                                 .lock = worker->lock.get(),
                                                                 .verifier = worker->verifier.get(),
                                                                 .clock = &Clock::Real(),
                                                                 .isolation = isolation});
  SessionClient::Options options;
  options.address = config.coordinator_address();
  options.state_dir = config.state_dir();
  options.hello = MakeHello(config, *worker->monitor, worker->toolchains, isolation);
  options.slots = config.slots();
  options.sample_health = [monitor = worker->monitor.get()] { return monitor->Sample(); };
  ASSIGN_OR_RETURN(worker->session, SessionClient::Create(std::move(options), *worker->executor));
  // Only now is the folder known to be ours: another worker's verifier reads this file too.
  return WriteFileAtomically(verifier_config, ToTextproto(config));
}

absl::Status Prepare(const v1::WorkerConfig& config, Worker* worker) {
  RETURN_IF_ERROR(TakeAccount(config));
  RETURN_IF_ERROR(CheckPrograms(config));
  return Build(config, worker);
}

int Fail(const absl::Status& status, int code) {
  const std::string message(status.message());
  for (absl::string_view line : absl::StrSplit(message, '\n', absl::SkipEmpty())) {
    std::fprintf(stderr, "ksearch-worker: %s\n", std::string(line).c_str());
  }
  return code;
}

int Run(const std::vector<std::string>& args, std::unique_ptr<ShutdownSignals> signals) {
  const auto config = LoadWorkerConfig(args);
  if (!config.ok()) return Fail(config.status(), kConfigError);
  Worker worker;
  const absl::Status prepared = Prepare(*config, &worker);
  if (!prepared.ok()) return Fail(prepared, kConfigError);

  const v1::IsolationLevel isolation = worker.sandbox->isolation();
  LOG(INFO) << "msg=\"worker ready\" worker=" << worker.session->worker_id()
            << " name=" << config->name() << " coordinator=" << config->coordinator_address()
            << " slots=" << config->slots() << " isolation=" << isolation.backend()
            << " cgroup=" << isolation.cgroup() << " device=\""
            << worker.monitor->Fingerprint().name() << "\"";
  if (isolation.cgroup() == "none") {
    LOG(WARNING) << "msg=\"no control groups: memory and processes of a job are limited by rlimits "
                    "only\"";
  }
  // A second signal ends the process at once (ShutdownSignals).
  signals->Listen([session = worker.session.get()] { session->Drain(); });
  const absl::Status status = worker.session->Run();
  signals.reset();  // before the session it calls
  if (status.ok()) return 0;
  return Fail(status, absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status)
                          ? kNotAuthorised
                          : kUnavailable);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  auto signals = std::make_unique<ksearch::ShutdownSignals>();
  ksearch::SetLogName("ksearch-worker");
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args == std::vector<std::string>{"--version"}) {
    std::printf("ksearch-worker %s\n", KSEARCH_VERSION);
    return 0;
  }
  return ksearch::Run(args, std::move(signals));
}
