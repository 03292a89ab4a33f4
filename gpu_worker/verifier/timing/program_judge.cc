#include "gpu_worker/verifier/timing/program_judge.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/host/host_outputs.h"

namespace ksearch {
namespace {

constexpr absl::string_view kEntry = "judge_outputs";
// The verdict's first byte; what follows is text up to a zero.
constexpr std::byte kRight{1};
constexpr std::byte kWrong{2};
constexpr std::byte kDoubtful{3};  // right, but for `doubt`

std::string WordsIn(const std::vector<std::byte>& verdict) {
  std::string words;
  for (size_t i = 1; i < verdict.size() && verdict[i] != std::byte{0}; ++i) {
    words.push_back(static_cast<char>(verdict[i]));
  }
  return words;
}

// Of an exception, its kind and message.
absl::string_view LastLine(const absl::Status& status) {
  const absl::string_view text = absl::StripTrailingAsciiWhitespace(status.message());
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

// The outputs that the program judges at present.
class ProgramJudge::Held final : public MadeVariants {
 public:
  std::shared_ptr<const MadeVariant> Get(int64_t) override { return tensors_; }
  void Set(std::vector<std::vector<std::byte>> tensors) {
    tensors_ = std::make_shared<const HostOutputs>(std::move(tensors));
  }

 private:
  std::shared_ptr<const MadeVariant> tensors_;
};

ProgramJudge::ProgramJudge(RunnerStarter& starter, const Clock& clock, BufferSetsFactory on_device)
    : function_(starter, clock, kEntry, std::move(on_device)) {}

void ProgramJudge::Use(const v1::Artifact& reference) {
  MutexLock lock(&mutex_);
  fault_ = absl::OkStatus();
  function_.Use(reference);
}

absl::Status ProgramJudge::fault() const {
  MutexLock lock(&mutex_);
  return fault_;
}

OutputComparison ProgramJudge::Judge(const WorkloadCase& workload, int64_t variant,
                                     const SavedOutputs& outputs, const SavedOutputs& expected) {
  MutexLock lock(&mutex_);
  OutputComparison verdict;
  if (!fault_.ok()) return verdict;
  absl::Status asked = Ask(workload, variant, outputs, &verdict);
  // The program may fail because of what the outputs hold. It then fails again, though not on the
  // reference's answer in between.
  OutputComparison of_reference;
  if (!asked.ok() && &outputs != &expected &&
      Ask(workload, variant, expected, &of_reference).ok() && of_reference.right) {
    asked = Ask(workload, variant, outputs, &verdict);
    if (IsTaskFault(asked)) {
      verdict.right = false;
      verdict.message = absl::StrCat("the task's checker fails on the outputs: ", LastLine(asked));
      return verdict;
    }
  }
  if (!asked.ok()) {
    LOG(WARNING) << "msg=\"outputs cannot be judged\" error=\"" << asked.message() << "\"";
    fault_ = asked;
    return OutputComparison();
  }
  return verdict;
}

absl::Status ProgramJudge::Ask(const WorkloadCase& workload, int64_t variant,
                               const SavedOutputs& outputs, OutputComparison* verdict) {
  if (judging_ == nullptr || key_ != workload.key()) {
    held_ = std::make_shared<Held>();
    judging_ = WorkloadCase::ForJudge(workload, held_);
    key_ = workload.key();
  }
  std::vector<std::vector<std::byte>> tensors;
  for (int i = 0; i < workload.inputs(); ++i) {
    std::vector<std::byte>& tensor =
        tensors.emplace_back(static_cast<size_t>(workload.tensors()[static_cast<size_t>(i)].bytes));
    workload.generator(i).Write(variant, tensor.data());
  }
  ASSIGN_OR_RETURN(std::vector<std::vector<std::byte>> made, outputs.ToHost());
  for (std::vector<std::byte>& output : made) tensors.push_back(std::move(output));
  held_->Set(std::move(tensors));
  ASSIGN_OR_RETURN(const std::shared_ptr<const SavedOutputs> said, function_.Call(judging_, 0));
  std::vector<std::byte> bytes(WorkloadCase::kVerdictBytes);
  RETURN_IF_ERROR(said->Read(0, bytes.data()));
  if (bytes[0] != kRight && bytes[0] != kWrong && bytes[0] != kDoubtful) {
    return TaskFault(absl::StrCat(kEntry, " gives no verdict on workload ", workload.uuid()));
  }
  verdict->right = bytes[0] != kWrong;
  if (bytes[0] == kDoubtful) {
    verdict->doubt =
        "the task's checker takes the outputs, but compares a NaN or an infinity that comes of "
        "them";
  }
  verdict->correctness.set_matched_ratio(verdict->right ? 1 : 0);
  if (verdict->right) return absl::OkStatus();
  const std::string words = CleanText(WordsIn(bytes), kMaxMessageBytes);
  verdict->message =
      absl::StrCat("the task's checker refuses the outputs", words.empty() ? "" : ": ", words);
  return absl::OkStatus();
}

}  // namespace ksearch
