#include "gpu_worker/device/nvml/nvml_api.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"

namespace ksearch {

absl::StatusOr<std::shared_ptr<const NvmlApi>> NvmlApi::Load(absl::string_view library) {
  // Never closed: other users of the library in this process would lose it, too.
  void* const handle = ::dlopen(std::string(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return absl::NotFoundError(absl::StrCat("NVML: ", why == nullptr ? "not found" : why));
  }
  const std::shared_ptr<NvmlApi> api(new NvmlApi());
  std::string missing;
#define KSEARCH_NVML_RESOLVE(field, symbol, parameters) \
  api->field = reinterpret_cast<decltype(api->field)>(::dlsym(handle, symbol));
#define KSEARCH_NVML_DEMAND(field, symbol, parameters) \
  if (api->field == nullptr) missing = symbol;
  KSEARCH_NVML_REQUIRED(KSEARCH_NVML_RESOLVE)
  KSEARCH_NVML_OPTIONAL(KSEARCH_NVML_RESOLVE)
  KSEARCH_NVML_REQUIRED(KSEARCH_NVML_DEMAND)
#undef KSEARCH_NVML_RESOLVE
#undef KSEARCH_NVML_DEMAND
  if (!missing.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("NVML: ", library, " has no ", missing, ": the driver is too old"));
  }
  api->ErrorString =
      reinterpret_cast<decltype(api->ErrorString)>(::dlsym(handle, "nvmlErrorString"));
  const NvmlResult result = api->Init();
  if (result != kNvmlSuccess) {
    return absl::FailedPreconditionError(api->ToStatus(result, "NVML does not start").message());
  }
  api->initialized_ = true;
  return std::shared_ptr<const NvmlApi>(api);
}

NvmlApi::~NvmlApi() {
  if (initialized_) Shutdown();
}

absl::Status NvmlApi::ToStatus(NvmlResult result, absl::string_view what) const {
  if (result == kNvmlSuccess) return absl::OkStatus();
  const char* const words = ErrorString == nullptr ? nullptr : ErrorString(result);
  const std::string message =
      absl::StrCat(what, ": ", words == nullptr ? "unknown error" : words, " (", result, ")");
  switch (result) {
    case kNvmlNotSupported:
      return absl::UnimplementedError(message);
    case kNvmlNoPermission:
      return absl::PermissionDeniedError(message);
    case kNvmlGpuIsLost:
      return absl::DataLossError(message);
    default:
      return absl::InternalError(message);
  }
}

}  // namespace ksearch
