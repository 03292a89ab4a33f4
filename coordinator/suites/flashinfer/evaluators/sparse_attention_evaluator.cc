#include "coordinator/suites/flashinfer/evaluators/sparse_attention_evaluator.h"

#include "absl/strings/str_cat.h"
#include "coordinator/suites/flashinfer/evaluators/element_evaluators.h"

namespace ksearch {
namespace {

constexpr char kPageOfOne[] = "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps1";
constexpr char kPageOf64[] = "dsa_sparse_attention_h16_ckv512_kpe64_topk2048_ps64";
constexpr int kOutputs = 2;

}  // namespace

bool IsSparseAttention(const v1::Definition& definition) {
  return definition.name() == kPageOfOne || definition.name() == kPageOf64;
}

absl::Status PoseSparseAttention(v1::Task* task, std::string* reference) {
  if (const int outputs = task->definition().outputs_size(); outputs != kOutputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("upstream's evaluator for this definition fails every solution with "
                     "RUNTIME_ERROR unless the reference returns two outputs, `output` and `lse`, "
                     "and the definition has ",
                     outputs));
  }
  return PoseByElements(task, reference);
}

}  // namespace ksearch
