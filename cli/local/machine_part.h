#ifndef KSEARCH_CLI_LOCAL_MACHINE_PART_H_
#define KSEARCH_CLI_LOCAL_MACHINE_PART_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/local/machine_facts.h"
#include "proto/config.pb.h"

namespace ksearch {

// One line of what was found on this machine.
struct LocalFinding {
  bool good = false;
  std::string what;
  std::string fix;  // what to do about it; empty: nothing, or `what` says it
};

// A language and the device that its programs run on: what a worker may or may not be able to do
// here.
struct MachinePart {
  v1::Language language = v1::LANGUAGE_UNSPECIFIED;
  v1::DeviceClass device = v1::DEVICE_CLASS_CPU;
  // Set if it is not worth a trial.
  std::string missing;
  std::string fix;
};

// All of them, in the order in which they are tried. `binary_folder`: of the worker.
std::vector<MachinePart> PartsOf(const MachineFacts& machine, const std::string& binary_folder);

// A worker that does these parts and no others; without names, places and accounts.
v1::WorkerConfig WorkerConfigFor(const std::vector<MachinePart>& parts);

// What `ksearch-worker --selftest --json` says of a worker.
struct SelfTestReport {
  bool usable = false;
  std::vector<LocalFinding> found;    // what it can do: compilers, devices, sandbox
  std::vector<LocalFinding> lacking;  // what it cannot do, or less well
  // A fault that has nothing to do with the part tried, so that no worker starts here.
  bool machine_is_at_fault = false;
};
// INVALID_ARGUMENT if `json` is not such a report.
absl::StatusOr<SelfTestReport> ParseSelfTest(const std::string& json);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_MACHINE_PART_H_
