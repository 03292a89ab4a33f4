#include "gpu_worker/cuda/driver_api.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gpu_worker/cuda/cuda_error.h"
#include "gpu_worker/cuda/sealed_table.h"

namespace ksearch {
namespace {

std::string LoaderError() {
  const char* error = ::dlerror();
  return error == nullptr ? "unknown error" : error;
}

template <typename Function>
bool Resolve(void* library, const char* symbol, Function* function) {
  void* const address = ::dlsym(library, symbol);
  *function = reinterpret_cast<Function>(address);
  return address != nullptr;
}

std::string Version(int version) { return absl::StrCat(version / 1000, ".", version % 1000 / 10); }

}  // namespace

// An indirection, so that the header's macros are applied to the names before #.
#define KSEARCH_CUDA_TEXT_OF(name) #name
#define KSEARCH_CUDA_RESOLVE(name)                                \
  if (!Resolve(library, KSEARCH_CUDA_TEXT_OF(name), &api.name)) { \
    if (missing.empty()) missing = KSEARCH_CUDA_TEXT_OF(name);    \
  }

absl::StatusOr<std::shared_ptr<const DriverApi>> DriverApi::Load(absl::string_view library_name) {
  void* const library = ::dlopen(std::string(library_name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("no CUDA driver: ", LoaderError(),
                                            "; install the NVIDIA driver, or in a container give "
                                            "it the driver's libraries"));
  }
  DriverApi api;
  std::string missing;
  KSEARCH_CUDA_DRIVER_FUNCTIONS(KSEARCH_CUDA_RESOLVE)
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA driver (", library_name, ") is too old: it lacks ", missing,
                     "; this build needs one for CUDA ", Version(kNeededDriverVersion)));
  }
  int version = 0;
  if (api.cuDriverGetVersion(&version) == CUDA_SUCCESS && version < kNeededDriverVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA driver (", library_name, ") is for CUDA ", Version(version),
                     "; this build needs one for CUDA ", Version(kNeededDriverVersion)));
  }
  if (const CUresult result = api.cuInit(0); result != CUDA_SUCCESS) {
    return absl::FailedPreconditionError(
        absl::StrCat("the CUDA driver does not start: ", CudaErrorText(api, result)));
  }
  return SealTable(api);
}

#undef KSEARCH_CUDA_RESOLVE
#undef KSEARCH_CUDA_TEXT_OF

}  // namespace ksearch
