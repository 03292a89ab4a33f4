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

// One evaluated change of a program. Borrows.
struct EvaluatedChange {
  const v1::Task* task = nullptr;
  const v1::RunConfig* config = nullptr;  // the run's
  std::string run_id;
  std::string candidate_id;
  const v1::JobResult* result = nullptr;  // screening of the changed program
  // Screening of the program that was changed, with its profile if it has one. Null: there was
  // none, the program is from the specification.
  const v1::JobResult* parent = nullptr;
  // What models said of the change: the title of an intent, and the idea before the program.
  absl::string_view title;
  absl::string_view idea;
};

// What was measured, without recorded_at. nullopt: it says nothing of changes, because workers were
// lost, the task is degenerate, the changed program did not work, or a time is missing.
std::optional<v1::MeasuredGain> GainOf(const EvaluatedChange& change);

// This many characters of an architecture's name are kept: a processor's name lists its features.
inline constexpr size_t kMaxArchitecture = 256;

// The suite whose name begins the task's; empty: none does.
std::string BenchmarkOf(absl::string_view task_name);

// As it is kept: at most 64 of a-z, 0-9, '_' and '-', anything else '_'; "other" if nothing is
// left.
std::string KeptOpType(absl::string_view op_type);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_MEMORY_MEASURED_GAIN_H_
