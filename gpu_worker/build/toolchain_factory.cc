#include "gpu_worker/build/toolchain_factory.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/language.h"
#include "common/status_macros.h"
#include "gpu_worker/build/build_cache.h"
#include "gpu_worker/build/cuda/nvcc_toolchain.h"
#include "gpu_worker/build/gxx_toolchain.h"
#include "gpu_worker/build/python/python_toolchain.h"
#include "gpu_worker/sandbox/sandbox_factory.h"

namespace ksearch {
namespace {

constexpr int64_t kDefaultCacheBytes = int64_t{2} << 30;

absl::StatusOr<std::unique_ptr<Builder>> MakeToolchain(const v1::Toolchain& toolchain,
                                                       const v1::WorkerConfig& config,
                                                       const std::string& state_dir,
                                                       Sandbox* sandbox) {
  const LanguageFacts* const language = FindLanguage(toolchain.language());
  switch (language == nullptr ? Toolkit::kNone : language->toolkit) {
    case Toolkit::kGxx: {
      GxxToolchain::Options options;
      options.compiler_path = toolchain.compiler_path();
      options.extra_flags.assign(toolchain.extra_flags().begin(), toolchain.extra_flags().end());
      options.work_dir = state_dir + "/build";
      options.sandbox_spec = SpecFromSettings(config.sandbox());
      ASSIGN_OR_RETURN(std::unique_ptr<Builder> builder,
                       GxxToolchain::Create(std::move(options), sandbox));
      return builder;
    }
    case Toolkit::kNvcc: {
      NvccToolchain::Options options;
      options.compiler_path = toolchain.compiler_path();
      options.host_compiler_path = toolchain.host_compiler_path();
      options.architecture = toolchain.architecture();
      options.extra_flags.assign(toolchain.extra_flags().begin(), toolchain.extra_flags().end());
      options.work_dir = state_dir + "/build";
      options.sandbox_spec = SpecFromSettings(config.sandbox());
      ASSIGN_OR_RETURN(std::unique_ptr<Builder> builder,
                       NvccToolchain::Create(std::move(options), sandbox));
      return builder;
    }
    case Toolkit::kPython: {
      PythonToolchain::Options options;
      options.interpreter = toolchain.interpreter();
      const char* environment = std::getenv("VIRTUAL_ENV");  // NOLINT(concurrency-mt-unsafe)
      options.virtual_environment = environment == nullptr ? "" : environment;
      options.binary_dir = config.binary_dir();
      options.work_dir = state_dir + "/build";
      options.sandbox_spec = SpecFromSettings(config.sandbox());
      ASSIGN_OR_RETURN(std::unique_ptr<Builder> builder,
                       PythonToolchain::Create(std::move(options), sandbox));
      return builder;
    }
    case Toolkit::kNone:
      break;
  }
  return absl::InvalidArgumentError("this worker has no toolchain for that language");
}

}  // namespace

absl::StatusOr<Toolchains> MakeToolchains(const v1::WorkerConfig& config,
                                          const std::string& state_dir, Sandbox* sandbox) {
  v1::WorkerConfig wanted = config;
  if (wanted.toolchains().empty()) wanted.add_toolchains()->set_language(DefaultLanguage().id);
  Toolchains toolchains;
  for (int i = 0; i < wanted.toolchains_size(); ++i) {
    const v1::Toolchain& toolchain = wanted.toolchains(i);
    const std::string name =
        absl::StrCat("toolchains[", i, "] (", v1::Language_Name(toolchain.language()), ")");
    auto builder = MakeToolchain(toolchain, wanted, state_dir, sandbox);
    if (!builder.ok()) return Annotate(builder.status(), name);
    auto cache = BuildCache::Create(
        *std::move(builder),
        absl::StrCat(state_dir, "/build_cache/",
                     absl::AsciiStrToLower(v1::Language_Name(toolchain.language()))),
        toolchain.cache_bytes() > 0 ? toolchain.cache_bytes() : kDefaultCacheBytes);
    if (!cache.ok()) return Annotate(cache.status(), name);
    if (!toolchains.emplace(toolchain.language(), *std::move(cache)).second) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": the language is named twice"));
    }
  }
  return toolchains;
}

}  // namespace ksearch
