#include "gpu_worker/runner/shared_object_program.h"

#include <dlfcn.h>

#include "gpu_worker/runner/execution.h"

namespace ksearch {

void SharedObjectProgram::Load(const v1::LoadRequest& request, const std::vector<UniqueFd>& fds,
                               v1::RunnerReply* reply) {
  std::string error = "LOAD needs one descriptor and comes once";
  if (fds.size() != 1 || loaded() || !Open(fds[0].get(), request, &error)) {
    SetError(reply, v1::RunnerReply::RunnerError::LOAD_FAILED, 0, error);
    return;
  }
  reply->mutable_loaded()->set_has_workspace_symbol(workspace_bytes_ != nullptr);
}

bool SharedObjectProgram::Open(int fd, const v1::LoadRequest& request, std::string* error) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const char* reason = ::dlerror();
    *error = reason == nullptr ? "dlopen failed" : reason;
    return false;
  }
  entry_ = ::dlsym(object, request.entry_symbol().c_str());
  if (entry_ == nullptr) {
    *error = "no symbol '" + request.entry_symbol() + "': define extern \"C\" int " +
             request.entry_symbol() + "(" + parameters_ + ")";
    return false;
  }
  workspace_bytes_ = reinterpret_cast<int64_t (*)(const void*)>(
      ::dlsym(object, request.workspace_symbol().c_str()));
  return true;
}

int SharedObjectProgram::Call(int, uint64_t* arguments, void* stream) {
  if (stream == nullptr) return reinterpret_cast<int (*)(const void*)>(entry_)(arguments);
  return reinterpret_cast<int (*)(const void*, void*)>(entry_)(arguments, stream);
}

}  // namespace ksearch
