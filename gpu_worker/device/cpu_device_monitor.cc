#include "gpu_worker/device/cpu_device_monitor.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/device/cpu_architecture.h"

namespace ksearch {
namespace {

// With less memory a job could fail through no fault of its own.
constexpr int64_t kLeastAvailableBytes = int64_t{256} << 20;

// "MemTotal:  123 kB" -> bytes.
std::optional<int64_t> MeminfoBytes(const std::string& root, absl::string_view name) {
  const std::string text = ReadFile(root + "/proc/meminfo", 1 << 20).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, name)) continue;
    int64_t kib = 0;
    absl::ConsumeSuffix(&line, "kB");
    if (absl::SimpleAtoi(absl::StripAsciiWhitespace(line), &kib)) return kib * 1024;
  }
  return std::nullopt;
}

// The largest cache of the highest level that the first processor has.
int64_t LastLevelCacheBytes(const std::string& root) {
  int64_t best_level = 0, best_bytes = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        absl::StrCat(root, "/sys/devices/system/cpu/cpu0/cache/index", index);
    const std::string level_text = ReadFile(folder + "/level", 64).value_or("");
    const std::string size_text = ReadFile(folder + "/size", 64).value_or("");
    absl::string_view size = absl::StripAsciiWhitespace(size_text);
    int64_t level = 0, number = 0;
    int64_t unit = 1;
    if (absl::ConsumeSuffix(&size, "K")) unit = 1024;
    if (absl::ConsumeSuffix(&size, "M")) unit = 1 << 20;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(level_text), &level) ||
        !absl::SimpleAtoi(size, &number)) {
      continue;
    }
    if (level > best_level || (level == best_level && number * unit > best_bytes)) {
      best_level = level;
      best_bytes = number * unit;
    }
  }
  return best_bytes;
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuDeviceMonitor>> CpuDeviceMonitor::Create(
    const std::string& root) {
  struct utsname system = {};
  ::uname(&system);
  ASSIGN_OR_RETURN(const std::string cpuinfo, ReadFile(root + "/proc/cpuinfo", 16 << 20));
  const CpuModel model = ParseCpuInfo(cpuinfo, system.machine);
  // Containers may lack a machine id; then the host name is used.
  std::string machine_id = ReadFile(root + "/etc/machine-id", 4096).value_or("");
  if (absl::StripAsciiWhitespace(machine_id).empty()) machine_id = system.nodename;

  v1::DeviceFingerprint fingerprint;
  fingerprint.set_device_id(absl::StrCat(
      "cpu:", CanonicalBytes().Add(machine_id).Add(model.name).Sha256().substr(0, 16)));
  fingerprint.set_name(model.name.empty() ? system.machine : model.name);
  fingerprint.set_architecture(model.architecture);
  fingerprint.set_cores(UsableCores());
  fingerprint.set_last_level_cache_bytes(LastLevelCacheBytes(root));
  fingerprint.set_memory_bytes(MeminfoBytes(root, "MemTotal:").value_or(0));
  fingerprint.set_harness_version(kHarnessVersion);
  fingerprint.set_kernel(system.release);
  return std::unique_ptr<CpuDeviceMonitor>(new CpuDeviceMonitor(root, std::move(fingerprint)));
}

v1::DeviceHealth CpuDeviceMonitor::Sample() {
  v1::DeviceHealth health;
  const std::optional<int64_t> available = MeminfoBytes(root_, "MemAvailable:");
  health.set_healthy(!available.has_value() || *available >= kLeastAvailableBytes);
  if (!health.healthy()) {
    health.set_reason(absl::StrCat("only ", *available >> 20, " MiB of memory available"));
  }
  return health;
}

}  // namespace ksearch
