#include "gpu_worker/verifier/instruments/second_witness.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxNoteBytes = 1024;

// The results of some calls of one program on one workload.
struct Calls {
  int made = 0;  // calls whose outputs were checked
  int wrong = 0;
  int different = 0;        // from the first with the same inputs
  std::string first_wrong;  // what is wrong with it
  std::string trouble;      // why there were not more calls
  bool crashed = false;     // that is why
};

bool IsSame(const WorkloadCase& workload, const SavedOutputs& a, const SavedOutputs& b) {
  const std::vector<TensorComparison> compared = a.CompareWith(workload, b);
  return std::all_of(compared.begin(), compared.end(), [](const TensorComparison& tensor) {
    return tensor.wrong == 0 && tensor.max_abs == 0;
  });
}

// For a program whose outputs were right without delays.
bool IsWrong(v1::Outcome outcome) {
  return outcome == v1::OUTCOME_INCORRECT || outcome == v1::OUTCOME_OUT_OF_BOUNDS ||
         outcome == v1::OUTCOME_INPUT_MODIFIED;
}

// `link`: a runner that was launched for the program; it has ended afterwards.
absl::StatusOr<Calls> MakeCalls(Bench& bench, std::unique_ptr<RunnerLink> link,
                                const ProgramImage& program, const WitnessCase& at, int count,
                                absl::Time deadline) {
  const Clock& clock = bench.clock();
  Calls calls;
  if (clock.SteadyNow() >= deadline) {
    calls.trouble = "there was no time left";
    return calls;
  }
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, bench.Buffers(at.workload, 1, "gate"));
  RETURN_IF_ERROR(link->AwaitHello());
  WorkloadSession session(*link, at.workload, std::move(buffers), clock, RandomUint64());
  const WorkloadSession::Limits times = {kWitnessTime, deadline};
  Ending ending = link->Load(program, std::min(deadline, clock.SteadyNow() + program.load_time()));
  if (ending.passed()) ending = session.Map(1, times);
  std::map<int64_t, std::shared_ptr<const SavedOutputs>> first;
  while (ending.passed() && calls.made < count) {
    if (clock.SteadyNow() >= deadline) {
      calls.trouble = "there was no time left";
      return calls;
    }
    const int64_t variant = calls.made % kGateVariants;
    Ending called =
        session.Run({{0, variant}}, WorkloadSession::Mode::kGate, *at.oracles, times).ending;
    if (!called.passed() && !IsWrong(called.outcome)) {
      ending = std::move(called);
      break;
    }
    ++calls.made;
    if (!called.passed()) {
      if (++calls.wrong == 1) calls.first_wrong = std::move(called.message);
    }
    ASSIGN_OR_RETURN(std::shared_ptr<const SavedOutputs> outputs, session.Outputs(0));
    std::shared_ptr<const SavedOutputs>& earlier = first[variant];
    if (earlier == nullptr) {
      earlier = std::move(outputs);
    } else if (!IsSame(*at.workload, *outputs, *earlier)) {
      ++calls.different;
    }
  }
  if (!ending.passed()) {
    calls.crashed = ending.crashed;
    calls.trouble = absl::StrCat(v1::Outcome_Name(ending.outcome), ": ", ending.message);
  }
  return calls;
}

// Returns whether a file's text contains `word`, but not as the end of a longer word.
bool Mentions(const v1::Sources& sources, const char* word) {
  for (const v1::SourceFile& file : sources.files()) {
    const std::string& text = file.content();
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      if (at == 0) return true;
      const char before = text[at - 1];
      if (!absl::ascii_isalnum(static_cast<unsigned char>(before)) && before != '_') return true;
    }
  }
  return false;
}

// For a program that crashed with delays in a first process: the number of two processes in which
// it crashed. Also 1 if the program without delays does not make as many calls.
absl::StatusOr<int> CrashesAgain(Bench& bench, const ProgramImage& plain,
                                 const ProgramImage& delayed, const WitnessCase& at, int count,
                                 const v1::Limits& limits, absl::Time deadline) {
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> first, bench.starter().Launch(delayed, limits));
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> second, bench.starter().Launch(plain, limits));
  ASSIGN_OR_RETURN(const Calls again,
                   MakeCalls(bench, std::move(first), delayed, at, count, deadline));
  if (!again.crashed) return 1;
  ASSIGN_OR_RETURN(const Calls without,
                   MakeCalls(bench, std::move(second), plain, at, count, deadline));
  return without.made == count ? 2 : 1;
}

}  // namespace

absl::StatusOr<SecondWitness> AskSecondWitness(Bench& bench, const v1::VerifierRequest& request,
                                               const ProgramImage& candidate,
                                               const std::vector<WitnessCase>& all_cases) {
  SecondWitness witness;
  if (!request.has_delayed()) {
    witness.runs.set_label(kRaceReported);
    witness.runs.set_note(CleanText(request.delayed_absence().empty()
                                        ? "there is no build with delays"
                                        : request.delayed_absence(),
                                    kMaxNoteBytes));
    return witness;
  }
  ASSIGN_OR_RETURN(const ProgramImage slowed, ProgramImage::Open(request.delayed()));
  const v1::Limits limits = WithDefaults(request.job().limits());
  const bool adds_in_any_order = MentionsAtomics(request.job().candidate());
  std::vector<WitnessCase> cases = {all_cases.front()};
  if (all_cases.size() > 1) cases.push_back(all_cases[all_cases.size() / 2]);
  const absl::Time start = bench.clock().SteadyNow();
  const absl::Time deadline = start + kWitnessTime;
  std::vector<std::string> notes;
  std::string first_wrong;
  int plain_wrong = 0;
  bool differs = false;  // where a difference is meaningful
  std::string crash;     // a crash that was repeated
  const bool gives_up = MentionsTraps(request.job().candidate());
  const int delayed_calls = kWitnessCalls / static_cast<int>(cases.size());
  // Starting takes most of the time, so all start side by side.
  struct Runners {
    std::unique_ptr<RunnerLink> plain, delayed;
  };
  std::vector<Runners> runners(cases.size());
  for (Runners& one : runners) {
    ASSIGN_OR_RETURN(one.plain, bench.starter().Launch(candidate, limits));
    ASSIGN_OR_RETURN(one.delayed, bench.starter().Launch(slowed, limits));
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    const absl::Duration share =
        (deadline - bench.clock().SteadyNow()) / static_cast<double>(cases.size() - i);
    const absl::Time until = bench.clock().SteadyNow() + share;
    ASSIGN_OR_RETURN(const Calls plain, MakeCalls(bench, std::move(runners[i].plain), candidate,
                                                  cases[i], kWitnessPlainCalls, until));
    ASSIGN_OR_RETURN(const Calls delayed, MakeCalls(bench, std::move(runners[i].delayed), slowed,
                                                    cases[i], delayed_calls, until));
    if (delayed.crashed && plain.trouble.empty()) {
      int crashed = 1;
      if (!gives_up) {
        ASSIGN_OR_RETURN(crashed, CrashesAgain(bench, candidate, slowed, cases[i], delayed_calls,
                                               limits, until));
      }
      witness.runs.set_crashed(witness.runs.crashed() + crashed);
      if (crashed > 1 && crash.empty()) crash = delayed.trouble;
    }
    const bool repeats = plain.made == kWitnessPlainCalls && plain.different == 0;
    v1::DelayedRuns& runs = witness.runs;
    runs.set_calls(runs.calls() + delayed.made);
    if (delayed.made > 0) runs.set_workloads(runs.workloads() + 1);
    runs.set_wrong(runs.wrong() + delayed.wrong);
    if (repeats) runs.set_different(runs.different() + delayed.different);
    plain_wrong += plain.wrong;
    differs |= repeats && !adds_in_any_order && delayed.different > 0;
    if (first_wrong.empty()) first_wrong = delayed.first_wrong;
    if (first_wrong.empty()) first_wrong = plain.first_wrong;
    for (const Calls* calls : {&plain, &delayed}) {
      if (calls->trouble.empty()) continue;
      notes.push_back(
          absl::StrCat("workload ", cases[i].workload->uuid(), ", ",
                       calls == &plain ? "without delays: " : "with delays: ", calls->trouble));
    }
    if (!repeats && plain.trouble.empty()) {
      notes.push_back(absl::StrCat("workload ", cases[i].workload->uuid(),
                                   ": outputs differ from call to call without delays, too"));
    }
  }
  v1::DelayedRuns& runs = witness.runs;
  if (runs.different() > 0 && adds_in_any_order) {
    notes.push_back("the program mentions atomics: outputs that differ in some bits prove nothing");
  }
  if (runs.crashed() > 0 && gives_up) {
    notes.push_back("the program may give up by itself: that it ends when delayed proves nothing");
  }
  runs.set_note(CleanText(absl::StrJoin(notes, "; "), kMaxNoteBytes));
  LOG(INFO) << "msg=\"second witness\" calls=" << runs.calls() << " wrong=" << runs.wrong()
            << " different=" << runs.different() << " wrong_without=" << plain_wrong
            << " time=" << bench.clock().SteadyNow() - start << " note=\"" << runs.note() << "\"";
  witness.outputs_were_wrong = runs.wrong() > 0 || plain_wrong > 0;
  if (!witness.outputs_were_wrong && !differs) {
    if (crash.empty()) {
      runs.set_label(kRaceReported);
    } else {
      witness.ending = {v1::OUTCOME_INCORRECT,
                        absl::StrCat("with random delays at its barriers it crashed in two of two "
                                     "processes, without delays in none: ",
                                     crash)};
    }
    return witness;
  }
  witness.ending = {
      v1::OUTCOME_INCORRECT,
      absl::StrCat(
          "with random delays at its barriers, of ", runs.calls(), " calls ", runs.wrong(),
          " were wrong and ", runs.different(), " differed from others with the same inputs",
          plain_wrong == 0 ? "" : absl::StrCat("; without delays ", plain_wrong, " were wrong"),
          first_wrong.empty() ? "" : "; the first: ", first_wrong)};
  return witness;
}

absl::StatusOr<MemoryCheck> AskWitnesses(Bench& bench, const Instrument& sanitizer,
                                         const v1::VerifierRequest& request,
                                         const ProgramImage& candidate,
                                         const std::vector<WitnessCase>& cases) {
  std::optional<ProgramImage> lined;
  if (request.has_lined()) {
    ASSIGN_OR_RETURN(ProgramImage image, ProgramImage::Open(request.lined()));
    lined.emplace(std::move(image));
  }
  const bool cheap = request.job().kind() == v1::JOB_KIND_EXAMINE;
  ASSIGN_OR_RETURN(MemoryCheck check,
                   CheckMemory(bench, sanitizer, lined.has_value() ? *lined : candidate,
                               cases.front().workload, WithDefaults(request.job().limits()),
                               cheap ? Thoroughness::kCheap : Thoroughness::kFull));
  if (!check.ending.passed()) return check;
  const bool accused = !check.alarm.passed();
  if (!accused && (cheap || !request.has_delayed())) return check;
  ASSIGN_OR_RETURN(SecondWitness witness, AskSecondWitness(bench, request, candidate, cases));
  if (accused && !witness.ending.passed()) {
    check.ending = {
        witness.ending.outcome,
        absl::StrCat(check.alarm.message, "; second witness: ", witness.ending.message)};
  } else if (witness.outputs_were_wrong) {
    check.ending = std::move(witness.ending);
  } else if (!accused) {
    // Other effects of delays do not prove a race that no tool reported.
    witness.runs.set_label(witness.ending.passed() ? "" : kDelaysMatter);
  }
  *check.report.mutable_delayed_runs() = std::move(witness.runs);
  return check;
}

bool MentionsTraps(const v1::Sources& sources) {
  for (const char* word : {"__trap", "trap;", "__brkpt", "brkpt", "assert(", "abort("}) {
    if (Mentions(sources, word)) return true;
  }
  return false;
}

bool MentionsAtomics(const v1::Sources& sources) {
  for (const v1::SourceFile& file : sources.files()) {
    const std::string& text = file.content();
    for (const char* word : {"atomic", "atom.", "reduce.async"}) {
      if (absl::StrContains(text, word)) return true;
    }
    // The instruction, not the end of "shared.".
    for (size_t at = text.find("red."); at != std::string::npos; at = text.find("red.", at + 1)) {
      if (at == 0 || !absl::ascii_isalnum(static_cast<unsigned char>(text[at - 1]))) return true;
    }
  }
  return false;
}

}  // namespace ksearch
