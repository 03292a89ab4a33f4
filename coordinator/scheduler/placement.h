#ifndef KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_
#define KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_

#include <compare>
#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// What a worker must have to run a job. Jobs of equal requirements queue together.
struct Requirement {
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;  // unspecified = any
  std::string architecture;    // empty = any; of build_only: to build for
  std::vector<int> languages;  // v1::Language, sorted, no repetition
  // No device is taken: one that only builds will do, whatever it is, if its compiler can.
  bool build_only = false;
  // JobSpec.platform; an empty field is met by anything. `toolkit` builds `toolkit_language`.
  std::string device_model;
  std::string device_architecture;
  std::string harness_version;
  std::string toolkit;
  int toolkit_language = 0;

  auto operator<=>(const Requirement&) const = default;
};

// Languages: of the candidate, of the task's programs that the job names, and of every rival that
// brings sources.
Requirement RequirementOf(const v1::JobSpec& spec);

// Whether one device of the worker meets all of it.
bool CanRun(const v1::WorkerHello& hello, const Requirement& requirement);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_
