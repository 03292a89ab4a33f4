#ifndef KSEARCH_COORDINATOR_TASKS_WORKLOAD_LINE_H_
#define KSEARCH_COORDINATOR_TASKS_WORKLOAD_LINE_H_

#include <string>

#include "proto/task.pb.h"

namespace ksearch {

// Writes a workload as one line of workloads.jsonl, without its newline. ParseWorkloadLine
// (workload_jsonl.h) is the inverse, except for held_out, which the format does not have.
std::string WorkloadToJsonLine(const std::string& definition_name, const v1::Workload& workload);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_TASKS_WORKLOAD_LINE_H_
