#include "gpu_worker/verifier/cuda/device_timing.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/device/nvml/nvml_gpu.h"
#include "gpu_worker/verifier/cuda/call_floor.h"
#include "gpu_worker/verifier/cuda/host_copies.h"
#include "gpu_worker/verifier/cuda/peak/measured_peak.h"

namespace ksearch {
namespace {

constexpr absl::Duration kBandwidthTime = absl::Milliseconds(150);
// Dense bf16 operations per multiprocessor and clock, from NVIDIA's data sheets: H100 989 TFLOP/s
// with 132 at 1.83 GHz; B200 2.25 PFLOP/s with 148 at 1.85 GHz. 8-bit types do twice as many. Other
// architectures are only measured; from 10.0 on mma.sync may not be the fastest, so they have no
// floor.
constexpr double kHopperFlopsPerClock = 4096;
constexpr double kBlackwellFlopsPerClock = 8192;

class NvmlClockReader final : public ClockReader {
 public:
  explicit NvmlClockReader(NvmlGpu gpu) : gpu_(std::move(gpu)) {}
  absl::StatusOr<ClockReading> Read() override {
    ASSIGN_OR_RETURN(const DeviceClocks clocks, gpu_.Clocks());
    return ClockReading{static_cast<double>(clocks.sm_mhz), clocks.throttle_reason_bits};
  }

 private:
  const NvmlGpu gpu_;
};

absl::StatusOr<NvmlGpu> FindNvmlGpu(const VerifierDevice& device) {
  ASSIGN_OR_RETURN(std::shared_ptr<const NvmlApi> api, NvmlApi::Load());
  return NvmlGpu::Find(std::move(api), device.device().uuid());
}

double KnownPerClock(const std::string& architecture) {
  if (architecture == "sm_90") return kHopperFlopsPerClock;
  if (architecture == "sm_100" || architecture == "sm_103") return kBlackwellFlopsPerClock;
  return 0;
}

// These architectures have nothing faster than mma.sync.
bool MeasuringIsEnough(const std::string& architecture) {
  return architecture == "sm_120" || architecture == "sm_121";
}

}  // namespace

absl::StatusOr<GpuTiming> MakeGpuTiming(std::shared_ptr<VerifierDevice> device) {
  GpuTiming timing;
  ASSIGN_OR_RETURN(timing.peaks.least_call_us, MeasureLeastCallMicros(device->device()));
  // Repeats, because an idle device needs some time to raise its clocks.
  const absl::Time end = Clock::Real().SteadyNow() + kBandwidthTime;
  do {
    ASSIGN_OR_RETURN(const double bytes_per_second, device->MeasureCopyBandwidth());
    timing.peaks.bytes_per_second = std::max(timing.peaks.bytes_per_second, bytes_per_second);
  } while (Clock::Real().SteadyNow() < end);
  ASSIGN_OR_RETURN(const MeasuredPeak measured, MeasurePeak(device.get()));
  // Measures again, because clocks rise with load and fall with heat.
  ASSIGN_OR_RETURN(const double least_call_us, MeasureLeastCallMicros(device->device()));
  timing.peaks.least_call_us = std::min(timing.peaks.least_call_us, least_call_us);
  absl::StatusOr<NvmlGpu> gpu = FindNvmlGpu(*device);
  if (gpu.ok()) {
    const std::string architecture = device->device().architecture();
    const double known = KnownPerClock(architecture);
    const absl::StatusOr<int> mhz = gpu->MaxSmMhz();
    if (mhz.ok() && (known > 0 || MeasuringIsEnough(architecture))) {
      const double clocks = device->device().multiprocessors() * *mhz * 1e6;
      timing.peaks.half_flops_per_second =
          PeakPerClock(measured.halves.operations_per_clock, known) * clocks;
      timing.peaks.byte_flops_per_second =
          PeakPerClock(measured.bytes.operations_per_clock, 2 * known) * clocks;
    }
    timing.clocks = std::make_shared<NvmlClockReader>(*std::move(gpu));
  } else {
    LOG(WARNING) << "msg=\"clocks are not watched while timing\" error=\"" << gpu.status().message()
                 << "\"";
  }
  timing.probe = [device]() -> absl::Status {
    device->ClearCache();
    device->Synchronize();
    return device->health();
  };
  ASSIGN_OR_RETURN(HostCopies made, HostCopies::Create(device->shared_device()));
  timing.copy = [device, copies = std::make_shared<const HostCopies>(std::move(made))] {
    return copies->Time(Clock::Real());
  };
  LOG(INFO) << "msg=\"device measured\" bytes_per_second=" << timing.peaks.bytes_per_second
            << " least_call_us=" << timing.peaks.least_call_us
            << " half_flops_per_second=" << timing.peaks.half_flops_per_second
            << " byte_flops_per_second=" << timing.peaks.byte_flops_per_second
            << " measured_halves_per_clock=" << measured.halves.operations_per_clock
            << " measured_bytes_per_clock=" << measured.bytes.operations_per_clock
            << " measured_halves_per_second=" << measured.halves.operations_per_second
            << " measured_bytes_per_second=" << measured.bytes.operations_per_second;
  return timing;
}

}  // namespace ksearch
