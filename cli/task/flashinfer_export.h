#ifndef KSEARCH_CLI_TASK_FLASHINFER_EXPORT_H_
#define KSEARCH_CLI_TASK_FLASHINFER_EXPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// The files that one confirmed program adds to a data set of FlashInfer-Bench.
struct FlashInferExport {
  std::string solution_path;  // relative to the data set
  std::string solution;       // JSON
  std::string traces_path;
  std::string traces;  // one line of JSON per confirmed workload of the data set
  int workloads = 0;
};

// The solution and traces of a run's best program, whose task is definition `definition` of the
// data set in `folder` (its definition and workload lines are read there). Times and errors are
// those of the confirmation against the baseline, which is upstream's reference. Programs in C++
// and CUDA get a binding (native_solution.h). INVALID_ARGUMENT: the program is of several files in
// Python, its `run` takes neither the inputs nor inputs and outputs, or it has no binding;
// NOT_FOUND: no such definition, or none of its workloads was confirmed.
absl::StatusOr<FlashInferExport> MakeFlashInferExport(const v1::BestReply& best,
                                                      const std::string& definition,
                                                      const std::string& folder, absl::Time now);

// Writes the solution, which must not exist yet (ALREADY_EXISTS), then appends the traces.
absl::Status WriteFlashInferExport(const FlashInferExport& made, const std::string& folder);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_FLASHINFER_EXPORT_H_
