#include "gpu_worker/verifier/timing/bench.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/rng.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/timing/sampler.h"

namespace ksearch {
namespace {

// Beyond this number they are forgotten and tried again.
constexpr size_t kMostWrongGuesses = 1000;

// A workload is large if one set of its tensors takes more than one of so many parts of the memory
// for rotated sets.
constexpr int64_t kLargeShare = 4;

std::string SeedText(const Seed& seed) { return absl::StrCat("/", seed.high, ".", seed.low); }

}  // namespace

Bench::Bench(RunnerStarter& starter, BufferSetsFactory allocate, const Clock& clock,
             Options options)
    : starter_(starter),
      allocate_([this, allocate = std::move(allocate)](
                    const std::shared_ptr<const WorkloadCase>& workload, int sets) {
        return Allocate(allocate, workload, sets);
      }),
      clock_(clock),
      options_(std::move(options)),
      input_maker_(starter, clock, options_.gpu.has_value() ? allocate_ : BufferSetsFactory()),
      judge_(starter, clock, options_.gpu.has_value() ? allocate_ : BufferSetsFactory()),
      screening_seeds_(kScreeningSeeds, kJobsPerScreeningSeed, Rng(RandomUint64())),
      cases_(kCaseCacheBytes),
      buffers_(options_.max_rotation_bytes),
      oracle_(starter, allocate_, clock, options_.oracle_cache_bytes),
      baselines_(options_.max_baseline_age),
      metronome_(starter, clock) {
  if (!options_.measure_host) return;
  host_peaks_ = options_.measure_host();
  LOG(INFO) << "msg=\"processors measured\" cache_bytes_per_second="
            << host_peaks_.cache_bytes_per_second
            << " memory_bytes_per_second=" << host_peaks_.memory_bytes_per_second
            << " single_flops_per_second=" << host_peaks_.single_flops_per_second
            << " has_tiles=" << host_peaks_.has_tiles;
}

absl::StatusOr<std::shared_ptr<const WorkloadCase>> Bench::Case(const v1::Task& task,
                                                                const std::string& task_sha256,
                                                                const v1::Workload& workload,
                                                                const Seed& seed) {
  const std::string key = absl::StrCat(task_sha256, "/", workload.uuid(), SeedText(seed));
  if (auto found = cases_.Find(key)) return found;
  const auto create = [&] {
    return WorkloadCase::Create(task, workload, task_sha256, seed, &input_maker_, &judge_, blobs_);
  };
  absl::StatusOr<std::shared_ptr<const WorkloadCase>> created = create();
  if (absl::IsResourceExhausted(created.status())) {
    DropKept();
    created = create();
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const WorkloadCase> made, std::move(created));
  if (screening_seeds_.Contains(seed)) cases_.Insert(key, made, made->pool_bytes());
  MakeRoomFor(*made);
  return made;
}

void Bench::MakeRoomFor(const WorkloadCase& workload) {
  if (workload.footprint_bytes() <= options_.max_rotation_bytes / kLargeShare) return;
  const std::string own = absl::StrCat(workload.key(), "/");
  buffers_.EraseIf([&own](const std::string& key) { return !absl::StartsWith(key, own); });
  oracle_.DropCache();
}

void Bench::RememberWrongGuess(const std::string& guess) {
  if (wrong_guesses_.size() >= kMostWrongGuesses) wrong_guesses_.clear();
  wrong_guesses_.insert(guess);
}

Seed Bench::DrawScreeningSeed() {
  std::optional<Seed> retired;
  const Seed seed = screening_seeds_.Draw(&retired);
  if (retired.has_value()) {
    oracle_.Forget(*retired);
    cases_.EraseIf(
        [text = SeedText(*retired)](const std::string& key) { return absl::EndsWith(key, text); });
  }
  return seed;
}

absl::StatusOr<std::shared_ptr<BufferSets>> Bench::Buffers(
    const std::shared_ptr<const WorkloadCase>& workload, int sets, const std::string& use) {
  const std::string key = absl::StrCat(workload->key(), "/", use);
  auto found = buffers_.Find(key);
  if (found != nullptr && found->sets() >= sets) {
    found->SetCase(workload);
    return found;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> made, allocate_(workload, sets));
  // A file counts as its share of the memory.
  const int64_t share =
      (options_.max_rotation_bytes + options_.max_kept_files - 1) / options_.max_kept_files;
  buffers_.Insert(key, made, std::max(made->bytes(), made->files() * share));
  return made;
}

double Bench::Floor(const v1::Task& task, const v1::Workload& workload) const {
  return FloorMicros(task, workload, gpu() != nullptr ? gpu()->peaks : PeaksOf(host_peaks_));
}

v1::DevicePeaks Bench::Peaks() const {
  v1::DevicePeaks peaks;
  if (gpu() != nullptr) {
    peaks.set_memory_bytes_per_second(gpu()->peaks.bytes_per_second);
    peaks.set_half_flops_per_second(gpu()->peaks.half_flops_per_second);
    peaks.set_byte_flops_per_second(gpu()->peaks.byte_flops_per_second);
    peaks.set_empty_call_us(gpu()->peaks.least_call_us);
    return peaks;
  }
  peaks.set_memory_bytes_per_second(host_peaks_.memory_bytes_per_second);
  peaks.set_cache_bytes_per_second(host_peaks_.cache_bytes_per_second);
  peaks.set_single_flops_per_second(host_peaks_.single_flops_per_second);
  peaks.set_last_level_cache_bytes(host_peaks_.last_level_cache_bytes);
  return peaks;
}

bool Bench::IsImpossible(double call_us, double floor_us) {
  if (gpu() != nullptr) return call_us < kImpossible * floor_us;
  if (call_us >= kImpossibleOnHost * floor_us || !options_.measure_host) return false;
  const double rise = Raise(options_.measure_host(), &host_peaks_);
  LOG(WARNING) << "msg=\"a program is faster than the floor\" call_us=" << call_us
               << " floor_us=" << floor_us << " measured_again=" << rise;
  return call_us < kImpossibleOnHost * floor_us / rise;
}

absl::Status Bench::AskDevice(absl::string_view when) const {
  RETURN_IF_ERROR(Annotate(DeviceHealth(), when));
  return gpu() == nullptr ? absl::OkStatus() : Annotate(gpu()->probe(), when);
}

absl::StatusOr<Metronome::Pace> Bench::IdlePace() {
  RETURN_IF_ERROR(gpu()->probe());
  return metronome_.TickAfterLeadIn();
}

absl::StatusOr<IdlePaces> Bench::IdlePacesNow() {
  IdlePaces paces;
  while (paces.count() < kFirstLeadIns) {
    ASSIGN_OR_RETURN(const Metronome::Pace pace, IdlePace());
    paces.Add(pace);
    ASSIGN_OR_RETURN(const absl::Duration copy, gpu()->copy());
    paces.AddCopy(copy);
  }
  return paces;
}

absl::StatusOr<std::shared_ptr<BufferSets>> Bench::Allocate(
    const BufferSetsFactory& allocate, const std::shared_ptr<const WorkloadCase>& workload,
    int sets) {
  absl::StatusOr<std::shared_ptr<BufferSets>> made = allocate(workload, sets);
  if (made.ok() || !absl::IsResourceExhausted(made.status())) return made;
  DropKept();
  return allocate(workload, sets);
}

void Bench::DropKept() {
  buffers_.Clear();
  oracle_.DropCache();
}

int Bench::Sets(const WorkloadCase& workload, int sides) const {
  return RotationSets(workload.footprint_bytes(), options_.last_level_cache_bytes,
                      options_.max_rotation_bytes / sides);
}

int Bench::HostConfirmationSets(const WorkloadCase& workload) const {
  constexpr int kSides = 2;
  const int64_t cheap = kCheapConfirmBytes / std::max<int64_t>(1, workload.footprint_bytes());
  return static_cast<int>(
      std::min<int64_t>(Sets(workload, kSides), std::max<int64_t>(kMaxConfirmSets, cheap)));
}

int Bench::MostSets(const WorkloadCase& workload, int sides, int sets) const {
  const int64_t room = options_.max_rotation_bytes / sides;
  return static_cast<int>(std::clamp<int64_t>(
      room / std::max<int64_t>(1, workload.footprint_bytes()), 1, std::max(1, sets)));
}

}  // namespace ksearch
