#ifndef KSEARCH_COORDINATOR_MEMORY_MEASURED_GAIN_H_
#define KSEARCH_COORDINATOR_MEMORY_MEASURED_GAIN_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/memory.pb.h"
#include "proto/result.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// One evaluated change of a program. Borrows everything.
struct EvaluatedChange {
  const v1::Task* task = nullptr;
  const v1::RunConfig* config = nullptr;  // of the run
  std::string run_id;
  std::string candidate_id;
  const v1::JobResult* result = nullptr;  // screening of the changed program
  // Screening of the program before the change, with its profile if it has one. Null if there was
  // none because the program was written from the specification.
  const v1::JobResult* parent = nullptr;
  // The model's words about the change: the title of an intent, and the idea before the program.
  absl::string_view title;
  absl::string_view idea;
};

// Returns the measured gain without recorded_at. Returns nullopt if the result says nothing about
// the change: workers were lost, the task is degenerate, the changed program did not work, or a
// time is missing.
std::optional<v1::MeasuredGain> GainOf(const EvaluatedChange& change);

// An architecture's name is truncated to this many characters, because a processor's name lists its
// features.
inline constexpr size_t kMaxArchitecture = 256;

// Returns the suite whose name the task's name begins with, or "" if there is none.
std::string BenchmarkOf(absl::string_view task_name);

// Normalizes for storage: at most 64 characters of a-z, 0-9, '_' and '-', any other becomes '_';
// "other" if nothing is left.
std::string KeptOpType(absl::string_view op_type);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_MEASURED_GAIN_H_
