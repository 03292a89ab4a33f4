#include "cli/gpu_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/text.h"

namespace ksearch {
namespace {

// From NVIDIA's NVML API reference, nvmlClocksEventReasons.
constexpr std::pair<uint64_t, const char*> kReasons[] = {
    {0x4, "power cap"},          {0x20, "heat"},        {0x40, "heat (hardware)"},
    {0x8, "hardware slow-down"}, {0x80, "power brake"},
};

std::string Number(int64_t value, const char* unit) {
  return value == 0 ? "-" : absl::StrCat(value, " ", unit);
}

std::string PowerText(const v1::DeviceReading& reading) {
  const int watts = (reading.power_milliwatts() + 500) / 1000;
  const int limit = (reading.power_limit_milliwatts() + 500) / 1000;
  if (watts == 0 || limit == 0) return Number(watts, "W");
  return absl::StrCat(watts, " of ", limit, " W");
}

std::string NameOf(const v1::WorkerStatus& worker, const std::string& device_id) {
  for (const v1::DeviceCapability& device : worker.hello().devices()) {
    if (device.fingerprint().device_id() == device_id) return device.fingerprint().name();
  }
  return "-";
}

}  // namespace

std::string ThrottleText(uint64_t reasons) {
  std::vector<std::string> words;
  for (const auto& [bit, word] : kReasons) {
    if ((reasons & bit) != 0) words.emplace_back(word);
  }
  return absl::StrJoin(words, ", ");
}

std::string GpusText(const google::protobuf::RepeatedPtrField<v1::WorkerStatus>& workers) {
  std::vector<std::vector<std::string>> rows = {{"worker", "GPU", "device", "SM clock",
                                                 "memory clock", "temperature", "power",
                                                 "throttled by"}};
  for (const v1::WorkerStatus& worker : workers) {
    if (!worker.connected()) continue;
    for (const v1::DeviceReading& reading : worker.report().health().readings()) {
      const std::string throttled = ThrottleText(reading.throttle_reasons());
      rows.push_back({worker.name(), reading.device_id(), NameOf(worker, reading.device_id()),
                      Number(reading.sm_clock_mhz(), "MHz"),
                      Number(reading.memory_clock_mhz(), "MHz"),
                      Number(reading.temperature_celsius(), "C"), PowerText(reading),
                      throttled.empty() ? "-" : throttled});
    }
  }
  if (rows.size() == 1) return "no connected worker reports the clocks of a GPU\n";
  return Table(rows);
}

}  // namespace ksearch
