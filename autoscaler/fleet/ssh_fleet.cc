#include "autoscaler/fleet/ssh_fleet.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "autoscaler/fleet/program_call.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDefaultTimeout = absl::Seconds(60);
constexpr int64_t kMaxBundleBytes = int64_t{1} << 30;

std::string IdOf(const std::string& host) {
  std::string id = host.substr(0, 64);
  for (char& c : id) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  }
  return id;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetProvider>> SshFleet::Create(const v1::WorkerPool& pool) {
  const v1::SshFleet& ssh = pool.ssh();
  if (ssh.hosts().empty()) return absl::InvalidArgumentError("ssh.hosts: name at least one");
  auto fleet = std::unique_ptr<SshFleet>(new SshFleet(pool));
  for (const std::string& host : ssh.hosts()) {
    // ssh would take a name that begins with a dash as an option.
    if (host.empty() || host[0] == '-' || host.find_first_of(" \t\n'\"") != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("ssh.hosts: '", host, "' is no [USER@]HOST"));
    }
    if (!fleet->hosts_.emplace(IdOf(host), host).second) {
      return absl::InvalidArgumentError(absl::StrCat("ssh.hosts: '", host, "' is given twice"));
    }
  }
  if (!ssh.bundle().empty()) {
    const auto bundle = ReadFile(ssh.bundle(), kMaxBundleBytes);
    if (!bundle.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("ssh.bundle: ", bundle.status().message()));
    }
    fleet->bundle_sha256_ = Sha256Hex(*bundle);
  }
  return std::unique_ptr<FleetProvider>(std::move(fleet));
}

SshFleet::SshFleet(const v1::WorkerPool& pool) : pool_(pool) {}

std::string SshFleet::Folder() const {
  return pool_.ssh().folder().empty() ? "ksearch-worker" : pool_.ssh().folder();
}

absl::StatusOr<std::string> SshFleet::Shell(const std::string& host,
                                            const std::string& script) const {
  ProgramCall call;
  call.argv = {pool_.ssh().ssh().empty() ? "ssh" : pool_.ssh().ssh(), "-o", "BatchMode=yes", "-o",
               "ConnectTimeout=10"};
  call.argv.insert(call.argv.end(), pool_.ssh().ssh_args().begin(), pool_.ssh().ssh_args().end());
  call.argv.insert(call.argv.end(), {host, "sh -s"});
  call.input = script;
  call.timeout = pool_.ssh().has_timeout() ? FromProto(pool_.ssh().timeout()) : kDefaultTimeout;
  absl::StatusOr<std::string> out = CallProgram(call);
  if (!out.ok()) {
    return absl::UnavailableError(absl::StrCat(host, ": ", out.status().message()));
  }
  return out;
}

absl::Status SshFleet::Copy(const std::string& host) const {
  if (bundle_sha256_.empty()) return absl::OkStatus();
  const std::string folder = ShellWord(Folder());
  ASSIGN_OR_RETURN(
      const std::string there,
      Shell(host, absl::StrCat("cat ", folder, "/bundle.sha256 2>/dev/null || true\n")));
  if (absl::StripAsciiWhitespace(there) == bundle_sha256_) return absl::OkStatus();
  ProgramCall call;
  call.argv = {pool_.ssh().ssh().empty() ? "ssh" : pool_.ssh().ssh(), "-o", "BatchMode=yes", "-o",
               "ConnectTimeout=10"};
  call.argv.insert(call.argv.end(), pool_.ssh().ssh_args().begin(), pool_.ssh().ssh_args().end());
  // The marker is written last, so that an interrupted copy is repeated.
  call.argv.insert(call.argv.end(),
                   {host, absl::StrCat("mkdir -p ", folder, " && tar -xzf - -C ", folder,
                                       " --strip-components=1 && echo ", bundle_sha256_, " > ",
                                       folder, "/bundle.sha256")});
  call.input_file = pool_.ssh().bundle();
  call.timeout = absl::Minutes(1);
  const absl::Status copied = CallProgram(call).status();
  if (copied.ok()) return copied;
  return absl::UnavailableError(absl::StrCat(host, ": copying the bundle: ", copied.message()));
}

absl::StatusOr<Fleet> SshFleet::List() {
  Fleet fleet;
  std::set<std::string> running;
  for (const auto& [id, host] : hosts_) {
    // On the first listing, workers of an earlier autoscaler may be on any host.
    if (listed_ && !running_.contains(id)) continue;
    const auto out =
        Shell(host, absl::StrCat("cd ", ShellWord(Folder()),
                                 " 2>/dev/null && kill -0 "
                                 "\"$(cat worker.pid)\" 2>/dev/null && echo running || true\n"));
    const bool runs = out.ok() && absl::StripAsciiWhitespace(*out) == "running";
    // A worker on a host that does not answer may still run: it counts until the host answers.
    if (!runs && (out.ok() || !listed_)) continue;
    running.insert(id);
    fleet.instances.push_back(
        {id, Instance::State::kRunning, out.ok() ? "" : OneLine(out.status().message())});
  }
  running_ = std::move(running);
  listed_ = true;
  return fleet;
}

std::string SshFleet::StartScript(const std::string& id) const {
  const v1::SshFleet& ssh = pool_.ssh();
  std::string worker = ssh.worker_command();
  if (worker.empty()) worker = ssh.bundle().empty() ? "ksearch-worker" : "bin/ksearch-worker";
  std::string script = absl::StrCat(
      "set -e\nmkdir -p ", ShellWord(Folder()), "\ncd ", ShellWord(Folder()),
      "\nexport KSEARCH_POOL=", ShellWord(pool_.name()), " KSEARCH_INSTANCE=", ShellWord(id),
      "\nsetsid ", ShellWord(worker), " --coordinator ", ShellWord(pool_.coordinator_for_workers()),
      " --state-dir state --idle-timeout ", absl::FormatDuration(FromProto(pool_.cool_down())),
      " --leave-grace ", absl::FormatDuration(FromProto(pool_.leave_grace())));
  for (const std::string& arg : ssh.worker_args()) absl::StrAppend(&script, " ", ShellWord(arg));
  return script + " >>worker.log 2>&1 </dev/null &\necho $! >worker.pid\n";
}

absl::Status SshFleet::Start(int count) {
  // Hosts that failed come last, so that a broken one does not keep the others from being tried.
  std::vector<std::string> free;
  for (const bool tried : {false, true}) {
    for (const auto& [id, host] : hosts_) {
      if (!running_.contains(id) && tried_.contains(id) == tried) free.push_back(id);
    }
  }
  absl::Status first = absl::OkStatus();
  for (const std::string& id : free) {
    if (count == 0) break;
    const std::string& host = hosts_.at(id);
    absl::Status status = Copy(host);
    if (status.ok()) status = Shell(host, StartScript(id)).status();
    if (status.ok()) {
      running_.insert(id);
      tried_.erase(id);
      --count;
    } else {
      tried_.insert(id);
      first.Update(status);
    }
  }
  if (count == 0) return absl::OkStatus();
  first.Update(absl::ResourceExhaustedError("every host of the pool has its worker"));
  return first;
}

absl::Status SshFleet::Stop(const std::string& id, Manner manner) {
  const auto host = hosts_.find(id);
  if (host == hosts_.end()) return absl::OkStatus();
  if (manner == Manner::kAtOnce) tried_.insert(id);
  return Shell(host->second, absl::StrCat("cd ", ShellWord(Folder()), " 2>/dev/null && kill -",
                                          manner == Manner::kGently ? "TERM" : "KILL",
                                          " \"$(cat worker.pid)\" 2>/dev/null || true\n"))
      .status();
}

std::string SshFleet::Plan() const {
  std::string plan;
  for (const auto& [id, host] : hosts_) {
    absl::StrAppend(&plan, "# ssh ", host, " sh -s, with this on its standard input:\n",
                    StartScript(id));
  }
  return plan;
}

std::string SshFleet::LogOf(const std::string& id) const {
  const auto host = hosts_.find(id);
  return host == hosts_.end() ? "" : absl::StrCat(host->second, ":", Folder(), "/worker.log");
}

}  // namespace ksearch
