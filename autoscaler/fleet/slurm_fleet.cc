#include "autoscaler/fleet/slurm_fleet.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "autoscaler/fleet/program_call.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDefaultTimeLimit = absl::Hours(4);
constexpr int kDefaultCpus = 8;
// Notice that Slurm gives beyond the grace period, for the worker to sign off at the coordinator.
constexpr absl::Duration kBeyondGrace = absl::Seconds(30);

std::string Program(const std::string& given, const char* otherwise) {
  return given.empty() ? otherwise : given;
}

// Slurm's "D-HH:MM:SS".
std::string SlurmTime(absl::Duration time) {
  const int64_t seconds = absl::ToInt64Seconds(time);
  return absl::StrFormat("%d-%02d:%02d:%02d", seconds / 86400, seconds / 3600 % 24,
                         seconds / 60 % 60, seconds % 60);
}

// A job state as squeue abbreviates it: "R", "PD", "CG".
bool IsState(absl::string_view word) {
  return !word.empty() && word.size() <= 3 &&
         std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return absl::ascii_isupper(c); });
}

// Returns true if a job that waits for this reason needs a person before it can run.
bool NeverRuns(absl::string_view reason) {
  for (const char* word : {"held", "Held", "BadConstraints", "DependencyNeverSatisfied",
                           "PartitionTimeLimit", "InvalidAccount", "InvalidQOS", "launch failed"}) {
    if (absl::StrContains(reason, word)) return true;
  }
  return false;
}

// Checks a value of an #SBATCH line: no shell reads these, and they cannot quote a newline.
absl::Status CheckDirective(absl::string_view field, const std::string& value) {
  if (std::none_of(value.begin(), value.end(), [](unsigned char c) {
        return c <= 0x20 || c == 0x7f || c == '\'' || c == '"';
      })) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("slurm.", field, ": must have no spaces, quotes or control characters"));
}

absl::Status CheckShellWord(absl::string_view field, const std::string& value) {
  if (value.find('\n') == std::string::npos && value.find('\0') == std::string::npos) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("slurm.", field, ": must be one line"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FleetProvider>> SlurmFleet::Create(const v1::WorkerPool& pool) {
  const v1::SlurmFleet& slurm = pool.slurm();
  RETURN_IF_ERROR(CheckDirective("partition", slurm.partition()));
  RETURN_IF_ERROR(CheckDirective("account", slurm.account()));
  RETURN_IF_ERROR(CheckDirective("qos", slurm.qos()));
  RETURN_IF_ERROR(CheckDirective("gres", slurm.gres()));
  RETURN_IF_ERROR(CheckDirective("work_dir", slurm.work_dir()));
  for (const std::string& arg : slurm.sbatch_args()) {
    RETURN_IF_ERROR(CheckDirective("sbatch_args", arg));
    if (!absl::StartsWith(arg, "-")) {
      return absl::InvalidArgumentError(
          absl::StrCat("slurm.sbatch_args: '", arg,
                       "' is not an option; options start with '-', such as --constraint=hopper"));
    }
  }
  for (const std::string& arg : slurm.worker_args()) {
    RETURN_IF_ERROR(CheckShellWord("worker_args", arg));
  }
  RETURN_IF_ERROR(CheckShellWord("worker_command", slurm.worker_command()));
  if (slurm.cpus() < 0) return absl::InvalidArgumentError("slurm.cpus: must not be negative");
  if (slurm.memory_mib() < 0) {
    return absl::InvalidArgumentError("slurm.memory_mib: must not be negative");
  }
  const absl::Duration limit =
      slurm.has_time_limit() ? FromProto(slurm.time_limit()) : kDefaultTimeLimit;
  if (limit < absl::Minutes(1)) {
    return absl::InvalidArgumentError("slurm.time_limit: must be 1 min or more");
  }
  return std::unique_ptr<FleetProvider>(new SlurmFleet(pool));
}

std::string SlurmFleet::JobName() const { return absl::StrCat("ksearch-", pool_.name()); }

std::string SlurmFleet::Script(int count) const {
  const v1::SlurmFleet& slurm = pool_.slurm();
  const absl::Duration grace = FromProto(pool_.leave_grace());
  const absl::Duration notice =
      slurm.has_notice() ? FromProto(slurm.notice()) : grace + kBeyondGrace;
  const absl::Duration limit =
      slurm.has_time_limit() ? FromProto(slurm.time_limit()) : kDefaultTimeLimit;
  std::string script = "#!/bin/bash\n";
  const auto directive = [&script](absl::string_view name, absl::string_view value) {
    if (!value.empty()) absl::StrAppend(&script, "#SBATCH --", name, "=", value, "\n");
  };
  directive("job-name", JobName());
  directive("array", absl::StrCat("0-", count - 1, "%", pool_.most()));
  directive("partition", slurm.partition());
  directive("account", slurm.account());
  directive("qos", slurm.qos());
  directive("nodes", "1");
  directive("ntasks", "1");
  directive("cpus-per-task", absl::StrCat(slurm.cpus() > 0 ? slurm.cpus() : kDefaultCpus));
  directive("gres", slurm.gres());
  if (slurm.memory_mib() > 0) directive("mem", absl::StrCat(slurm.memory_mib(), "M"));
  directive("time", SlurmTime(limit));
  directive("signal",
            absl::StrCat("B:USR1@", absl::ToInt64Seconds(absl::Ceil(notice, absl::Seconds(1)))));
  absl::StrAppend(&script, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
  directive("output", absl::StrCat(slurm.work_dir().empty() ? "." : slurm.work_dir(), "/",
                                   JobName(), "-%A_%a.log"));
  for (const std::string& arg : slurm.sbatch_args()) {
    absl::StrAppend(&script, "#SBATCH ", arg, "\n");
  }
  absl::StrAppend(&script, "set -u\n");
  for (const std::string& line : slurm.setup_lines()) absl::StrAppend(&script, line, "\n");
  absl::StrAppend(
      &script, "export KSEARCH_POOL=", ShellWord(pool_.name()),
      "\nexport KSEARCH_INSTANCE=\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n",
      "# The worker takes the place of this shell, which is what Slurm sends USR1 to.\n", "exec ",
      ShellWord(Program(slurm.worker_command(), "ksearch-worker")), " --coordinator ",
      ShellWord(pool_.coordinator_for_workers()),
      " \\\n  --state-dir \"${TMPDIR:-/tmp}/ksearch-${SLURM_JOB_ID}\"", " --idle-timeout ",
      absl::FormatDuration(FromProto(pool_.cool_down())), " --leave-grace ",
      absl::FormatDuration(grace));
  for (const std::string& arg : slurm.worker_args()) {
    absl::StrAppend(&script, " \\\n  ", ShellWord(arg));
  }
  return script + "\n";
}

absl::Status SlurmFleet::Start(int count) {
  ProgramCall call;
  call.argv = {Program(pool_.slurm().sbatch(), "sbatch"), "--parsable"};
  call.input = Script(count);
  ASSIGN_OR_RETURN(const std::string printed, CallProgram(call));
  // "JOB" or "JOB;CLUSTER".
  const std::string job = printed.substr(0, printed.find_first_not_of("0123456789"));
  if (!job.empty()) last_started_ = job + "_0";
  return absl::OkStatus();
}

absl::StatusOr<Fleet> SlurmFleet::ParseQueue(absl::string_view text) {
  Fleet fleet;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(absl::StripAsciiWhitespace(line), absl::MaxSplits(' ', 2));
    if (words.size() < 2 || !IsInstanceId(words[0]) || !IsState(words[1])) {
      return absl::UnavailableError(absl::StrCat("squeue printed '", OneLine(line), "'"));
    }
    const absl::string_view state = words[1];
    // CG (completing): its worker is gone.
    if (state == "CG" || state == "CD" || state == "CA" || state == "F" || state == "TO") continue;
    Instance& instance = fleet.instances.emplace_back();
    instance.id = std::string(words[0]);
    if (words.size() > 2 && words[2] != "None") instance.note = OneLine(words[2]);
    if (state == "R" || state == "CF" || state == "S") {
      instance.state = Instance::State::kRunning;
    } else if (NeverRuns(instance.note)) {
      instance.state = Instance::State::kFailed;
    }
  }
  return fleet;
}

absl::StatusOr<Fleet> SlurmFleet::List() {
  ProgramCall call;
  call.argv = {Program(pool_.slurm().squeue(), "squeue"), "--noheader",       "--array", "--me",
               absl::StrCat("--name=", JobName()),        "--format=%i %t %r"};
  ASSIGN_OR_RETURN(const std::string queue, CallProgram(call));
  return ParseQueue(queue);
}

absl::Status SlurmFleet::Stop(const std::string& id, Manner manner) {
  const std::string scancel = Program(pool_.slurm().scancel(), "scancel");
  ProgramCall call;
  absl::Status status;
  if (manner == Manner::kGently) {
    // Pending jobs are canceled at once; USR1 asks running workers to finish and leave.
    call.argv = {scancel, "--state=PENDING", id};
    status = CallProgram(call).status();
    call.argv = {scancel, "--state=RUNNING", "--batch", "--signal=USR1", id};
    if (status.ok()) status = CallProgram(call).status();
  } else {
    call.argv = {scancel, id};
    status = CallProgram(call).status();
  }
  if (status.ok()) return status;
  // The job may have ended meanwhile, which Slurm reports in several ways.
  const absl::StatusOr<Fleet> fleet = List();
  const bool gone = fleet.ok() && std::none_of(fleet->instances.begin(), fleet->instances.end(),
                                               [&](const Instance& one) { return one.id == id; });
  return gone ? absl::OkStatus() : status;
}

std::string SlurmFleet::Plan() const {
  return absl::StrCat("# ", Program(pool_.slurm().sbatch(), "sbatch"),
                      " --parsable, with this on its standard input:\n",
                      Script(std::max(1, pool_.most())));
}

std::string SlurmFleet::LogOf(const std::string& id) const {
  const std::string& of = id.empty() ? last_started_ : id;
  if (of.empty()) return "";
  return absl::StrCat(pool_.slurm().work_dir().empty() ? "." : pool_.slurm().work_dir(), "/",
                      JobName(), "-", of, ".log");
}

}  // namespace ksearch
