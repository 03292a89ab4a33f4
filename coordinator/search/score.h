#ifndef KSEARCH_COORDINATOR_SEARCH_SCORE_H_
#define KSEARCH_COORDINATOR_SEARCH_SCORE_H_

#include <optional>
#include <string>

#include "proto/config.pb.h"
#include "proto/result.pb.h"
#include "proto/search_state.pb.h"
#include "proto/world_model.pb.h"

namespace ksearch {

// What a screening tells the search.
struct Score {
  // Correct and not suspicious: a program that may have cheated must not become a base, whatever
  // its time.
  bool passed = false;
  // Speed-up over the baseline over workloads of baseline / candidate (medians): arithmetic mean in
  // preset paper, else geometric mean. Without a baseline: 1000 / latency in us. 0 if not passed.
  double value = 0;
  std::optional<double> latency_us;   // geometric mean over workloads
  std::optional<double> vs_baseline;  // absent without a baseline
};

Score ScoreOf(const v1::JobResult& result, v1::Preset preset);

// Half the width of the score's 95 % interval, relative to the score; the score here is the
// geometric mean over workloads of baseline / candidate, and its interval follows from those of the
// medians. 0: no intervals.
double ScoreError(const v1::JobResult& result);

// Geometric mean over workloads of floor / latency, where the floor is the time that no call on the
// device can beat. 0 if a workload was not timed, or its floor is unknown.
double FloorShare(const v1::JobResult& result);

// "compile_error: first diagnostic" on one line of at most 300 bytes, for people and as a lesson.
std::string OutcomeLine(const v1::JobResult& result);

// True for an outcome that says nothing about the candidate (worker lost, cancelled).
bool IsInfrastructureOutcome(v1::Outcome outcome);

// Keeps the baseline's latencies for later prompts. The first number of a workload is kept, so that
// prompts do not change with noise.
void NoteBaselines(const v1::JobResult& result, v1::EvaluationLogState* log);

// The same for the device's measured peaks.
void NotePeaks(const v1::JobResult& result, v1::EvaluationLogState* log);

// The same for the floors, keeping the highest for each workload.
void NoteFloors(const v1::JobResult& result, v1::EvaluationLogState* log);

// Without raw samples, comparisons and the like: what prompts and the saved state need.
v1::JobResult TrimmedResult(const v1::JobResult& result);

// What the search keeps of a screening; the caller adds the sources.
v1::ScreenedProgram ScreenedProgramOf(const v1::JobResult& result, const std::string& candidate_id,
                                      int round, v1::Preset preset);

// What is kept of it permanently: no sources, short logs.
v1::ScreenedProgram Remembered(v1::ScreenedProgram program);

// "score 1.200, 34.10 us", or how it failed.
std::string Verdict(const v1::ScreenedProgram& program);

v1::Solution SolutionOf(const v1::ScreenedProgram& program, const std::string& parent_candidate_id);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_SCORE_H_
