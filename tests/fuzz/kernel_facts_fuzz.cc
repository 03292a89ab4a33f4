#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "gpu_worker/build/cuda/cubin_facts.h"
#include "gpu_worker/build/cuda/kernel_name.h"
#include "gpu_worker/build/cuda/nvcc_steps.h"
#include "gpu_worker/build/cuda/ptx_delays.h"
#include "gpu_worker/build/cuda/ptxas_report.h"
#include "gpu_worker/build/cuda/sass_facts.h"

// Any bytes give few kernels with short printable names and numbers that are not negative; delays
// only add to them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const ksearch::PtxasReport report = ksearch::ReadPtxasReport(text);
  if (report.kernels.size() > static_cast<size_t>(ksearch::kMaxKernels)) std::abort();
  if (report.other_lines.size() > 2 * size + 64) std::abort();
  for (const ksearch::PtxasKernel& kernel : report.kernels) {
    if (kernel.facts.name().size() > ksearch::kMaxKernelNameBytes) std::abort();
    if (kernel.facts.registers() < 0 || kernel.facts.spill_load_bytes() < 0) std::abort();
  }
  for (const ksearch::v1::KernelFacts& kernel : ksearch::ReadCubin(text)) {
    if (kernel.name().size() > ksearch::kMaxKernelNameBytes) std::abort();
    if (kernel.registers() < 0 || kernel.stack_bytes() < 0) std::abort();
  }
  for (const char c : ksearch::KernelName(text)) {
    if (c < 0x20 || c > 0x7e) std::abort();
  }
  for (const auto& [symbol, facts] : ksearch::CountSass(text)) {
    if (facts.tensor() > facts.instructions()) std::abort();
  }
  if (const auto delayed = ksearch::AddDelays(text); delayed.ok()) {
    if (delayed->text.size() < size) std::abort();
    if ((delayed->barriers + delayed->kernels == 0) != (delayed->text == text)) std::abort();
  }
  if (const auto steps = ksearch::ReadDryRun(text); steps.ok()) {
    if (steps->to_ptx.size() + steps->from_ptx.size() > 4 * size + 64) std::abort();
  }
  return 0;
}
