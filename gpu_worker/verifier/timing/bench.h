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

// Everything that one device's verifier keeps between jobs: drawn inputs, shared buffers, the
// oracle, baseline timings. Buffers are passed from one runner to the next only after the former
// has ended. Thread-compatible.
class Bench {
 public:
  struct Options {
    int64_t last_level_cache_bytes = int64_t{32} << 20;
    int64_t max_rotation_bytes = int64_t{512} << 20;
    // Open files of buffers that are kept: those of small tensors are many.
    int64_t max_kept_files = 8192;
    absl::Duration max_baseline_age = absl::Seconds(120);
    int64_t oracle_cache_bytes = kOracleCacheBytes;
    // Non-OK once the device has failed: results obtained since then are meaningless.
    std::function<absl::Status()> device_health = [] { return absl::OkStatus(); };
    // Measures the peak rates of the processors that programs run on; if absent, no call on a CPU
    // counts as too fast.
    std::function<HostPeaks()> measure_host;
    // Present if programs run on a GPU.
    std::optional<GpuTiming> gpu;
    // The instruments that observe a running candidate; non-OK says why there is none.
    absl::StatusOr<Instrument> sanitizer = absl::UnimplementedError("not on this device");
    absl::StatusOr<Instrument> profiler = absl::UnimplementedError("not on this device");
    // Keeps what programs compiled in their warm stage. Borrowed; null: there is nowhere to keep
    // it.
    WarmFolders* warm_folders = nullptr;
  };

  // `allocate` allocates memory of this class of device. If it runs out, everything kept for later
  // jobs is dropped and it is called again.
  Bench(RunnerStarter& starter, BufferSetsFactory allocate, const Clock& clock, Options options);

  // From now on, recorded inputs of cases come from these files.
  void UseBlobs(BlobPaths blobs) { blobs_ = std::move(blobs); }
  absl::StatusOr<std::shared_ptr<const WorkloadCase>> Case(const v1::Task& task,
                                                           const std::string& task_sha256,
                                                           const v1::Workload& workload,
                                                           const Seed& seed);
  // Buffers with at least `sets` sets. Different values of `use` give different buffers, for those
  // in use at the same time.
  absl::StatusOr<std::shared_ptr<BufferSets>> Buffers(
      const std::shared_ptr<const WorkloadCase>& workload, int sets, const std::string& use);

  // Frees the memory and the files that are kept for later jobs, such as after a lack of them.
  void DropKept();

  // How many sets to rotate if `sides` runners are timed side by side.
  int Sets(const WorkloadCase& workload, int sides) const;
  // How many sets each side of a confirmation on processors rotates.
  int HostConfirmationSets(const WorkloadCase& workload) const;
  // `sets`, or fewer if the memory for rotation does not allow that many; at least one.
  int MostSets(const WorkloadCase& workload, int sides, int sets) const;

  absl::Status DeviceHealth() const { return options_.device_health(); }
  // Checks the device itself, by a test if it is a GPU. `when` precedes the error message.
  absl::Status AskDevice(absl::string_view when) const;
  // Null: no GPU.
  const GpuTiming* gpu() const { return options_.gpu.has_value() ? &*options_.gpu : nullptr; }
  const absl::StatusOr<Instrument>& sanitizer() const { return options_.sanitizer; }
  const absl::StatusOr<Instrument>& profiler() const { return options_.profiler; }

  WarmFolders* warm_folders() const { return options_.warm_folders; }

  RunnerStarter& starter() { return starter_; }
  // Makes the inputs of cases whose inputs come from a program. The verifier sets the job's
  // program.
  InputMaker& input_maker() { return input_maker_; }
  // Judges the outputs of cases whose judge is a program, likewise.
  ProgramJudge& judge() { return judge_; }
  Oracle& oracle() { return oracle_; }
  BaselineCache& baselines() { return baselines_; }
  Metronome& metronome() { return metronome_; }
  // The floor: no call of the workload can be faster, in microseconds; 0: unknown.
  double Floor(const v1::Task& task, const v1::Workload& workload) const;
  // The device's peak rates, as far as they were measured.
  v1::DevicePeaks Peaks() const;
  // Returns true if no program can be that fast. If a call seems impossible on a CPU, the CPU's
  // peaks are measured once more, since it may have been busy the first time.
  bool IsImpossible(double call_us, double floor_us);
  // GPU: the pace of an idle runner as before a batch, when the verifier's context has the device.
  absl::StatusOr<Metronome::Pace> IdlePace();
  // GPU: several of them, and of copies. While no candidate is loaded, they show the device's own
  // overhead.
  absl::StatusOr<IdlePaces> IdlePacesNow();
  const Clock& clock() const { return clock_; }
  // Remembers guessed hidden cases that the reference could not handle (HiddenCase), so that they
  // are not tried in every confirmation.
  bool WasWrongGuess(const std::string& guess) const { return wrong_guesses_.count(guess) > 0; }
  void RememberWrongGuess(const std::string& guess);
  // The seed for a screening's inputs: fresh, or shared with earlier screenings, so that one oracle
  // serves several.
  Seed DrawScreeningSeed();

 private:
  // Drops what is kept for other workloads if this one is large: programs allocate memory of their
  // own, and memory held here would be missing.
  void MakeRoomFor(const WorkloadCase& workload);
  absl::StatusOr<std::shared_ptr<BufferSets>> Allocate(
      const BufferSetsFactory& allocate, const std::shared_ptr<const WorkloadCase>& workload,
      int sets);

  RunnerStarter& starter_;
  const BufferSetsFactory allocate_;
  const Clock& clock_;
  const Options options_;
  BlobPaths blobs_;
  InputMaker input_maker_;  // cases keep a reference to it and to judge_
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
