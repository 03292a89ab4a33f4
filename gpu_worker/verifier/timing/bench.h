#ifndef KSEARCH_GPU_WORKER_VERIFIER_TIMING_BENCH_H_
#define KSEARCH_GPU_WORKER_VERIFIER_TIMING_BENCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/clock.h"
#include "gpu_worker/verifier/byte_lru.h"
#include "gpu_worker/verifier/dialogue/instrument_command.h"
#include "gpu_worker/verifier/dialogue/oracle.h"
#include "gpu_worker/verifier/dialogue/runner_starter.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/host_peaks.h"
#include "gpu_worker/verifier/tensors/buffer_sets.h"
#include "gpu_worker/verifier/tensors/seed_pool.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/timing/baseline_cache.h"
#include "gpu_worker/verifier/timing/device/gpu_timing.h"
#include "gpu_worker/verifier/timing/device/idle_paces.h"
#include "gpu_worker/verifier/timing/input_maker.h"
#include "gpu_worker/verifier/timing/metronome.h"
#include "gpu_worker/verifier/timing/program_judge.h"
#include "gpu_worker/verifier/warm/warm_folders.h"
#include "proto/result.pb.h"

namespace ksearch {

// What one device's verifier keeps from job to job: drawn inputs, shared buffers, oracle, baseline
// timings. Buffers are handed on from one runner to the next only after the former is dead.
// Thread-compatible.
class Bench {
 public:
  struct Options {
    int64_t last_level_cache_bytes = int64_t{32} << 20;
    int64_t max_rotation_bytes = int64_t{512} << 20;
    absl::Duration max_baseline_age = absl::Seconds(120);
    int64_t oracle_cache_bytes = kOracleCacheBytes;
    // Non-OK once the device failed: what was found since then means nothing.
    std::function<absl::Status()> device_health = [] { return absl::OkStatus(); };
    // Peaks of the processors that programs run on; absent: no call is too fast on a CPU.
    std::function<HostPeaks()> measure_host;
    // Present: programs run on a GPU.
    std::optional<GpuTiming> gpu;
    // Programs that look on while a candidate runs; non-OK: why there is none.
    absl::StatusOr<Instrument> sanitizer = absl::UnimplementedError("not on this device");
    absl::StatusOr<Instrument> profiler = absl::UnimplementedError("not on this device");
    // What programs compiled in their warm stage, borrowed; null: there is nowhere to keep it.
    WarmFolders* warm_folders = nullptr;
  };

  // `allocate` makes the memory of this class of device. When it has none left, what is kept for
  // later jobs is dropped and it is asked again.
  Bench(RunnerStarter& starter, BufferSetsFactory allocate, const Clock& clock, Options options);

  // From now on recorded inputs of cases come from these files.
  void UseBlobs(BlobPaths blobs) { blobs_ = std::move(blobs); }
  absl::StatusOr<std::shared_ptr<const WorkloadCase>> Case(const v1::Task& task,
                                                           const std::string& task_sha256,
                                                           const v1::Workload& workload,
                                                           const Seed& seed);
  // At least `sets` sets. `use` keeps buffers that are in use at one time apart.
  absl::StatusOr<std::shared_ptr<BufferSets>> Buffers(
      const std::shared_ptr<const WorkloadCase>& workload, int sets, const std::string& use);

  // How many sets to rotate if `sides` runners are timed side by side.
  int Sets(const WorkloadCase& workload, int sides) const;
  // How many sets each side of a confirmation on processors rotates.
  int HostConfirmationSets(const WorkloadCase& workload) const;
  // At most `sets`, as far as memory for rotation allows; at least one.
  int MostSets(const WorkloadCase& workload, int sides, int sets) const;

  absl::Status DeviceHealth() const { return options_.device_health(); }
  // Whether the device itself is well, tried where it is a GPU; `when` goes before what it says.
  absl::Status AskDevice(absl::string_view when) const;
  // Null: no GPU.
  const GpuTiming* gpu() const { return options_.gpu.has_value() ? &*options_.gpu : nullptr; }
  const absl::StatusOr<Instrument>& sanitizer() const { return options_.sanitizer; }
  const absl::StatusOr<Instrument>& profiler() const { return options_.profiler; }

  WarmFolders* warm_folders() const { return options_.warm_folders; }

  RunnerStarter& starter() { return starter_; }
  // Makes inputs of cases whose inputs come from a program; set to the job's by the verifier.
  InputMaker& input_maker() { return input_maker_; }
  // Judges outputs of cases whose judge is a program; likewise.
  ProgramJudge& judge() { return judge_; }
  Oracle& oracle() { return oracle_; }
  BaselineCache& baselines() { return baselines_; }
  Metronome& metronome() { return metronome_; }
  // No call of the workload can take less, in microseconds; 0: unknown.
  double Floor(const v1::Task& task, const v1::Workload& workload) const;
  // What the device does at most, as far as it was measured.
  v1::DevicePeaks Peaks() const;
  // Whether no program can be that fast. A CPU that seems to be faster than it can be is measured
  // once more: it may have been busy.
  bool IsImpossible(double call_us, double floor_us);
  // GPU: that of an idle runner, as before a batch: the verifier's context has the device.
  absl::StatusOr<Metronome::Pace> IdlePace();
  // GPU: some of them. While no candidate is there they are what the device's own ways cost.
  absl::StatusOr<IdlePaces> IdlePacesNow();
  const Clock& clock() const { return clock_; }
  // What a reference did not take although nothing in its task speaks against it (HiddenCase), so
  // that it is not tried with every confirmation.
  bool WasWrongGuess(const std::string& guess) const { return wrong_guesses_.count(guess) > 0; }
  void RememberWrongGuess(const std::string& guess);
  // The seed of one screening's inputs: fresh, or that of others before it, so that oracles serve
  // several.
  Seed DrawScreeningSeed();

 private:
  // What is kept for other workloads goes if this one is large: programs take memory of their own,
  // and nobody could give them back what lies here.
  void MakeRoomFor(const WorkloadCase& workload);
  void DropKept();
  absl::StatusOr<std::shared_ptr<BufferSets>> Allocate(
      const BufferSetsFactory& allocate, const std::shared_ptr<const WorkloadCase>& workload,
      int sets);

  RunnerStarter& starter_;
  const BufferSetsFactory allocate_;
  const Clock& clock_;
  const Options options_;
  BlobPaths blobs_;
  InputMaker input_maker_;  // cases hold on to it, and to the next
  ProgramJudge judge_;
  SeedPool screening_seeds_;
  ByteLru<const WorkloadCase> cases_;
  ByteLru<BufferSets> buffers_;
  Oracle oracle_;
  BaselineCache baselines_;
  Metronome metronome_;
  HostPeaks host_peaks_;
  std::set<std::string> wrong_guesses_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_TIMING_BENCH_H_
