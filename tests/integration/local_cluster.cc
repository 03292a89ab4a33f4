#include "tests/integration/local_cluster.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "common/clock.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Long enough for overloaded machines; the wait ends as soon as the program is ready.
constexpr absl::Duration kReadyWithin = absl::Seconds(120);

std::string Environment(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> ChildEnvironment() {
  std::map<std::string, std::string> environment = {{"PATH", Environment("PATH")}};
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "KSEARCH_LOG"}) {
    if (!Environment(name).empty()) environment[name] = Environment(name);
  }
  return environment;
}

bool WaitUntil(const std::function<bool()>& ready) {
  const absl::Time give_up = absl::Now() + kReadyWithin;
  while (!ready()) {
    if (absl::Now() >= give_up) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

std::string ReadLine(const std::string& path) {
  const auto text = ReadFile(path, 4096);
  return text.ok() ? std::string(absl::StripSuffix(*text, "\n")) : "";
}

}  // namespace

LocalCluster::LocalCluster() : worker_config_(SourcePath("configs/worker_cpu.textproto")) {
  std::string pattern = "/tmp/ksearch-test-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  // Workers started as root become an unprivileged user, who must reach the binaries.
  ::chmod(folder_.c_str(), 0755);
  std::filesystem::create_directory(folder_ + "/bin");
  for (const char* name : {"ksearch", "ksearch-coordinator", "ksearch-worker", "ksearch-verifier",
                           "ksearch-runner", "ksearch-model-server"}) {
    std::filesystem::copy_file(Environment("KSEARCH_BIN_DIR") + "/" + name, BinaryPath(name));
  }
  // Not in every build.
  for (const char* name : {"ksearch_runner.py", "ksearch_runner_modules",
                           "libksearch_python_runner.so", "ksearch-autoscaler"}) {
    std::error_code ignored;
    std::filesystem::copy(Environment("KSEARCH_BIN_DIR") + "/" + name, BinaryPath(name),
                          std::filesystem::copy_options::recursive, ignored);
  }
}

LocalCluster::~LocalCluster() {
  processes_.clear();
  if (testing::Test::HasFailure()) {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.path().extension() == ".log") {
        std::fprintf(stderr, "---- %s\n%s\n", file.path().filename().c_str(),
                     ReadFile(file.path().string(), 1 << 20).value_or("").c_str());
      }
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string LocalCluster::SourcePath(const std::string& relative) {
  return Environment("KSEARCH_SOURCE_DIR") + "/" + relative;
}

void LocalCluster::Start(const std::string& name, std::vector<std::string> argv) {
  UniqueFd log(::open((folder_ + "/" + name + ".log").c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = ChildEnvironment();
  for (const auto& [variable, value] : environment_) options.environment[variable] = value;
  options.working_directory = folder_;
  options.inherited_fds = {{log.get(), 1}, {log.get(), 2}};
  auto process = Subprocess::Start(options);
  ASSERT_TRUE(process.ok()) << process.status();
  processes_[name] = *std::move(process);
}

void LocalCluster::UseOwnDevice() {
  const std::string lock_path = folder_ + "/device.lock";
  // The worker's account may read here, not write.
  for (const char* suffix : {"", ".gate"}) std::ofstream(lock_path + suffix).flush();
  SetLockPath(lock_path);
}

void LocalCluster::UseDeviceOf(const LocalCluster& other) {
  SetLockPath(other.folder() + "/device.lock");
}

void LocalCluster::SetLockPath(const std::string& lock_path) {
  std::string config = WorkerConfig();
  const size_t device = config.find("device {\n");
  ASSERT_NE(device, std::string::npos) << worker_config_;
  config.insert(config.find('\n', device) + 1, absl::StrCat("  lock_path: \"", lock_path, "\"\n"));
  SetWorkerConfig(config);
}

void LocalCluster::AddToWorkerConfig(const std::string& text) {
  SetWorkerConfig(absl::StrCat(WorkerConfig(), text, "\n"));
}

std::string LocalCluster::WorkerConfig() const {
  return ReadFile(worker_config_, 1 << 20).value_or("");
}

void LocalCluster::SetWorkerConfig(const std::string& config) {
  worker_config_ = folder_ + "/worker.textproto";
  std::ofstream(worker_config_) << config;
}

void LocalCluster::StartModelServer(const std::string& file, const std::vector<std::string>& args) {
  const std::string port_file = folder_ + "/model.port";
  const bool landscape = absl::EndsWith(file, ".landscape.textproto");
  std::vector<std::string> argv = {BinaryPath("ksearch-model-server"),
                                   landscape ? "--landscape" : "--cassette",
                                   file,
                                   "--port",
                                   "0",
                                   "--port-file",
                                   port_file};
  argv.insert(argv.end(), args.begin(), args.end());
  Start("model-server", argv);
  ASSERT_TRUE(WaitUntil([&] { return !ReadLine(port_file).empty(); })) << Log("model-server");
  model_url_ = absl::StrCat("http://127.0.0.1:", ReadLine(port_file), "/v1");
}

void LocalCluster::StartCoordinator(const std::string& extra_config, const std::string& task_dir) {
  const std::string config = folder_ + "/coordinator.textproto";
  std::ofstream(config) << "providers { name: \"scripted\" openai_chat { base_url: \""
                        << (model_url_.empty() ? "http://127.0.0.1:9/v1" : model_url_)
                        << "\" default_model: \"scripted\" label_headers: true } }\n"
                        << "run_defaults { provider: \"scripted\" }\n"
                        << extra_config;
  const std::string address_file = folder_ + "/state/address";
  const bool first = address_.empty();
  if (first) std::filesystem::remove(address_file);
  Start("coordinator", {BinaryPath("ksearch-coordinator"), "--config", config, "--state-dir",
                        folder_ + "/state", "--listen", first ? "127.0.0.1:0" : address_,
                        "--task-dir", task_dir.empty() ? SourcePath("configs/tasks") : task_dir});
  ASSERT_TRUE(WaitUntil([&] {
    if (first) address_ = ReadLine(address_file);
    return !address_.empty() && Cli({"status"}, absl::Seconds(5)).exit.code == 0;
  })) << Log("coordinator");
}

void LocalCluster::StartCoordinatorUntilItWaits(const std::string& state_dir) {
  std::filesystem::remove(folder_ + "/coordinator.log");
  Start("coordinator",
        {BinaryPath("ksearch-coordinator"), "--config", folder_ + "/coordinator.textproto",
         "--state-dir", state_dir, "--listen", address_, "--task-dir", SourcePath("configs/tasks"),
         "--exit-when-waiting"});
}

void LocalCluster::SetEnvironment(const std::string& name, const std::string& value) {
  environment_[name] = value;
}

void LocalCluster::StartWorker(const std::string& name, const std::vector<std::string>& args) {
  std::vector<std::string> argv = {BinaryPath("ksearch-worker"),
                                   "--config",
                                   worker_config_,
                                   "--coordinator",
                                   address_,
                                   "--state-dir",
                                   folder_ + "/" + name,
                                   "--name",
                                   name};
  argv.insert(argv.end(), args.begin(), args.end());
  Start(name, argv);
  ASSERT_TRUE(WaitUntil([&] {
    const CommandOutput workers = Cli({"workers"}, absl::Seconds(5));
    const size_t at = workers.out.find("  " + name + "  ");
    return at != std::string::npos &&
           workers.out.substr(at, workers.out.find('\n', at) - at).find("ready") !=
               std::string::npos;
  })) << Log(name);
}

void LocalCluster::Kill(const std::string& name) {
  ASSERT_TRUE(processes_.contains(name));
  ::kill(processes_[name]->pid(), SIGKILL);
  processes_[name]->Wait(absl::InfiniteFuture());
  processes_.erase(name);
}

int LocalCluster::Stop(const std::string& name) {
  ::kill(processes_[name]->pid(), SIGTERM);
  const auto exit = processes_[name]->Wait(Clock::Real().SteadyNow() + absl::Seconds(30));
  processes_.erase(name);
  return exit.has_value() && !exit->signaled ? exit->code : -1;
}

std::string LocalCluster::WaitForEnd(const std::string& name) {
  const auto exit = processes_[name]->Wait(Clock::Real().SteadyNow() + absl::Minutes(3));
  EXPECT_TRUE(exit.has_value() && !exit->signaled && exit->code == 0) << Log(name);
  processes_.erase(name);
  return Log(name);
}

bool LocalCluster::Running(const std::string& name) {
  const auto it = processes_.find(name);
  return it != processes_.end() && !it->second->Wait(absl::InfinitePast()).has_value();
}

int LocalCluster::Pid(const std::string& name) const {
  const auto it = processes_.find(name);
  return it == processes_.end() ? 0 : it->second->pid();
}

std::string LocalCluster::Log(const std::string& name) const {
  return ReadFile(folder_ + "/" + name + ".log", int64_t{16} << 20).value_or("");
}

CommandOutput LocalCluster::Cli(const std::vector<std::string>& args,
                                absl::Duration timeout) const {
  std::vector<std::string> argv = {BinaryPath("ksearch"), "--coordinator", address_};
  argv.insert(argv.end(), cli_args_.begin(), cli_args_.end());
  argv.insert(argv.end(), args.begin(), args.end());
  return RunProgram(argv, timeout);
}

CommandOutput RunProgram(const std::vector<std::string>& argv, absl::Duration timeout) {
  SubprocessOptions options;
  options.argv = argv;
  options.environment = ChildEnvironment();
  auto output = RunCommand(options, timeout, int64_t{64} << 20);
  EXPECT_TRUE(output.ok()) << output.status();
  return output.ok() ? *std::move(output) : CommandOutput{};
}

}  // namespace ksearch
