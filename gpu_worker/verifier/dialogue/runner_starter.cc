#include "gpu_worker/verifier/dialogue/runner_starter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int64_t kTrustedMemoryBytes = int64_t{16} << 30;
// Memory that an instrument needs in addition to the runner.
constexpr int64_t kInstrumentMemoryBytes = int64_t{16} << 30;
constexpr int64_t kInstrumentTmpBytes = int64_t{1} << 30;
constexpr int kInstrumentProcesses = 512;
// Additional memory for compilers: nvcc with torch's headers takes some GiB.
constexpr int64_t kCompilerMemoryBytes = int64_t{16} << 30;
constexpr int64_t kCompilerTmpBytes = int64_t{2} << 30;
constexpr int64_t kCompilerFileBytes = int64_t{1} << 30;
constexpr int kCompilerProcesses = 512;
// An interpreter that imports torch, measured on an H200's host.
constexpr absl::Duration kSlowStartTime = absl::Seconds(3);

// The runner, once it has sent its HELLO.
absl::StatusOr<std::unique_ptr<RunnerLink>> Greeted(
    absl::StatusOr<std::unique_ptr<RunnerLink>> launched) {
  if (launched.ok()) RETURN_IF_ERROR((*launched)->AwaitHello());
  return launched;
}

}  // namespace

SandboxSpec RunnerStarter::Spec(const v1::RunnerCommand* runner, const v1::Limits& limits,
                                const std::string& gpu_uuid) const {
  SandboxSpec spec;
  const auto show = [&spec](const std::string& path) {
    spec.binds.push_back({path, path, false, false});
  };
  if (runner != nullptr) {
    spec.argv.assign(runner->argv().begin(), runner->argv().end());
    for (const std::string& path : runner->reads()) show(path);
    spec.environment.insert(runner->environment().begin(), runner->environment().end());
  } else {
    spec.argv = {runner_path_};
    show(runner_path_);
  }
  spec.memory_bytes = limits.memory_bytes();
  spec.limit_data = gpu_uuid.empty();
  spec.cpu_time = FromProto(limits.total_time()) * kCpuTimePerWallTime;
  if (settings_.max_processes() > 0) spec.max_processes = settings_.max_processes();
  if (settings_.tmp_bytes() > 0) spec.tmp_bytes = settings_.tmp_bytes();
  if (settings_.output_bytes() > 0) spec.output_bytes = settings_.output_bytes();
  if (!gpu_uuid.empty()) {
    spec.argv.push_back("--gpu=" + gpu_uuid);
    if (!settings_.gpu_filter().empty()) {
      spec.argv.push_back("--gpu-filter=" + settings_.gpu_filter());
    }
    AddGpu(gpu_binds_, gpu_uuid, &spec);
  }
  return spec;
}

SandboxSpec RunnerStarter::Spec(const ProgramImage& program, const v1::Limits& limits,
                                const std::string& gpu_uuid) const {
  SandboxSpec spec = Spec(program.runner(), limits, gpu_uuid);
  if (program.is_folder()) {
    spec.binds.push_back({program.folder(), ProgramImage::kShownAs, false, false});
  }
  return spec;
}

RunnerReserve::Kind RunnerStarter::KindOf(const v1::RunnerCommand& runner,
                                          const v1::Limits& limits) const {
  RunnerReserve::Kind kind = {Spec(&runner, limits, gpu_uuid_), ""};
  kind.spec.argv.push_back("--in-advance");
  return kind;
}

void RunnerStarter::Warm(SandboxSpec* spec) {
  spec->argv.push_back("--warm");
  spec->memory_bytes += kCompilerMemoryBytes;
  spec->limit_data = false;
  spec->max_processes = std::max(spec->max_processes, kCompilerProcesses);
  spec->tmp_bytes = std::max(spec->tmp_bytes, kCompilerTmpBytes);
  spec->file_bytes = std::max(spec->file_bytes, kCompilerFileBytes);
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::Start(const ProgramImage& program,
                                                                 const v1::Limits& limits) {
  return Greeted(Launch(program, limits));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::Launch(const ProgramImage& program,
                                                                  const v1::Limits& limits) {
  if (program.is_folder() && InAdvance(program.runner())) {
    return Take(KindOf(*program.runner(), limits), program);
  }
  return Launch(Spec(program, limits, gpu_uuid_));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::StartOnHost(const ProgramImage& program,
                                                                       const v1::Limits& limits) {
  SandboxSpec spec = Spec(program, limits, /*gpu_uuid=*/"");
  // Threads that wait for work without sleep would disturb what is timed next.
  spec.environment["OMP_NUM_THREADS"] = "1";
  return Greeted(RunnerLink::Launch(sandbox_, std::move(spec), clock_));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::StartIdle(const v1::Limits& limits) {
  return Greeted(Launch(Spec(nullptr, limits, gpu_uuid_)));
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::Launch(SandboxSpec spec) {
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> link,
                   RunnerLink::Launch(sandbox_, std::move(spec), clock_));
  if (!gpu_uuid_.empty()) link->WaitAwake();
  return link;
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::Take(const RunnerReserve::Kind& kind,
                                                                const ProgramImage& program) {
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> link, reserve_->Take(kind, program));
  if (!gpu_uuid_.empty()) link->WaitAwake();
  return link;
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::LaunchUnder(
    const InstrumentCommand& instrument, int report, const ProgramImage& program,
    const v1::Limits& limits) {
  SandboxSpec spec = Spec(program, limits, gpu_uuid_);
  spec.argv.push_back("--instrumented");
  spec.argv.insert(spec.argv.begin(), instrument.words.begin(), instrument.words.end());
  for (const std::string& folder : instrument.folders) {
    spec.binds.push_back({folder, folder, false, false});
  }
  spec.memory_bytes += kInstrumentMemoryBytes;
  spec.limit_data = false;
  spec.max_processes = std::max(spec.max_processes, kInstrumentProcesses);
  spec.tmp_bytes = std::max(spec.tmp_bytes, kInstrumentTmpBytes);
  spec.inherited_fds.emplace_back(report, kInstrumentReportFd);
  return RunnerLink::Launch(sandbox_, std::move(spec), clock_);
}

absl::StatusOr<std::unique_ptr<RunnerLink>> RunnerStarter::StartWarm(const ProgramImage& program,
                                                                     absl::string_view compiled,
                                                                     const v1::Limits& limits) {
  if (InAdvance(program.runner())) {
    RunnerReserve::Kind kind = KindOf(*program.runner(), limits);
    Warm(&kind.spec);
    kind.writable = std::string(compiled);
    return Take(kind, program);
  }
  SandboxSpec spec = Spec(program, limits, gpu_uuid_);
  Warm(&spec);
  // Behind the program's folder, a part of which becomes writable.
  spec.binds.push_back({absl::StrCat(program.folder(), "/", compiled),
                        absl::StrCat(ProgramImage::kShownAs, "/", compiled), true, false});
  return Greeted(Launch(std::move(spec)));
}

void RunnerStarter::Foresee(const v1::RunnerCommand& runner, const v1::Limits& limits) {
  if (InAdvance(&runner)) reserve_->Foresee(KindOf(runner, limits));
}

void RunnerStarter::Settle() {
  if (reserve_ != nullptr) reserve_->Settle();
}

void RunnerStarter::FillReserve() {
  if (reserve_ != nullptr) reserve_->Fill();
}

void RunnerStarter::DropReserve() {
  if (reserve_ != nullptr) reserve_->Clear();
}

absl::Duration RunnerStarter::StartTime(const ProgramImage& program, const v1::Limits& limits,
                                        absl::Duration seen) const {
  const v1::RunnerCommand* const runner = program.runner();
  if (!InAdvance(runner) || reserve_->Holds(KindOf(*runner, limits))) return seen;
  return std::max(seen, kSlowStartTime);
}

v1::Limits RunnerStarter::TrustedLimits() {
  v1::Limits limits = WithDefaults(v1::Limits());
  limits.set_memory_bytes(kTrustedMemoryBytes);
  *limits.mutable_total_time() = ToProto(absl::Minutes(30));
  return limits;
}

}  // namespace ksearch
