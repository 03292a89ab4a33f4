// A description that parses freezes into a definition and a workload of consistent sizes.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/suites/problem_description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto problem = ksearch::ParseProblemDescription(text, "fuzz.py");
  if (!problem.ok()) {
    CHECK(problem.status().message().substr(0, 7) == "fuzz.py");
    return 0;
  }
  ksearch::v1::Task task;
  ksearch::FreezeDescription(*problem, &task);
  CHECK(task.workloads_size() == 1);
  CHECK(task.workloads(0).inputs_size() == task.definition().inputs_size());
  CHECK(task.definition().outputs_size() > 0);
  return 0;
}
