#ifndef KSEARCH_TESTS_TASKS_CPU_PROGRAM_H_
#define KSEARCH_TESTS_TASKS_CPU_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "proto/task.pb.h"

namespace ksearch {

// A CUDA program of a task, built for the CPU with the headers of cuda_on_cpu and loaded.
class CpuProgram {
 public:
  // `sources` has one file. INVALID_ARGUMENT with the compiler's words if it cannot be built.
  static absl::StatusOr<std::unique_ptr<CpuProgram>> Build(const v1::Definition& definition,
                                                           const v1::Sources& sources);
  ~CpuProgram();
  CpuProgram(const CpuProgram&) = delete;
  CpuProgram& operator=(const CpuProgram&) = delete;

  // Arguments are the slots of KsearchArgs. 0 where the program asks for no workspace.
  int64_t WorkspaceBytes(const uint64_t* arguments) const;
  int Run(const uint64_t* arguments) const;

 private:
  CpuProgram() = default;
  std::string folder_;
  void* library_ = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_TASKS_CPU_PROGRAM_H_
