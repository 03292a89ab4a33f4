#ifndef KSEARCH_GPU_WORKER_RUNNER_SHARED_OBJECT_PROGRAM_H_
#define KSEARCH_GPU_WORKER_RUNNER_SHARED_OBJECT_PROGRAM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gpu_worker/runner/program.h"

namespace ksearch {

// A shared object and its two entry points: programs in C++ and CUDA.
class SharedObjectProgram final : public Program {
 public:
  // `parameters` of the entry, as the reason for a failed Load shows them: "const KsearchArgs*".
  explicit SharedObjectProgram(std::string parameters) : parameters_(std::move(parameters)) {}

  void Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
            v1::RunnerReply* reply) override;
  bool loaded() const override { return entry_ != nullptr; }
  // 0 if there is no workspace symbol.
  int64_t WorkspaceBytes(const uint64_t* arguments) override {
    return workspace_bytes_ == nullptr ? 0 : workspace_bytes_(arguments);
  }
  bool Setup(const ArgumentBlocks&) override { return true; }
  bool LoadsInFirstCall() const override { return false; }
  int Call(int set, uint64_t* arguments, void* stream) override;
  std::string Raised() const override { return ""; }

 private:
  // Returns false with a reason (the loader's message) if the object or its entry symbol fails to
  // load.
  bool Open(int fd, const v1::LoadRequest& request, std::string* error);

  const std::string parameters_;
  void* entry_ = nullptr;
  int64_t (*workspace_bytes_)(const void*) = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_SHARED_OBJECT_PROGRAM_H_
