// ksearch-autoscaler: starts workers when jobs wait for them, and stops them when none do.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "autoscaler/autoscaler_config.h"
#include "autoscaler/fleet/fleet_table.h"
#include "autoscaler/grpc_coordinator.h"
#include "autoscaler/pool_keeper.h"
#include "common/arguments.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/shutdown.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr char kUsage[] =
    "usage: ksearch-autoscaler --config FILE [--coordinator HOST:PORT] [--token-file FILE]\n"
    "                          [--state-file FILE]\n"
    "       ksearch-autoscaler --config FILE --dry-run\n"
    "       ksearch-autoscaler --version\n"
    "FILE is an AutoscalerConfig as textproto (docs/autoscaler.md); arguments take precedence.\n"
    "--dry-run prints the commands that would start workers, and starts nothing.\n"
    "Exit code 2: an argument is wrong; 3: something else on this machine has to be corrected.\n";

constexpr int kConfigError = 3;

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

int Fail(const absl::Status& status, int code) {
  const std::string message(status.message());
  for (absl::string_view line : absl::StrSplit(message, '\n', absl::SkipEmpty())) {
    std::fprintf(stderr, "ksearch-autoscaler: %s\n", std::string(line).c_str());
  }
  return code;
}

int DryRun(const v1::AutoscalerConfig& config) {
  for (const v1::WorkerPool& pool : config.pools()) {
    const auto provider = MakeFleetProvider(pool);
    if (!provider.ok()) return Fail(provider.status(), kConfigError);
    std::printf("# pool %s\n%s\n", pool.name().c_str(), (*provider)->Plan().c_str());
  }
  return 0;
}

// Waits between looks, until End is called.
class Pause {
 public:
  void End() {
    MutexLock lock(&mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  // False once End was called.
  bool Wait(absl::Duration time) {
    const absl::Time until = Clock::Real().SteadyNow() + time;
    MutexLock lock(&mu_);
    while (!ended_) {
      const absl::Duration left = until - Clock::Real().SteadyNow();
      if (left <= absl::ZeroDuration()) return true;
      changed_.WaitFor(&mu_, left);
    }
    return false;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

void Iterate(Coordinator* coordinator, std::vector<std::unique_ptr<PoolKeeper>>* keepers,
             std::string* away) {
  absl::StatusOr<v1::DemandReply> demand = coordinator->Demand();
  absl::StatusOr<v1::ListWorkersReply> workers = absl::UnknownError("not asked");
  if (demand.ok()) workers = coordinator->Workers();
  const absl::Status status = demand.ok() ? workers.status() : demand.status();
  if (!status.ok()) {
    // Workers that lost their coordinator end by themselves after their idle timeout.
    if (*away != status.message()) {
      *away = std::string(status.message());
      LOG(WARNING) << "msg=\"the coordinator does not answer\" reason=\"" << *away << "\"";
    }
    return;
  }
  if (!away->empty()) LOG(INFO) << "msg=\"the coordinator answers again\"";
  away->clear();
  for (auto& keeper : *keepers) {
    keeper->Step(Clock::Real().SteadyNow(), *workers, demand->mutable_demands());
  }
}

int Run(const v1::AutoscalerConfig& config, ShutdownSignals* signals) {
  const auto access = ReadAutoscalerAccess(config);
  if (!access.ok()) return Fail(access.status(), kConfigError);
  ::unsetenv("KSEARCH_TOKEN");  // workers have tokens of their own
  auto spending = Spending::Open(config.state_file());
  if (!spending.ok()) return Fail(spending.status(), kConfigError);
  const auto coordinator = MakeGrpcCoordinator(config.coordinator_address(), *access);
  const std::string holder = RandomHex(8);
  std::vector<std::unique_ptr<PoolKeeper>> keepers;
  for (const v1::WorkerPool& pool : config.pools()) {
    auto provider = MakeFleetProvider(pool);
    if (!provider.ok()) return Fail(provider.status(), kConfigError);
    if (pool.provider_case() != v1::WorkerPool::kCommand &&
        IsLocalAddress(pool.coordinator_for_workers())) {
      LOG(WARNING) << "msg=\"workers on other machines cannot reach this address: set "
                      "coordinator_for_workers\" pool="
                   << pool.name() << " address=" << pool.coordinator_for_workers();
    }
    keepers.push_back(std::make_unique<PoolKeeper>(
        pool,
        PoolKeeper::Parts{*std::move(provider), coordinator.get(), &*spending, holder, HostName()},
        Clock::Real().SteadyNow()));
  }
  Pause pause;
  signals->Listen([&pause] { pause.End(); });
  LOG(INFO) << "msg=\"autoscaler ready\" coordinator=" << config.coordinator_address()
            << " pools=" << keepers.size();
  std::string away, unsaved;
  do {
    Iterate(coordinator.get(), &keepers, &away);
    const absl::Status saved = spending->Save();
    if (!saved.ok() && unsaved != saved.message()) {
      unsaved = std::string(saved.message());
      LOG(ERROR) << "msg=\"the pools' costs were not saved\" reason=\"" << unsaved << "\"";
    }
  } while (pause.Wait(FromProto(config.look_every())));
  for (auto& keeper : keepers) keeper->Release();
  LOG(INFO) << "msg=\"autoscaler ends; workers stay until their idle timeout\"";
  return 0;
}

int Main(std::vector<std::string> args) {
  ShutdownSignals signals;
  SetLogName("ksearch-autoscaler");
  if (args == std::vector<std::string>{"--version"}) {
    std::printf("ksearch-autoscaler %s\n", KSEARCH_VERSION);
    return 0;
  }
  if (args == std::vector<std::string>{"--help"}) {
    std::printf("%s", kUsage);
    return 0;
  }
  const auto dry = std::remove(args.begin(), args.end(), std::string("--dry-run"));
  const bool dry_run = dry != args.end();
  args.erase(dry, args.end());
  const auto config = LoadAutoscalerConfig(args);
  if (!config.ok()) return Fail(config.status(), ExitCodeOfBadStart(config.status()));
  return dry_run ? DryRun(*config) : Run(*config, &signals);
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  return ksearch::Main(std::vector<std::string>(argv + 1, argv + argc));
}
