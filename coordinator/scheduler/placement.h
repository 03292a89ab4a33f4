#ifndef KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_
#define KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_

#include <compare>
#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/worker_service.pb.h"

namespace ksearch {

// What a worker must have to run a job. Jobs with equal requirements share a queue.
struct Requirement {
  v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED;  // unspecified: any
  std::string architecture;    // empty: any; if build_only, the architecture to build for
  std::vector<int> languages;  // v1::Language values, sorted and unique
  // No device is needed: a worker that only builds is enough, on any device, if its compiler can
  // target `architecture`.
  bool build_only = false;
  // JobSpec.platform; an empty field accepts any value. `toolkit` is for `toolkit_language`.
  std::string device_model;
  std::string device_architecture;
  std::string harness_version;
  std::string toolkit;
  int toolkit_language = 0;

  auto operator<=>(const Requirement&) const = default;
};

// Languages that the job needs: those of the candidate, of the task's programs that the job names,
// and of every rival that brings sources.
Requirement RequirementOf(const v1::JobSpec& spec);

// Returns true if one device of the worker meets the whole requirement.
bool CanRun(const v1::WorkerHello& hello, const Requirement& requirement);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SCHEDULER_PLACEMENT_H_
