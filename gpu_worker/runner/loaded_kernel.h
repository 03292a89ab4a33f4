#ifndef KSEARCH_GPU_WORKER_RUNNER_LOADED_KERNEL_H_
#define KSEARCH_GPU_WORKER_RUNNER_LOADED_KERNEL_H_

#include <cstdint>
#include <string>
#include <utility>

namespace ksearch {

// A candidate's shared object and its two entry points. Loading runs the candidate's constructors;
// the object is never unloaded: the process has one candidate and one life.
class LoadedKernel {
 public:
  // `parameters`: of the entry, as the reason writes them: "const KsearchArgs*".
  explicit LoadedKernel(std::string parameters) : parameters_(std::move(parameters)) {}

  // False with a reason (the loader's own words) if the object or its entry symbol cannot be had.
  bool Load(int fd, const std::string& entry_symbol, const std::string& workspace_symbol,
            std::string* error);

  bool loaded() const { return entry_ != nullptr; }
  bool has_workspace_symbol() const { return workspace_bytes_ != nullptr; }
  // `arguments` is the block that KsearchArgs describes.
  int Run(const uint64_t* arguments) const {
    return reinterpret_cast<int (*)(const void*)>(entry_)(arguments);
  }
  // The entry of a CUDA candidate; `stream` is a CUstream.
  int RunOnStream(const uint64_t* arguments, void* stream) const {
    return reinterpret_cast<int (*)(const void*, void*)>(entry_)(arguments, stream);
  }
  // 0 without a workspace symbol.
  int64_t WorkspaceBytes(const uint64_t* arguments) const {
    return workspace_bytes_ == nullptr ? 0 : workspace_bytes_(arguments);
  }

 private:
  std::string parameters_;
  void* entry_ = nullptr;
  int64_t (*workspace_bytes_)(const void*) = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_RUNNER_LOADED_KERNEL_H_
