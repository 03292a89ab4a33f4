#ifndef KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_PROGRAM_H_
#define KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gpu_worker/runner/program.h"
#include "gpu_worker/runner/python/python_interface.h"

namespace ksearch {

// A Python program, in a process whose own interpreter called ksearch_python_run. Its tensors are
// torch tensors over the mapped buffers, without a copy.
class PythonProgram final : public Program {
 public:
  explicit PythonProgram(const KsearchPythonCallbacks& callbacks) : callbacks_(callbacks) {}

  void Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
            v1::RunnerReply* reply) override;
  bool loaded() const override { return loaded_; }
  // Python programs allocate their own memory.
  int64_t WorkspaceBytes(const uint64_t*) override { return 0; }
  bool Setup(const ArgumentBlocks& arguments) override;
  bool LoadsInFirstCall() const override { return true; }
  int Call(int set, uint64_t* arguments, void* stream) override;
  int TimedCall(int set, uint64_t* arguments, void* stream, bool repeated,
                const Mark& mark) override;
  // The behavior of ksearch_python_mark.
  static void TakeMark(bool end);
  bool ReturnsOutputs() const override { return callbacks_.returns() != 0; }
  int CopyResults(int set, void* stream) override { return Take(callbacks_.copy(set, stream)); }
  std::string Raised() const override { return raised_; }

 private:
  // Keeps the message of a callback that did not return 0. Returns `answer`.
  int Take(int answer);

  const KsearchPythonCallbacks callbacks_;
  bool loaded_ = false;
  std::string raised_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_PROGRAM_H_
