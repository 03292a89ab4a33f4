#include "gpu_worker/sandbox/sandbox_factory.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "gpu_worker/sandbox/bubblewrap_sandbox.h"
#include "gpu_worker/sandbox/privileges.h"

namespace ksearch {

absl::StatusOr<std::unique_ptr<Sandbox>> MakeSandbox(const v1::SandboxSettings& settings) {
  BubblewrapSandbox::Options options;
  if (settings.bubblewrap_path().empty()) {
    auto found = FindOnPath("bwrap");
    if (!found.ok()) {
      return absl::NotFoundError(
          "bwrap is not on PATH: install the package bubblewrap, or set sandbox.bubblewrap_path");
    }
    options.bubblewrap_path = *std::move(found);
  } else {
    options.bubblewrap_path = settings.bubblewrap_path();
    RETURN_IF_ERROR(Annotate(CheckExecutable(options.bubblewrap_path), "sandbox.bubblewrap_path"));
  }
  RETURN_IF_ERROR(Annotate(CheckExecutable(options.prlimit_path), "package util-linux"));
  const std::string wanted = settings.cgroup().empty() ? "auto" : settings.cgroup();
  if (wanted != "auto" && wanted != "required" && wanted != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("sandbox.cgroup: '", wanted, "' is not \"auto\", \"required\" or \"none\""));
  }
  if (wanted != "none") {
    auto parent = CgroupParent::Find();
    if (parent.ok()) {
      options.cgroup = *std::move(parent);
    } else if (wanted == "required") {
      return Annotate(parent.status(), "sandbox.cgroup is \"required\"");
    } else {
      // isolation() reports it; the log says why.
      LOG(DEBUG) << "msg=\"no cgroup limits; rlimits only\" reason=\"" << parent.status().message()
                 << "\"";
    }
  }
  return BubblewrapSandbox::Create(std::move(options));
}

SandboxSpec SpecFromSettings(const v1::SandboxSettings& settings) {
  SandboxSpec spec;
  if (settings.max_processes() > 0) spec.max_processes = settings.max_processes();
  if (settings.tmp_bytes() > 0) spec.tmp_bytes = settings.tmp_bytes();
  if (settings.output_bytes() > 0) spec.output_bytes = settings.output_bytes();
  return spec;
}

}  // namespace ksearch
