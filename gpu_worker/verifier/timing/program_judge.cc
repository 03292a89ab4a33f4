#include "gpu_worker/verifier/timing/program_judge.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/host_outputs.h"
#include "gpu_worker/verifier/host/memfd_buffer_sets.h"

namespace ksearch {
namespace {

constexpr absl::string_view kEntry = "judge_outputs";
// The verdict's first byte; what follows is text up to a zero.
constexpr std::byte kRight{1};
constexpr std::byte kWrong{2};

std::string WordsIn(const std::vector<std::byte>& verdict) {
  std::string words;
  for (size_t i = 1; i < verdict.size() && verdict[i] != std::byte{0}; ++i) {
    words.push_back(static_cast<char>(verdict[i]));
  }
  return words;
}

}  // namespace

// What the program is to judge now.
class ProgramJudge::Held final : public MadeVariants {
 public:
  std::shared_ptr<const MadeVariant> Get(int64_t) override { return tensors_; }
  void Set(MadeVariant tensors) {
    tensors_ = std::make_shared<const MadeVariant>(std::move(tensors));
  }

 private:
  std::shared_ptr<const MadeVariant> tensors_;
};

void ProgramJudge::Use(const v1::Artifact& reference) {
  MutexLock lock(&mutex_);
  fault_ = absl::OkStatus();
  const bool same = program_.sha256() == reference.sha256() &&
                    program_.path() == reference.path() &&
                    program_.main_file() == reference.main_file();
  program_ = reference;
  if (!same) Stop();
}

absl::Status ProgramJudge::fault() const {
  MutexLock lock(&mutex_);
  return fault_;
}

OutputComparison ProgramJudge::Judge(const WorkloadCase& workload, int64_t variant,
                                     const SavedOutputs& outputs) {
  MutexLock lock(&mutex_);
  OutputComparison verdict;
  if (!fault_.ok()) return verdict;
  const absl::Status asked = Ask(workload, variant, outputs, &verdict);
  if (!asked.ok()) {
    LOG(WARNING) << "msg=\"outputs cannot be judged\" error=\"" << asked.message() << "\"";
    fault_ = asked;
    return OutputComparison();
  }
  return verdict;
}

absl::Status ProgramJudge::Ask(const WorkloadCase& workload, int64_t variant,
                               const SavedOutputs& outputs, OutputComparison* verdict) {
  RETURN_IF_ERROR(Prepare(workload));
  MadeVariant tensors;
  for (int i = 0; i < workload.inputs(); ++i) {
    std::vector<std::byte>& tensor =
        tensors.emplace_back(static_cast<size_t>(workload.tensors()[static_cast<size_t>(i)].bytes));
    workload.generator(i).Write(variant, tensor.data());
  }
  ASSIGN_OR_RETURN(std::vector<std::vector<std::byte>> made, outputs.ToHost());
  for (std::vector<std::byte>& output : made) tensors.push_back(std::move(output));
  held_->Set(std::move(tensors));
  const WorkloadSession::Limits limits = {kTrustedCallTime, absl::InfiniteFuture()};
  const WorkloadSession::Batch batch =
      session_->Run({{0, 0}}, WorkloadSession::Mode::kReference, {}, limits);
  if (!batch.ending.passed()) return Broken(workload, batch.ending);
  ASSIGN_OR_RETURN(const std::shared_ptr<const SavedOutputs> said, session_->Outputs(0));
  const std::vector<std::byte>& bytes = static_cast<const HostOutputs&>(*said).output(0);
  if (bytes[0] != kRight && bytes[0] != kWrong) {
    return TaskFault(absl::StrCat(kEntry, " gives no verdict on workload ", workload.uuid()));
  }
  verdict->right = bytes[0] == kRight;
  verdict->correctness.set_matched_ratio(verdict->right ? 1 : 0);
  if (verdict->right) return absl::OkStatus();
  const std::string words = CleanText(WordsIn(bytes), kMaxMessageBytes);
  verdict->message =
      absl::StrCat("the task's checker refuses the outputs", words.empty() ? "" : ": ", words);
  return absl::OkStatus();
}

absl::Status ProgramJudge::Prepare(const WorkloadCase& workload) {
  if (link_ == nullptr) {
    ASSIGN_OR_RETURN(const ProgramImage program, ProgramImage::Open(program_));
    ASSIGN_OR_RETURN(link_, starter_.StartOnHost(program, RunnerStarter::TrustedLimits()));
    const absl::Duration load_time = std::max(kTrustedCallTime, program.load_time());
    const Ending loaded = link_->Load(program, clock_.SteadyNow() + load_time, kEntry);
    if (!loaded.passed()) return Broken(workload, loaded);
  }
  if (session_ != nullptr && mapped_ == workload.key()) return absl::OkStatus();
  session_.reset();
  held_ = std::make_shared<Held>();
  const std::shared_ptr<const WorkloadCase> judging = WorkloadCase::ForJudge(workload, held_);
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, MemfdBufferSets::Create(judging, 1));
  session_ = std::make_unique<WorkloadSession>(*link_, judging, std::move(buffers), clock_,
                                               workload.seed().low);
  const WorkloadSession::Limits limits = {kTrustedCallTime, absl::InfiniteFuture()};
  if (const Ending mapped = session_->Map(1, limits); !mapped.passed()) {
    return Broken(workload, mapped);
  }
  mapped_ = workload.key();
  return absl::OkStatus();
}

absl::Status ProgramJudge::Broken(const WorkloadCase& workload, const Ending& ending) {
  const absl::Status fault = TaskFaultOf(
      ending, absl::StrCat(kEntry, " fails on workload ", workload.uuid(), ": ", OwnWords(ending)));
  Stop();
  return fault;
}

void ProgramJudge::Stop() {
  session_.reset();
  held_.reset();
  mapped_.clear();
  link_.reset();
}

}  // namespace ksearch
