#include "gpu_worker/selftest/trial_evaluation.h"

#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/language.h"
#include "common/mutex.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "gpu_worker/build/toolchain_factory.h"
#include "gpu_worker/device/device_factory.h"
#include "gpu_worker/executor/device_pool.h"
#include "gpu_worker/executor/pipeline_executor.h"
#include "gpu_worker/executor/verifier_process.h"

namespace ksearch {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);

constexpr char kTask[] = R"(
  name: "selftest" device: DEVICE_CLASS_CPU
  definition {
    name: "selftest" op_type: "elementwise"
    axes { name: "n" }
    inputs { name: "x" shape: "n" dtype: DTYPE_FLOAT32 }
    outputs { name: "y" shape: "n" dtype: DTYPE_FLOAT32 }
  }
  workloads {
    uuid: "selftest" axes { axis: "n" value: 65536 } inputs { input: "x" random {} }
  }
  tolerance { atol: 1e-5 rtol: 1e-5 }
)";

constexpr char kProgram[] = R"(#include <cstdint>

#include "ksearch_task.h"

extern "C" int ksearch_run(const KsearchArgs* args) {
  for (int64_t i = 0; i < args->n; ++i) args->y[i] = 2.0f * args->x[i] + 1.0f;
  return 0;
}
)";

// A stop that comes after a while.
class StopAfter {
 public:
  explicit StopAfter(absl::Duration time) : thread_([this, time] { Wait(time); }) {}
  ~StopAfter() {
    {
      MutexLock lock(&mu_);
      ended_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  void Wait(absl::Duration time) {
    const absl::Time until = Clock::Real().SteadyNow() + time;
    MutexLock lock(&mu_);
    while (!ended_) {
      const absl::Duration left = until - Clock::Real().SteadyNow();
      if (left <= absl::ZeroDuration()) break;
      changed_.WaitFor(&mu_, left);
    }
    stop_.request_stop();
  }

  std::stop_source stop_;
  Mutex mu_;
  CondVar changed_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;  // last: it uses the others
};

v1::Sources Program(const char* path) {
  v1::Sources sources;
  sources.set_language(DefaultLanguage().id);
  sources.add_files()->set_path(path);
  sources.mutable_files(0)->set_content(kProgram);
  return sources;
}

// The same worker, with the processors and g++ instead of what it has.
v1::WorkerConfig OnProcessors(const v1::WorkerConfig& config, const std::string& folder) {
  v1::WorkerConfig one = config;
  one.set_state_dir(folder);
  one.clear_toolchains();
  one.clear_more_devices();
  for (const v1::Toolchain& toolchain : config.toolchains()) {
    if (toolchain.language() == DefaultLanguage().id) *one.add_toolchains() = toolchain;
  }
  if (one.toolchains().empty()) one.add_toolchains()->set_language(DefaultLanguage().id);
  if (config.device().device_class() != v1::DEVICE_CLASS_CPU) {
    one.clear_device();
    one.mutable_device()->set_device_class(v1::DEVICE_CLASS_CPU);
  }
  return one;
}

absl::StatusOr<v1::JobResult> Evaluate(const v1::WorkerConfig& config, const Toolchains& toolchains,
                                       const Sandbox& sandbox) {
  GpuSurroundings surroundings;
  surroundings.built_with_cuda = false;  // only the processors are asked for
  ASSIGN_OR_RETURN(const std::vector<Device> devices, MakeDevices(config, surroundings));
  const std::string verifier_config = config.state_dir() + "/verifier.textproto";
  RETURN_IF_ERROR(WriteFileAtomically(verifier_config, ToTextproto(config)));
  VerifierProcess verifier(
      {.binary_path = config.binary_dir() + "/ksearch-verifier", .config_path = verifier_config});
  DevicePool pool(
      {{v1::DEVICE_CLASS_CPU, devices[0].monitor.get(), devices[0].lock.get(), &verifier}});
  PipelineExecutor executor({.toolchains = &toolchains,
                             .devices = &pool,
                             .clock = &Clock::Real(),
                             .isolation = sandbox.isolation(),
                             .inputs_folder = config.state_dir()});
  v1::Task task;
  RETURN_IF_ERROR(ParseTextproto(kTask, "selftest", &task));
  *task.add_references() = Program("reference.cpp");
  v1::JobSpec job;
  job.set_kind(v1::JOB_KIND_SCREEN);
  job.set_task_name(task.name());
  job.set_task_sha256(TaskDigest(task));
  *job.mutable_candidate() = Program("kernel.cpp");
  job.add_workload_uuids("selftest");
  *job.mutable_plan()->mutable_max_time_per_workload() = ToProto(absl::Milliseconds(50));
  job.mutable_reference()->set_id(CandidateId(task.references(0)));
  job.mutable_reference()->set_language(DefaultLanguage().id);
  job.set_device(v1::DEVICE_CLASS_CPU);
  const StopAfter patience(kPatience);  // as another worker may keep the processors
  return executor.Execute(
      job, task, [](v1::HeldLease::State) {}, patience.token());
}

std::string Protection(const v1::IsolationLevel& level) {
  std::vector<std::string> words = {level.backend()};
  if (level.namespaces()) words.emplace_back("namespaces");
  if (level.seccomp()) words.emplace_back("seccomp");
  if (level.tight_seccomp()) words.emplace_back(level.allow_list() ? "allow list" : "deny list");
  words.push_back(absl::StrCat("cgroup ", level.cgroup()));
  return absl::StrJoin(words, ", ");
}

}  // namespace

Finding TryEvaluation(const v1::WorkerConfig& config, const std::string& folder, Sandbox* sandbox) {
  const v1::WorkerConfig one = OnProcessors(config, folder);
  const absl::Time begin = Clock::Real().SteadyNow();
  const auto toolchains = MakeToolchains(one, folder, sandbox);
  if (!toolchains.ok()) {
    return Finding::Warn("evaluation", "not tried, as it needs a C++ compiler",
                         std::string(toolchains.status().message()));
  }
  const auto result = Evaluate(one, *toolchains, *sandbox);
  if (absl::IsCancelled(result.status())) {
    return Finding::Warn("evaluation", "not tried: another worker keeps the processors",
                         "try again when it is idle");
  }
  if (!result.ok()) {
    return Finding::Fail("evaluation", std::string(result.status().message()), "");
  }
  if (result->outcome() != v1::OUTCOME_PASSED) {
    return Finding::Fail(
        "evaluation",
        absl::StrCat("a right program is judged ", v1::Outcome_Name(result->outcome()), ": ",
                     result->message(), result->stderr_excerpt().empty() ? "" : ": ",
                     result->stderr_excerpt()),
        "");
  }
  return Finding::Ok(
      "evaluation",
      absl::StrFormat("a program was built, checked and timed on a processor in %.1f s (%s)",
                      absl::ToDoubleSeconds(Clock::Real().SteadyNow() - begin),
                      Protection(result->isolation())));
}

}  // namespace ksearch
