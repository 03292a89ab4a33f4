#include "gpu_worker/selftest/sandbox_trials.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/clock.h"
#include "gpu_worker/sandbox/sandbox_factory.h"

namespace ksearch {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// Much more than a trial needs on a busy machine.
constexpr absl::Duration kPatience = absl::Seconds(30);

// Nullopt: it does not end by itself, or could not be started.
std::optional<SandboxExit> Run(const SandboxSpec& spec, Sandbox* sandbox,
                               absl::Duration patience = kPatience) {
  auto process = sandbox->Launch(spec);
  if (!process.ok()) return std::nullopt;
  auto exit = (*process)->Wait(Clock::Real().SteadyNow() + patience);
  if (!exit.has_value()) (*process)->Kill();
  return exit;
}

// "mnt:[4026531841]" of this process.
std::string OwnNamespace(const std::string& name) {
  char text[64] = {};
  const std::string path = "/proc/self/ns/" + name;
  const ssize_t size = ::readlink(path.c_str(), text, sizeof text - 1);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
}

// The value of a field of /proc/PID/status.
std::string Field(const std::string& status, const std::string& name) {
  for (const absl::string_view line : absl::StrSplit(status, '\n')) {
    if (absl::StartsWith(line, name + ":")) {
      return std::string(absl::StripAsciiWhitespace(line.substr(name.size() + 1)));
    }
  }
  return "";
}

}  // namespace

Finding TryIsolation(const v1::SandboxSettings& settings, Sandbox* sandbox) {
  SandboxSpec spec = SpecFromSettings(settings);
  spec.argv = {"/usr/bin/sh", "-c",
               "cat /proc/self/status; cd /proc/self/ns && for n in *; do readlink $n; done"};
  const auto exit = Run(spec, sandbox);
  if (!exit.has_value() || exit->code != 0) {
    return Finding::Warn("isolation", "could not be looked at from inside the sandbox",
                         "see whether /usr/bin has sh, cat and readlink");
  }
  const std::vector<std::string> lines = absl::StrSplit(exit->output, '\n');
  std::vector<std::string> own, missing;
  for (const char* const name : {"user", "mnt", "pid", "net", "ipc", "uts"}) {
    const std::string outside = OwnNamespace(name);
    bool differs = false;
    for (const std::string& line : lines) {
      differs |= absl::StartsWith(line, absl::StrCat(name, ":[")) && line != outside;
    }
    (differs ? own : missing).push_back(absl::StrCat("namespace ", name));
  }
  if (Field(exit->output, "Seccomp") != "2") missing.push_back("filter of system calls");
  if (Field(exit->output, "NoNewPrivs") != "1") missing.push_back("no_new_privs");
  const std::string capabilities = Field(exit->output, "CapEff");
  if (capabilities.empty() || capabilities.find_first_not_of('0') != std::string::npos) {
    missing.push_back("a drop of all capabilities");
  }
  if (!missing.empty()) {
    return Finding::Warn(
        "isolation", absl::StrCat("a program in the sandbox lacks: ", absl::StrJoin(missing, ", ")),
        "do not run other people's programs here");
  }
  return Finding::Ok(
      "isolation",
      "own user, mnt, pid, net, ipc and uts namespaces, a filter of system calls, no "
      "capabilities, and none to be gained");
}

Finding TryLimits(const v1::SandboxSettings& settings, Sandbox* sandbox, absl::Duration patience) {
  std::vector<std::string> broken;
  // `script` must not get to its end.
  const auto must_fail = [&](const char* name, const std::string& script, SandboxSpec spec) {
    spec.argv = {"/usr/bin/sh", "-c", script};
    const auto exit = Run(spec, sandbox, patience);
    if (!exit.has_value() || (!exit->signaled && exit->code == 0)) broken.emplace_back(name);
  };
  const SandboxSpec usual = SpecFromSettings(settings);
  SandboxSpec spec = usual;
  spec.memory_bytes = 64 * kMiB;
  spec.limit_data = true;
  // tail keeps what it reads, since it has to print the end of it. Without control groups a program
  // may map 512 MiB more than its limit.
  must_fail("memory", "head -c 800M /dev/zero | tail -c 700M | wc -c | grep 734003200", spec);
  spec = usual;
  spec.cpu_time = absl::Seconds(1);
  must_fail("processor time", "while :; do :; done", spec);
  spec = usual;
  spec.file_bytes = kMiB;
  must_fail("size of files", "head -c 4M /dev/zero >/tmp/file", spec);
  spec = usual;
  spec.max_processes = 8;
  must_fail("processes", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 2 & done", spec);
  spec = usual;
  spec.tmp_bytes = kMiB;
  must_fail("size of /tmp", "head -c 4M /dev/zero >/tmp/file", spec);
  if (!broken.empty()) {
    return Finding::Fail("limits",
                         absl::StrCat("a program in the sandbox goes beyond its limit of: ",
                                      absl::StrJoin(broken, ", ")),
                         "give the worker control groups: start it as root, or as a systemd unit "
                         "with Delegate=yes");
  }
  return Finding::Ok(
      "limits",
      absl::StrCat("memory (", sandbox->isolation().cgroup() == "none" ? "rlimits" : "cgroups",
                   "), processor time, processes, size of files and of /tmp hold"));
}

}  // namespace ksearch
