#include "gpu_worker/verifier/timing/trusted_function.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"

namespace ksearch {
namespace {

const WorkloadSession::Limits kLimits = {kTrustedCallTime, absl::InfiniteFuture()};

}  // namespace

void TrustedFunction::Use(const v1::Artifact& program) {
  const bool same = program_.sha256() == program.sha256() && program_.path() == program.path() &&
                    program_.main_file() == program.main_file();
  program_ = program;
  if (!same) Stop();
}

bool TrustedFunction::IsOnDevice(const WorkloadCase& workload) const {
  return on_device_ != nullptr && workload.outputs() <= kMostDeviceOutputs;
}

absl::StatusOr<std::shared_ptr<const SavedOutputs>> TrustedFunction::Call(
    const std::shared_ptr<const WorkloadCase>& workload, int64_t variant) {
  RETURN_IF_ERROR(Prepare(workload));
  const WorkloadSession::Batch batch =
      session_->Run({{0, variant}}, WorkloadSession::Mode::kReference, {}, kLimits);
  if (!batch.ending.passed()) return Broken(*workload, batch.ending);
  return session_->Outputs(0);
}

absl::Status TrustedFunction::Prepare(const std::shared_ptr<const WorkloadCase>& workload) {
  const bool on_device = IsOnDevice(*workload);
  if (linked_on_device_ != on_device) Stop();
  if (link_ == nullptr) {
    ASSIGN_OR_RETURN(const ProgramImage program, ProgramImage::Open(program_));
    const v1::Limits limits = RunnerStarter::TrustedLimits();
    ASSIGN_OR_RETURN(
        link_, on_device ? starter_.Start(program, limits) : starter_.StartOnHost(program, limits));
    linked_on_device_ = on_device;
    const absl::Duration load_time = std::max(kTrustedCallTime, program.load_time());
    const Ending loaded = link_->Load(program, clock_.SteadyNow() + load_time, entry_);
    if (!loaded.passed()) return Broken(*workload, loaded);
  }
  if (mapped_ == workload) return absl::OkStatus();
  mapped_.reset();
  session_.reset();
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                   on_device ? on_device_(workload, 1) : MemfdBufferSets::Create(workload, 1));
  session_ = std::make_unique<WorkloadSession>(*link_, workload, std::move(buffers), clock_,
                                               workload->seed().low);
  if (const Ending mapped = session_->Map(1, kLimits); !mapped.passed()) {
    return Broken(*workload, mapped);
  }
  mapped_ = workload;
  return absl::OkStatus();
}

absl::Status TrustedFunction::Broken(const WorkloadCase& workload, const Ending& ending) {
  const absl::Status fault = TaskFaultOf(
      ending, absl::StrCat(entry_, " fails on workload ", workload.uuid(), ": ", OwnWords(ending)));
  Stop();
  return fault;
}

void TrustedFunction::Stop() {
  session_.reset();
  mapped_.reset();
  link_.reset();
}

}  // namespace ksearch
