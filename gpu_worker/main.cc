// ksearch-worker: builds the object graph from the config and serves a coordinator until a signal.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/arguments.h"
#include "common/clock.h"
#include "common/language.h"
#include "common/log.h"
#include "common/shutdown.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/batch_job.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/device/gpu_facts.h"
#include "gpu_worker/executor/device_pool.h"
#include "gpu_worker/executor/pipeline_executor.h"
#include "gpu_worker/executor/verifier_process.h"
#include "gpu_worker/sandbox/pausable_sandbox.h"
#include "gpu_worker/sandbox/sandbox_factory.h"
#include "gpu_worker/selftest/self_test.h"
#include "gpu_worker/session/session_client.h"
#include "gpu_worker/session/task_inputs.h"
#include "gpu_worker/worker_config.h"

namespace ksearch {
namespace {

// Exit codes that the command line promises.
constexpr int kConfigError = 3;
constexpr int kNotAuthorized = 4;
constexpr int kUnavailable = 5;

constexpr char kUsage[] =
    "usage: ksearch-worker --coordinator HOST:PORT [--config FILE] [--state-dir DIR] [--name "
    "NAME]\n"
    "                      [--slots N] [--compile-only] [--access FILE] [--token-file FILE]\n"
    "                      [--ca-file FILE] [--server-name NAME] [--idle-timeout T]\n"
    "                      [--lifetime T|auto] [--leave-grace T]\n"
    "       ksearch-worker --selftest [--json] [the arguments above]\n"
    "       ksearch-worker --check-config [the arguments above] | --version\n"
    "FILE is a WorkerConfig as textproto, .yaml or .json; arguments override it. --check-config "
    "only\n"
    "checks it. --selftest tries what this machine can do and says what to "
    "correct.\n"
    "--compile-only serves only builds and needs no GPU. The worker leaves after T (e.g. 5m)\n"
    "without a job (--idle-timeout), T after its start (--lifetime), or before its Slurm job "
    "ends;\n"
    "also on SIGTERM and SIGUSR1. Its jobs then have T (--leave-grace, default 60s) to end.\n"
    "Exit code 2: an argument is wrong; 3: something else on this machine has to be corrected; 4: "
    "the\n"
    "coordinator refuses the worker.\n";

v1::WorkerHello MakeHello(const v1::WorkerConfig& config, const std::vector<Device>& devices,
                          const Toolchains& toolchains, const v1::IsolationLevel& isolation) {
  v1::WorkerHello hello;
  hello.set_name(config.name());
  hello.set_version(KSEARCH_VERSION);
  hello.set_pool(config.pool());
  hello.set_instance(config.instance());
  for (const Device& device : devices) {
    v1::DeviceCapability* capability = hello.add_devices();
    capability->set_device_class(device.device_class());
    capability->set_build_only(config.compile_only());
    *capability->mutable_fingerprint() = device.monitor->Fingerprint();
    for (const auto& [language, builder] : toolchains) {
      if (!BuiltFor(language, device.device_class())) continue;
      if (const absl::Status served = builder->ServesDevice(device.device_class()); !served.ok()) {
        LOG(WARNING) << "msg=\"a language is not offered\" language=" << LanguageName(language)
                     << " device=" << device.monitor->Fingerprint().device_id() << " reason=\""
                     << served.message() << "\"";
        continue;
      }
      capability->add_languages(language);
      v1::LanguageToolkit* toolkit = capability->add_toolkits();
      toolkit->set_language(language);
      toolkit->set_toolkit(builder->toolkit());
      for (std::string& name : builder->architectures()) {
        capability->add_build_architectures(std::move(name));
      }
    }
  }
  *hello.mutable_isolation() = isolation;
  return hello;
}

// Everything that can fail for reasons of this machine or its config.
struct Worker {
  std::unique_ptr<Sandbox> sandbox;
  std::unique_ptr<PausableSandbox> build_sandbox;
  Toolchains toolchains;
  std::vector<Device> devices;
  std::unique_ptr<BuildTurns> build_turns;           // null: it does not measure processors
  std::vector<std::unique_ptr<Verifier>> verifiers;  // in the order of devices
  std::unique_ptr<DevicePool> pool;
  std::unique_ptr<JobExecutor> executor;
  std::unique_ptr<SessionClient> session;
};

// The slots of all devices; a verifier's configuration names only its own.
int SlotsOnThisMachine(const v1::WorkerConfig& config, size_t devices) {
  return SlotsOf(config, static_cast<int>(devices),
                 static_cast<int>(std::thread::hardware_concurrency()));
}

std::string VerifierConfigPath(const v1::WorkerConfig& config, size_t device) {
  return absl::StrCat(config.state_dir(), "/verifier-", device, ".textproto");
}

// A compiler newer than the driver builds programs that end as soon as they start.
absl::Status CheckDriver(const std::vector<Device>& devices, const Toolchains& toolchains) {
  for (const auto& [language, builder] : toolchains) {
    const LanguageFacts* const facts = FindLanguage(language);
    if (facts == nullptr || facts->toolkit != Toolkit::kNvcc) continue;
    for (const Device& device : devices) {
      RETURN_IF_ERROR(CheckDriverRuns(device.driver_cuda_version, builder->toolkit()));
    }
  }
  return absl::OkStatus();
}

absl::Status Build(const v1::WorkerConfig& config, const ClientAccess& access,
                   const GpuSurroundings& surroundings, absl::Time started,
                   const StayPlan::Options& stay, Worker* worker) {
  ASSIGN_OR_RETURN(worker->sandbox, MakeSandbox(config.sandbox()));
  worker->build_sandbox = std::make_unique<PausableSandbox>(*worker->sandbox, Clock::Real());
  ASSIGN_OR_RETURN(worker->toolchains,
                   MakeToolchains(config, config.state_dir(), worker->build_sandbox.get()));
  ASSIGN_OR_RETURN(worker->devices, MakeDevices(config, surroundings));
  RETURN_IF_ERROR(CheckDriver(worker->devices, worker->toolchains));
  std::vector<DevicePool::Slot> slots;
  for (size_t i = 0; i < worker->devices.size(); ++i) {
    const Device& device = worker->devices[i];
    worker->verifiers.push_back(config.compile_only()
                                    ? nullptr
                                    : std::make_unique<VerifierProcess>(VerifierProcess::Options{
                                          .binary_path = config.binary_dir() + "/ksearch-verifier",
                                          .config_path = VerifierConfigPath(config, i),
                                          .gpu_uuid = device.gpu_uuid}));
    slots.push_back({device.device_class(), device.monitor.get(), device.lock.get(),
                     worker->verifiers.back().get()});
    if (device.device_class() == v1::DEVICE_CLASS_CPU && device.lock != nullptr) {
      worker->build_turns =
          std::make_unique<BuildTurns>(device.lock.get(), worker->build_sandbox.get());
    }
  }
  worker->pool = std::make_unique<DevicePool>(std::move(slots));
  const v1::IsolationLevel isolation = worker->sandbox->isolation();
  worker->executor = std::make_unique<PipelineExecutor>(
      PipelineExecutor::Parts{.toolchains = &worker->toolchains,
                              .devices = worker->pool.get(),
                              .build_turns = worker->build_turns.get(),
                              .clock = &Clock::Real(),
                              .isolation = isolation,
                              .inputs_folder = InputsFolderOf(config.state_dir())});
  SessionClient::Options options;
  options.address = config.coordinator_address();
  options.access = access;
  options.state_dir = config.state_dir();
  options.hello = MakeHello(config, worker->devices, worker->toolchains, isolation);
  options.slots = SlotsOnThisMachine(config, worker->devices.size());
  options.stay = stay;
  options.started = started;
  options.sample_health = [pool = worker->pool.get()] { return pool->Health(); };
  ASSIGN_OR_RETURN(worker->session, SessionClient::Create(std::move(options), *worker->executor));
  // Only now does this worker own the folder: another worker's verifiers read these files, too.
  for (size_t i = 0; i < worker->devices.size(); ++i) {
    v1::WorkerConfig of_one = config;
    *of_one.mutable_device() = worker->devices[i].settings;
    of_one.clear_more_devices();
    RETURN_IF_ERROR(WriteFileAtomically(VerifierConfigPath(config, i), ToTextproto(of_one)));
  }
  if (!config.compile_only()) worker->pool->DoubtAll();
  return absl::OkStatus();
}

// The worker's stay as configured, or limited by the Slurm job that this process runs in.
StayPlan::Options StayOf(const v1::WorkerConfig& config) {
  StayPlan::Options stay;
  stay.leave_grace = FromProto(config.leave_grace());
  if (config.has_idle_timeout()) stay.idle_timeout = FromProto(config.idle_timeout());
  if (config.has_lifetime()) stay.lifetime = FromProto(config.lifetime());
  const auto left = TimeLeftOfSlurmJob(ProcessEnvironment(), Clock::Real().Now(), AskSqueue);
  if (!left.ok()) {
    LOG(WARNING) << "msg=\"the end of the Slurm job is not known\" reason=\""
                 << left.status().message() << "\"";
  } else if (left->has_value() && **left < stay.lifetime) {
    stay.lifetime = **left;
    stay.end_of_life = "its Slurm job ends";
  }
  return stay;
}

absl::Status Prepare(const v1::WorkerConfig& config, absl::Time started, Worker* worker) {
  const StayPlan::Options stay = StayOf(config);
  ASSIGN_OR_RETURN(const ClientAccess access, ReadWorkerAccess(config));
  ::unsetenv("KSEARCH_TOKEN");  // a sandbox inherits nothing, but nor shall a helper program
  const GpuSurroundings surroundings = GpuSurroundings::OfThisProcess();
  RETURN_IF_ERROR(TakeAccount(config));
  RETURN_IF_ERROR(CheckPrograms(config));
  return Build(config, access, surroundings, started, stay, worker);
}

int Fail(const absl::Status& status, int code) {
  const std::string message(status.message());
  for (absl::string_view line : absl::StrSplit(message, '\n', absl::SkipEmpty())) {
    std::fprintf(stderr, "ksearch-worker: %s\n", std::string(line).c_str());
  }
  return code;
}

// --selftest [--json], beside the arguments of a worker.
int SelfTest(std::vector<std::string> args) {
  const auto take = [&args](const std::string& flag) {
    const auto end = std::remove(args.begin(), args.end(), flag);
    const bool given = end != args.end();
    args.erase(end, args.end());
    return given;
  };
  take("--selftest");
  const bool json = take("--json");
  std::vector<Finding> findings;
  const auto config = LoadWorkerConfig(args, /*need_coordinator=*/false);
  if (config.ok()) {
    findings = RunSelfTest(*config);
  } else {
    findings.push_back(Finding::Fail("config", std::string(config.status().message()), ""));
  }
  const bool usable = Usable(findings);
  std::printf("%s", json ? FindingsJson(findings).c_str() : FindingsText(findings).c_str());
  if (!json) std::printf("%s\n", usable ? "This worker can start." : "Correct what FAILed.");
  return usable ? 0 : kConfigError;
}

int Run(const std::vector<std::string>& args, std::unique_ptr<ShutdownSignals> signals) {
  const absl::Time started = Clock::Real().SteadyNow();
  const auto config = LoadWorkerConfig(args);
  if (!config.ok()) return Fail(config.status(), ExitCodeOfBadStart(config.status()));
  Worker worker;
  const absl::Status prepared = Prepare(*config, started, &worker);
  if (!prepared.ok()) return Fail(prepared, kConfigError);

  const v1::IsolationLevel isolation = worker.sandbox->isolation();
  LOG(INFO) << "msg=\"worker ready\" worker=" << worker.session->worker_id()
            << " name=" << config->name() << " coordinator=" << config->coordinator_address()
            << " slots=" << SlotsOnThisMachine(*config, worker.devices.size())
            << " isolation=" << isolation.backend() << " cgroup=" << isolation.cgroup();
  for (const Device& device : worker.devices) {
    const v1::DeviceFingerprint print = device.monitor->Fingerprint();
    LOG(INFO) << "msg=\"device\" id=" << print.device_id() << " name=\"" << print.name()
              << "\" architecture=" << print.architecture();
  }
  if (isolation.cgroup() == "none") {
    LOG(WARNING) << "msg=\"no control groups: memory and processes of a job are limited by rlimits "
                    "only\"";
  }
  // A second signal ends the process at once (ShutdownSignals).
  signals->Listen([session = worker.session.get()] { session->Drain("it got SIGTERM or SIGINT"); },
                  [session = worker.session.get()] { session->Drain("it got SIGUSR1"); });
  const absl::Status status = worker.session->Run();
  signals.reset();  // before the session it calls
  if (status.ok()) return 0;
  return Fail(status, absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status)
                          ? kNotAuthorized
                          : kUnavailable);
}

int CheckConfig(std::vector<std::string> args) {
  args.erase(std::remove(args.begin(), args.end(), "--check-config"), args.end());
  const auto config = LoadWorkerConfig(args, /*need_coordinator=*/false);
  return config.ok() ? 0 : Fail(config.status(), ExitCodeOfBadStart(config.status()));
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  auto signals = std::make_unique<ksearch::ShutdownSignals>(/*notice=*/true);
  ksearch::SetLogName("ksearch-worker");
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args == std::vector<std::string>{"--version"}) {
    std::printf("ksearch-worker %s\n", KSEARCH_VERSION);
    return 0;
  }
  if (args == std::vector<std::string>{"--help"}) {
    std::printf("%s", ksearch::kUsage);
    return 0;
  }
  if (std::find(args.begin(), args.end(), "--check-config") != args.end()) {
    return ksearch::CheckConfig(args);
  }
  if (std::find(args.begin(), args.end(), "--selftest") != args.end()) {
    return ksearch::SelfTest(args);
  }
  return ksearch::Run(args, std::move(signals));
}
