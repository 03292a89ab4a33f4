#include "coordinator/engine/run_memory.h"

#include <vector>

#include "common/language.h"
#include "common/status_macros.h"
#include "coordinator/memory/measured_gain.h"
#include "coordinator/memory/priors.h"

namespace ksearch {
namespace {

// The newest gains suffice, and are read in a few milliseconds.
constexpr int kMostGains = 20000;

}  // namespace

void CompleteMemoryUse(const v1::RunConfig& request, v1::RunConfig* config) {
  v1::MemoryUse* use = config->mutable_memory();
  if (request.has_trial() && request.memory().mode() == v1::MEMORY_MODE_UNSPECIFIED) {
    use->set_mode(v1::MEMORY_MODE_OFF);
  }
  if (use->mode() == v1::MEMORY_MODE_UNSPECIFIED) use->set_mode(v1::MEMORY_MODE_READ_WRITE);
  config->clear_memory_snapshot();  // only the coordinator sets it
}

absl::Status ReadMemory(Store* store, const v1::Task& task, absl::Time now, v1::RunConfig* config) {
  if (config->memory().mode() == v1::MEMORY_MODE_OFF) return absl::OkStatus();
  GainFilter filter;
  filter.device = UsedDevice(config->language(), task.device());
  filter.language = config->language();
  filter.architecture = config->platform().architecture().substr(0, kMaxArchitecture);
  if (!config->memory().within_benchmark()) filter.not_of_benchmark = BenchmarkOf(config->task());
  filter.not_of_experiment = config->trial().experiment();
  ASSIGN_OR_RETURN(const std::vector<v1::MeasuredGain> gains, store->ReadGains(filter, kMostGains));
  const v1::MemorySnapshot snapshot =
      SnapshotOf(gains, KeptOpType(task.definition().op_type()), now);
  if (snapshot.priors_size() > 0) *config->mutable_memory_snapshot() = snapshot;
  return absl::OkStatus();
}

void RepeatMemory(const v1::MemorySnapshot& shown, v1::RunConfig* config) {
  config->clear_memory_snapshot();
  if (config->memory().mode() == v1::MEMORY_MODE_OFF) return;
  config->mutable_memory()->set_mode(v1::MEMORY_MODE_READ);
  if (shown.priors_size() > 0) *config->mutable_memory_snapshot() = shown;
}

}  // namespace ksearch
