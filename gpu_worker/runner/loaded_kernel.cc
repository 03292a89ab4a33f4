#include "gpu_worker/runner/loaded_kernel.h"

#include <dlfcn.h>

namespace ksearch {

bool LoadedKernel::Load(int fd, const std::string& entry_symbol,
                        const std::string& workspace_symbol, std::string* error) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const char* reason = ::dlerror();
    *error = reason == nullptr ? "dlopen failed" : reason;
    return false;
  }
  entry_ = ::dlsym(object, entry_symbol.c_str());
  if (entry_ == nullptr) {
    *error = "no symbol '" + entry_symbol + "': define extern \"C\" int " + entry_symbol + "(" +
             parameters_ + ")";
    return false;
  }
  workspace_bytes_ =
      reinterpret_cast<int64_t (*)(const void*)>(::dlsym(object, workspace_symbol.c_str()));
  return true;
}

}  // namespace ksearch
