#include "coordinator/memory/measured_gain.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "common/language.h"
#include "common/run_facts.h"
#include "coordinator/memory/bottleneck.h"
#include "coordinator/memory/intent_words.h"

namespace ksearch {
namespace {

constexpr size_t kMaxOpType = 64;

bool Passed(const v1::JobResult& result) {
  return result.outcome() == v1::OUTCOME_PASSED && result.suspicions().empty();
}

// Outcomes that say nothing about the program.
bool SaysNothing(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_WORKER_LOST || outcome == v1::OUTCOME_CANCELLED ||
         outcome == v1::OUTCOME_TASK_ERROR || outcome == v1::OUTCOME_UNSPECIFIED;
}

}  // namespace

std::string BenchmarkOf(absl::string_view task_name) {
  const size_t slash = task_name.find('/');
  return slash == absl::string_view::npos ? std::string() : std::string(task_name.substr(0, slash));
}

std::string KeptOpType(absl::string_view op_type) {
  std::string kept;
  for (const char c : op_type.substr(0, kMaxOpType)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool good = absl::ascii_isalnum(byte) || c == '_' || c == '-';
    kept += good ? absl::ascii_tolower(byte) : '_';
  }
  return kept.empty() ? "other" : kept;
}

std::optional<v1::MeasuredGain> GainOf(const EvaluatedChange& change) {
  const v1::JobResult& result = *change.result;
  if (SaysNothing(result.outcome()) || !change.task->degenerate().empty()) return std::nullopt;
  const v1::JobResult* parent = change.parent;
  // The repair of a program that did not work has no measurable gain.
  if (parent != nullptr && !Passed(*parent)) return std::nullopt;
  v1::MeasuredGain gain;
  gain.set_passed(Passed(result));
  if (gain.passed()) {
    const std::optional<double> now = SpeedupOverBaseline(result);
    const std::optional<double> before =
        parent == nullptr ? std::optional<double>(1) : SpeedupOverBaseline(*parent);
    if (!now.has_value() || !before.has_value()) return std::nullopt;
    const double speedup = *now / *before;
    if (!std::isfinite(speedup) || !(speedup > 0)) return std::nullopt;
    gain.set_speedup(speedup);
  }
  gain.set_over_baseline(parent == nullptr);
  gain.set_bottleneck(parent == nullptr ? BaselineBottleneckOf(*change.task, result)
                                        : BottleneckOf(*change.task, *parent));
  gain.set_intent(IntentIn(change.title, change.idea));
  gain.set_run_id(change.run_id);
  gain.set_candidate_id(change.candidate_id);
  gain.set_task(change.config->task());
  gain.set_op_type(KeptOpType(change.task->definition().op_type()));
  gain.set_benchmark(BenchmarkOf(change.config->task()));
  gain.set_experiment(change.config->trial().experiment());
  gain.set_device(UsedDevice(change.config->language(), change.task->device()));
  gain.set_architecture(result.device().architecture().substr(0, kMaxArchitecture));
  gain.set_language(change.config->language());
  return gain;
}

}  // namespace ksearch
