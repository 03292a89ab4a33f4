#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/utf8.h"
#include "gpu_worker/build/cuda/kernel_name.h"
#include "gpu_worker/profile/ncu_csv.h"

// Any bytes give few kernels with short printable names and numbers that are finite and not
// negative.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto profile =
      ksearch::ParseNcuCsv(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!profile.ok()) return 0;
  if (profile->kernels_size() > ksearch::kMaxProfiledKernels) std::abort();
  if (profile->note().size() > ksearch::kMaxProfileNoteBytes) std::abort();
  if (ksearch::ValidUtf8Bytes(profile->note()) != profile->note().size()) std::abort();
  if ((profile->kernels_size() == 0) != (profile->absence() != 0)) std::abort();
  for (const ksearch::v1::KernelProfile& kernel : profile->kernels()) {
    if (kernel.name().empty() || kernel.name().size() > ksearch::kMaxKernelNameBytes) std::abort();
    for (const char c : kernel.name()) {
      if (c < 0x20 || c > 0x7e) std::abort();
    }
    for (const double number : {kernel.share(), kernel.duration_us(), kernel.sm_percent(),
                                kernel.dram_read_bytes(), kernel.dram_bytes_per_second()}) {
      if (!std::isfinite(number) || number < 0) std::abort();
    }
    for (const auto& stall : kernel.stalls()) {
      if (!(stall.share() > 0) || stall.share() > 1.000001) std::abort();
    }
  }
  return 0;
}
