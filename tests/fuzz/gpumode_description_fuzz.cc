// A description that parses freezes into a definition and workloads of consistent sizes.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/suites/gpumode/gpumode_description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<ksearch::GpuModeCase> cases(2);
  for (ksearch::GpuModeCase& each : cases) {
    each.uuid = each.benchmark ? "benchmark0" : "test0";
    each.arguments = ksearch::LocatedJson::Object();
    each.arguments.Set("size", ksearch::LocatedJson::Integer(4));
  }
  cases[1].benchmark = true;
  const auto described = ksearch::ParseGpuModeDescription(text, "fuzz", cases.size());
  if (!described.ok()) {
    CHECK(described.status().message().substr(0, 4) == "fuzz");
    return 0;
  }
  ksearch::v1::Task task;
  ksearch::FreezeGpuMode(*described, cases, &task);
  CHECK(task.workloads_size() == 2);
  for (const ksearch::v1::Workload& workload : task.workloads()) {
    CHECK(workload.inputs_size() == task.definition().inputs_size());
  }
  CHECK(task.definition().outputs_size() > 0);
  return 0;
}
