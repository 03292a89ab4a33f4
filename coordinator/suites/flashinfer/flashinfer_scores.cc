#include "coordinator/suites/flashinfer/flashinfer_scores.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/run_facts.h"

namespace ksearch {
namespace {

constexpr char kPassed[] = "PASSED";
constexpr double kUsPerMs = 1000;

struct Times {
  double candidate_us = 0;
  double reference_us = 0;
};

// The times of each workload that was timed, by uuid: those of a confirmation, or else of a
// screening.
std::map<std::string, Times> TimesOf(const v1::JobResult& result,
                                     const std::set<std::string>& uuids) {
  std::map<std::string, Times> times;
  const auto add = [&](const std::string& uuid, double candidate_us, double reference_us) {
    if (candidate_us > 0 && uuids.count(uuid) > 0) times[uuid] = {candidate_us, reference_us};
  };
  for (const v1::WorkloadResult& workload : result.workloads()) {
    add(workload.workload_uuid(), workload.candidate().median_us(),
        workload.baseline().median_us());
  }
  if (const v1::Comparison* over = OverBaseline(result)) {
    for (const v1::Comparison::PerWorkload& workload : over->workloads()) {
      add(workload.workload_uuid(), workload.candidate_median_us(), workload.rival_median_us());
    }
  }
  return times;
}

v1::SuiteScore Score(const std::string& name, double sum, int count, const std::string& note) {
  v1::SuiteScore score;
  score.set_name(name);
  score.set_value(count > 0 ? sum / count : 0);
  score.set_unit("x");
  score.set_note(note);
  return score;
}

v1::SuiteScore OverRecord(const std::map<std::string, Times>& times, const std::string& hardware,
                          const std::set<std::string>& baselines,
                          const std::vector<FlashInferTrace>& traces) {
  std::map<std::string, double> best_ms;
  std::set<std::string> devices, names;
  for (const FlashInferTrace& trace : traces) {
    if (baselines.count(trace.solution) == 0 || trace.status != kPassed || trace.latency_ms <= 0) {
      continue;
    }
    devices.insert(trace.hardware);
    if (trace.hardware != hardware) continue;
    names.insert(trace.solution);
    const auto [known, fresh] = best_ms.emplace(trace.workload_uuid, trace.latency_ms);
    if (!fresh && trace.latency_ms < known->second) known->second = trace.latency_ms;
  }
  double sum = 0;
  int count = 0;
  for (const auto& [uuid, each] : times) {
    const auto recorded = best_ms.find(uuid);
    if (recorded == best_ms.end()) continue;
    sum += recorded->second * kUsPerMs / each.candidate_us;
    ++count;
  }
  std::string note;
  if (count > 0) {
    note = absl::StrCat(absl::StrJoin(names, ", "), " as recorded on ", hardware,
                        ", not timed here; mean over ", count, " of ", times.size(), " workloads");
  } else if (devices.empty()) {
    note = absl::StrCat("no latency of ", absl::StrJoin(baselines, ", "), " is on record");
  } else {
    note = absl::StrCat("none of these workloads is on record for ", hardware,
                        "; there are records on ", absl::StrJoin(devices, ", "));
  }
  return Score("speed-up over the recorded baseline", sum, count, note);
}

}  // namespace

std::vector<v1::SuiteScore> FlashInferScores(const v1::JobResult& result,
                                             const std::set<std::string>& uuids,
                                             const std::set<std::string>& baselines,
                                             const std::vector<FlashInferTrace>& traces) {
  const std::map<std::string, Times> times = TimesOf(result, uuids);
  if (result.outcome() != v1::OUTCOME_PASSED || times.empty()) return {};
  std::vector<v1::SuiteScore> scores;
  double sum = 0;
  int count = 0;
  for (const auto& [uuid, each] : times) {
    if (each.reference_us <= 0) continue;
    sum += each.reference_us / each.candidate_us;
    ++count;
  }
  if (count > 0) {
    scores.push_back(Score("speed-up over the reference", sum, count,
                           absl::StrCat("timed here beside it; mean over ", count, " of ",
                                        uuids.size(), " workloads")));
  }
  if (!baselines.empty()) {
    scores.push_back(OverRecord(times, result.device().name(), baselines, traces));
  }
  return scores;
}

}  // namespace ksearch
