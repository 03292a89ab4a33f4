#include "coordinator/search/attempts/attempt_policy.h"

#include <tuple>

namespace ksearch {

const v1::ScreenedProgram* BestStanding(const v1::EvaluationLogState& log) {
  const v1::ScreenedProgram* best = nullptr;
  // Ties are broken by id, so that the order of a hash map decides nothing.
  const auto before = [](const v1::ScreenedProgram& a, const v1::ScreenedProgram& b) {
    if (a.score() != b.score()) return a.score() > b.score();
    return std::tuple(a.round(), a.candidate_id()) < std::tuple(b.round(), b.candidate_id());
  };
  for (const auto& [id, program] : log.screened()) {
    if (program.passed() && (best == nullptr || before(program, *best))) best = &program;
  }
  return best;
}

std::vector<const v1::ScreenedProgram*> GivenPrograms(const v1::EvaluationLogState& log) {
  std::vector<const v1::ScreenedProgram*> given;
  // A program lost with its worker is not among those screened.
  const auto add = [&](const v1::ScreenedProgram& program) {
    if (log.screened().contains(program.candidate_id())) given.push_back(&program);
  };
  add(log.seed());
  for (const v1::GivenProgram& more : log.more_seeds()) add(more.program());
  return given;
}

}  // namespace ksearch
