#include "gpu_worker/verifier/judges/suite_judges.h"

#include "gpu_worker/verifier/judges/index_judge.h"
#include "gpu_worker/verifier/judges/sampling_judge.h"

namespace ksearch {
namespace {

template <typename Judge>
std::shared_ptr<OutputJudge> Make() {
  return std::make_shared<Judge>();
}

struct Row {
  v1::SuiteRule::Rule rule;
  std::shared_ptr<OutputJudge> (*make)();
};

constexpr Row kJudges[] = {
    {v1::SuiteRule::SAMPLES, Make<SamplingJudge>},
    {v1::SuiteRule::INDEX_SCORES, Make<IndexJudge>},
};

}  // namespace

std::shared_ptr<OutputJudge> MakeSuiteJudge(const v1::SuiteRule& rule) {
  for (const Row& row : kJudges) {
    if (row.rule == rule.rule()) return row.make();
  }
  return nullptr;
}

}  // namespace ksearch
