#ifndef KSEARCH_CLI_LOCAL_MACHINE_PART_H_
#define KSEARCH_CLI_LOCAL_MACHINE_PART_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/local/machine_facts.h"
#include "proto/config.pb.h"

namespace ksearch {

// One line about this machine.
struct LocalFinding {
  bool good = false;
  std::string what;
  std::string fix;  // what to do about it; empty: nothing, or `what` says it
};

// A language and the device that its programs run on. A worker here may or may not support it.
struct MachinePart {
  v1::Language language = v1::LANGUAGE_UNSPECIFIED;
  v1::DeviceClass device = v1::DEVICE_CLASS_CPU;
  // What is missing, if a trial is pointless.
  std::string missing;
  std::string fix;
};

// Returns all parts in the order in which they are tried. `binary_folder`: the worker's.
std::vector<MachinePart> PartsOf(const MachineFacts& machine, const std::string& binary_folder);

// Returns the configuration of a worker with exactly these parts, without names, folders and
// accounts.
v1::WorkerConfig WorkerConfigFor(const std::vector<MachinePart>& parts);

// The report of `ksearch-worker --selftest --json`.
struct SelfTestReport {
  bool usable = false;
  std::vector<LocalFinding> found;    // what the worker can do: compilers, devices, sandbox
  std::vector<LocalFinding> lacking;  // what the worker cannot do, or does less well
  // A fault that is unrelated to the part tried, so that no worker can start here.
  bool machine_is_at_fault = false;
};
// INVALID_ARGUMENT if `json` is not such a report.
absl::StatusOr<SelfTestReport> ParseSelfTest(const std::string& json);

}  // namespace ksearch

#endif  // KSEARCH_CLI_LOCAL_MACHINE_PART_H_
