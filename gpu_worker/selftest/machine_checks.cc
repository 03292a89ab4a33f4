#include "gpu_worker/selftest/machine_checks.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/disk_space.h"
#include "common/language.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/sandbox/privileges.h"
#include "gpu_worker/sandbox/sandbox_factory.h"

namespace ksearch {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kTooLittleDisk = kGiB / 4;
constexpr int64_t kLittleDisk = 4 * kGiB;
constexpr int kConnectMilliseconds = 3000;

std::string Setting(const std::string& name) {
  const std::string text = ReadFile("/proc/sys/" + name, 64).value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

// Advice on allowing user namespaces for unprivileged accounts, so far as the kernel reveals the
// cause.
std::string NamespaceFix() {
  if (Setting("kernel/apparmor_restrict_unprivileged_userns") == "1") {
    return "AppArmor bars user namespaces: install the profile apparmor/ksearch-bwrap of the "
           "bundle, or set kernel.apparmor_restrict_unprivileged_userns=0 (sysctl)";
  }
  if (Setting("kernel/unprivileged_userns_clone") == "0") {
    return "set kernel.unprivileged_userns_clone=1 (sysctl)";
  }
  if (Setting("user/max_user_namespaces") == "0") {
    return "set user.max_user_namespaces=15000 (sysctl)";
  }
  return "in a container, allow user namespaces and mounts (docker: --security-opt "
         "seccomp=unconfined --security-opt systempaths=unconfined)";
}

// `fix`: what to do if there is too little space.
Finding CheckFolder(const std::string& folder, const std::string& fix) {
  const std::string what = "disk";
  const absl::StatusOr<DiskSpace> disk = DiskSpaceOf(folder);
  if (!disk.ok()) {
    return Finding::Fail(what, std::string(disk.status().message()), "make the folder");
  }
  const int64_t free = disk->free_bytes;
  const std::string text = absl::StrFormat("%s has %.1f GiB free", folder,
                                           static_cast<double>(free) / static_cast<double>(kGiB));
  if (free < kTooLittleDisk) return Finding::Fail(what, text, fix);
  if (free < kLittleDisk) return Finding::Warn(what, text, "builds and results need a few GiB");
  return Finding::Ok(what, text);
}

Finding CheckUnixSocket(const std::string& address) {
  sockaddr_un where = {};
  where.sun_family = AF_UNIX;
  const std::string path = address.substr(sizeof "unix:" - 1);
  if (path.size() >= sizeof where.sun_path) {
    return Finding::Warn(
        "coordinator", address + " is too long for a Unix socket",
        absl::StrCat("use a path of at most ", sizeof where.sun_path - 1, " characters"));
  }
  path.copy(where.sun_path, path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) {
    return Finding::Ok("coordinator", address + " listens");
  }
  return Finding::Warn("coordinator", absl::StrCat(address, ": ", std::strerror(errno)),
                       "start it, or look at who may open the socket; a worker waits for it");
}

}  // namespace

Finding CheckBinaries(const v1::WorkerConfig& config) {
  for (const char* const name : {"/ksearch-verifier", "/ksearch-runner"}) {
    const absl::Status usable = CheckExecutable(config.binary_dir() + name);
    if (!usable.ok()) {
      return Finding::Fail("programs", std::string(usable.message()),
                           "set binary_dir to the folder of ksearch-verifier and ksearch-runner");
    }
  }
  return Finding::Ok("programs", "ksearch-verifier and ksearch-runner in " + config.binary_dir());
}

Finding CheckSandbox(const v1::SandboxSettings& settings, std::unique_ptr<Sandbox>* sandbox) {
  auto made = MakeSandbox(settings);
  if (!made.ok()) {
    return Finding::Fail("sandbox", std::string(made.status().message()),
                         absl::IsUnavailable(made.status()) ? NamespaceFix() : "");
  }
  *sandbox = *std::move(made);
  SandboxSpec spec = SpecFromSettings(settings);
  spec.argv = {"/usr/bin/cat", "/proc/self/uid_map"};
  auto process = (*sandbox)->Launch(spec);
  if (!process.ok()) {
    return Finding::Fail("sandbox", std::string(process.status().message()), NamespaceFix());
  }
  const auto exit = (*process)->Wait(Clock::Real().SteadyNow() + absl::Seconds(10));
  if (!exit.has_value() || exit->setup_failed || exit->code != 0) {
    return Finding::Fail("sandbox",
                         exit.has_value() ? absl::StrCat("a program does not start in it: ",
                                                         absl::StripAsciiWhitespace(exit->output))
                                          : "a program in it does not end",
                         NamespaceFix());
  }
  const v1::IsolationLevel level = (*sandbox)->isolation();
  return Finding::Ok("sandbox", absl::StrCat(level.backend(), " starts programs in namespaces of ",
                                             "their own", level.seccomp() ? ", seccomp" : ""));
}

Finding CheckCgroup(const Sandbox& sandbox) {
  const std::string version = sandbox.isolation().cgroup();
  if (version != "none") return Finding::Ok("cgroups", version + ", limits memory and processes");
  return Finding::Warn("cgroups", "none: only rlimits bound a job's memory and processes",
                       "start the worker as root, or as a systemd unit with Delegate=yes");
}

std::vector<Finding> CheckDisk(const std::string& state_dir) {
  std::vector<Finding> findings;
  findings.push_back(CheckFolder(state_dir, "free some, or set another state_dir"));
  const Finding temporary = CheckFolder("/tmp", "remove files there");
  if (temporary.level != Finding::Level::kOk) findings.push_back(temporary);
  return findings;
}

namespace {

bool HasGpu(const v1::WorkerConfig& config) {
  bool has = config.device().device_class() == v1::DEVICE_CLASS_CUDA;
  for (const v1::DeviceSettings& device : config.more_devices()) {
    has = has || device.device_class() == v1::DEVICE_CLASS_CUDA;
  }
  return has;
}

}  // namespace

std::vector<Finding> CheckCompilers(const v1::WorkerConfig& config, const std::string& folder,
                                    Sandbox* sandbox) {
  std::vector<v1::Toolchain> wanted(config.toolchains().begin(), config.toolchains().end());
  if (wanted.empty()) wanted.emplace_back().set_language(DefaultLanguage().id);
  std::vector<Finding> findings;
  for (const v1::Toolchain& toolchain : wanted) {
    v1::WorkerConfig one = config;
    one.clear_toolchains();
    *one.add_toolchains() = toolchain;
    const absl::Time begin = Clock::Real().SteadyNow();
    const auto made = MakeToolchains(one, folder, sandbox);
    if (!made.ok()) {
      findings.push_back(Finding::Fail("compiler", std::string(made.status().message()),
                                       std::string(FactsOf(toolchain.language()).toolkit_advice)));
      continue;
    }
    const std::string version = made->begin()->second->fingerprint();
    findings.push_back(Finding::Ok(
        "compiler",
        absl::StrFormat("%s builds; ready after %.1f s (%s)", LanguageName(toolchain.language()),
                        absl::ToDoubleSeconds(Clock::Real().SteadyNow() - begin),
                        version.substr(0, version.find(" | ")))));
    if (!HasGpu(config) || !BuiltFor(toolchain.language(), v1::DEVICE_CLASS_CUDA)) continue;
    const absl::Status on_gpus = made->begin()->second->ServesDevice(v1::DEVICE_CLASS_CUDA);
    if (on_gpus.ok()) continue;
    findings.push_back(
        Finding::Warn("compiler", std::string(on_gpus.message()),
                      absl::StrCat("else this worker's GPUs take no programs in ",
                                   std::string(FactsOf(toolchain.language()).title))));
  }
  return findings;
}

Finding CheckCoordinator(const std::string& address) {
  if (address.empty()) {
    return Finding::Warn("coordinator", "none is configured", "give --coordinator HOST:PORT");
  }
  if (absl::StartsWith(address, "unix:")) return CheckUnixSocket(address);
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : address.substr(colon + 1);
  const auto unreachable = [&address](const std::string& why) {
    return Finding::Warn("coordinator", absl::StrCat(address, ": ", why),
                         "start it, or look at address and firewall; a worker waits for it");
  };
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return unreachable(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  std::string why = "no address";
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    const UniqueFd socket(
        ::socket(one->ai_family, one->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    int result = 0;
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) != 0) {
      result = errno;
      if (result == EINPROGRESS) {
        pollfd waiting = {socket.get(), POLLOUT, 0};
        socklen_t bytes = sizeof result;
        if (::poll(&waiting, 1, kConnectMilliseconds) != 1) {
          result = ETIMEDOUT;
        } else if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &result, &bytes) != 0) {
          result = errno;
        }
      }
    }
    if (result == 0) return Finding::Ok("coordinator", address + " listens");
    why = std::strerror(result);
  }
  return unreachable(why);
}

}  // namespace ksearch
