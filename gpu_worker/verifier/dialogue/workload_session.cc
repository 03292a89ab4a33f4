#include "gpu_worker/verifier/dialogue/workload_session.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "gpu_worker/verifier/dialogue/calls_in_turn.h"
#include "gpu_worker/verifier/dialogue/one_late_call.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/output_judge.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"

namespace ksearch {
namespace {

// A stale candidate reveals itself at every opportunity.
constexpr size_t kMaxSuspects = 2;
// For a batch, beyond its calls: preparation is done, so this is scheduling only.
constexpr absl::Duration kBatchSlack = absl::Milliseconds(500);
// The first copies are the slowest; the median of all is reported.
constexpr int kMostCopies = 15;
constexpr absl::Duration kCopiesTime = absl::Milliseconds(100);
constexpr absl::Duration kMapTimeout = absl::Seconds(30);
// For mapping, beyond a call's limit: the program says within it how large its workspace is.
constexpr absl::Duration kMapSlack = absl::Seconds(10);
// Variants of decoys: beyond those that any call gets.
constexpr int64_t kFirstDecoyVariant = int64_t{1} << 30;

}  // namespace

Ending WorkloadSession::Map(int sets, const Limits& limits, int workspace_fill) {
  mapped_sets_ = sets;
  std::vector<MapPacket> packets = buffers_->Map(sets);
  if (!packets.empty()) packets[0].request.set_workspace_fill(workspace_fill);
  const absl::Duration most = std::min(kMapTimeout, limits.call_time + kMapSlack);
  return link_.Map(packets, std::min(limits.deadline, clock_.SteadyNow() + most));
}

WorkloadSession::Batch WorkloadSession::Run(const std::vector<Call>& calls, Mode mode,
                                            const BatchForm& form, const OracleEntries& oracles,
                                            const Limits& limits, Deliveries* late) {
  const uint64_t salt = rng_.Next();
  v1::BatchRequest request;
  request.set_mode(form.mode);
  request.set_graph(form.graph);
  for (const Call& call : calls) request.add_set_order(call.set);
  Batch batch;
  if (form.mode == v1::BatchRequest::REPLAY) {
    const std::vector<int> order(request.set_order().begin(), request.set_order().end());
    if (!link_.HasChain(form.graph, order)) {
      Recording chain = MakeChain(order, form.graph, limits);
      batch.ending = std::move(chain.ending);
      if (batch.ending.passed() && !chain.reason.empty()) {
        // The reason is the runner's text, which may be the program's.
        batch.ending = {v1::OUTCOME_RUNTIME_ERROR, "recorded calls cannot be put together"};
      }
      if (!batch.ending.passed()) return batch;
    }
  }
  const std::vector<Call> decoys =
      mode == Mode::kTimed && calls.size() > 1 ? PickDecoys(calls) : std::vector<Call>();
  std::vector<Call> prepared = calls;
  prepared.insert(prepared.end(), decoys.begin(), decoys.end());
  if (!form.inputs_last) buffers_->Prepare(prepared, salt);
  // Before the lead-in: a longer pause after it would tell the runner what kind of batch follows.
  const bool withheld = late != nullptr && late->Withhold();
  if (late != nullptr && late->in_turn()) {
    if (!withheld) return batch;
    request.set_in_turn(true);
  }
  const absl::Time batch_deadline = BatchDeadline(calls.size(), mode, limits);
  if (form.lead_in) batch.lead_in = link_.LeadIn(std::min(limits.deadline, batch_deadline));
  if (form.inputs_last) buffers_->Prepare(prepared, salt);
  std::function<void()> meanwhile;
  if (withheld) {
    meanwhile = [&] { late->Deliver(salt, std::min(limits.deadline, batch_deadline)); };
  }
  RunnerLink::BatchReply reply =
      link_.RunBatch(request, std::min(limits.deadline, batch_deadline), meanwhile);
  const absl::Time done = clock_.SteadyNow();
  if (reply.ending.passed()) buffers_->RememberPlaces(calls, &rng_);
  batch.ending = std::move(reply.ending);
  if (batch.ending.outcome == v1::OUTCOME_TIMEOUT && limits.deadline < batch_deadline) {
    batch.ending.message = "the whole job took longer than limits.total_time";
  }
  if (!batch.ending.passed()) return batch;
  uint64_t inner_ns = 0;
  batch.calls = calls.size();
  batch.queued = reply.queued;
  const double calls_a_time = static_cast<double>(calls.size()) /
                              static_cast<double>(std::max<size_t>(1, reply.inner_ns.size()));
  for (const uint64_t ns : reply.host_ns) batch.host_us.push_back(static_cast<double>(ns) / 1e3);
  for (const uint64_t ns : reply.inner_ns) {
    batch.latency_us.push_back(static_cast<double>(ns) / 1e3 / calls_a_time);
    inner_ns += std::min<uint64_t>(ns, uint64_t{1} << 50);
  }
  batch.inner = absl::Nanoseconds(inner_ns);
  batch.audit = reply.audit;
  batch.head_start = reply.head_start;
  batch.waited = reply.waited;
  batch.waited_for_others = reply.waited_for_others;
  batch.other_threads = reply.other_threads;
  const std::vector<CallFindings> findings = buffers_->Collect(calls, salt);
  batch.output_check = clock_.SteadyNow() - done;
  batch.ending = link_.AwaitStop();
  if (batch.ending.passed() && mode != Mode::kReference) {
    // Until it is stopped, a thread that is in the kernel, or that keeps others from stopping,
    // could finish what the clock no longer counts.
    if (const auto output = buffers_->ChangedSinceRemembered()) {
      batch.ending = {v1::OUTCOME_CHEAT,
                      absl::StrCat("output '", *output,
                                   "' changed after the calls had returned: a call may not leave "
                                   "work behind")};
    }
  }
  if (batch.ending.passed()) batch.ending = Judge(calls, findings, mode, oracles, late);
  if (batch.ending.passed() && !decoys.empty()) {
    if (const auto output = buffers_->FirstWritten(decoys, salt)) {
      batch.ending = {v1::OUTCOME_CHEAT, absl::StrCat("output '", *output,
                                                      "' of a call that was not made was written: "
                                                      "a call may only do its own work")};
    }
  }
  if (mode == Mode::kTimed && batch.ending.passed() && late == nullptr) {
    Sample(calls);
    last_call_ = batch.audit / static_cast<double>(std::max<size_t>(1, batch.calls));
    slowest_call_ = std::max(slowest_call_, last_call_);
  }
  if (wipes_outputs_) buffers_->Wipe(calls);
  return batch;
}

Ending WorkloadSession::RunWithLateInputs(const std::vector<Call>& calls, const BatchForm& form,
                                          const Limits& limits, bool* seen) {
  *seen = false;
  OneLateCall late(link_, *buffers_, clock_, calls, last_call_, &rng_);
  const Batch batch = Run(calls, Mode::kTimed, form, {}, limits, &late);
  if (!batch.ending.passed() || !late.in_time()) return batch.ending;
  *seen = true;
  KeepLate(late.call());
  return {};
}

void WorkloadSession::KeepLate(const Call& call) {
  if (std::optional<Suspect> suspect = MakeSuspect(call)) {
    suspect->late = true;
    late_.push_back(*std::move(suspect));
  }
}

WorkloadSession::TimesInTurn WorkloadSession::RunInTurn(const std::vector<Call>& calls,
                                                        const OracleEntries& oracles,
                                                        const Limits& limits, bool keeps_one) {
  TimesInTurn made;
  CallsInTurn turns(link_, *buffers_, clock_, calls, &rng_);
  const Batch batch = Run(calls, Mode::kTimed, BatchForm(), oracles, limits, &turns);
  made.ending = batch.ending;
  if (!made.ending.passed()) return made;
  if (turns.unfinished()) {
    made.ending = {v1::OUTCOME_CHEAT,
                   "a timed call returned before its outputs were completely written"};
    return made;
  }
  made.us = turns.TakeMicros();
  // In such a batch, too, a program must not be fast by being wrong.
  if (keeps_one && !made.us.empty() && !sampled_.empty()) {
    KeepLate(calls[static_cast<size_t>(rng_.NextBelow(calls.size()))]);
  }
  return made;
}

Ending WorkloadSession::RunWithCase(const std::shared_ptr<const WorkloadCase>& other,
                                    const std::vector<Call>& calls, const BatchForm& form,
                                    const OracleEntries& oracles, const Limits& limits) {
  // Nothing of it says anything about calls on this session's own inputs.
  WorkloadSession apart(link_, other, buffers_, clock_, rng_.Next());
  apart.mapped_sets_ = mapped_sets_;
  apart.slowest_call_ = slowest_call_;
  apart.wipes_outputs_ = wipes_outputs_;
  buffers_->SetCase(other);
  Ending ending = apart.Run(calls, Mode::kTimed, form, oracles, limits).ending;
  buffers_->SetCase(workload_);
  return ending;
}

absl::Duration WorkloadSession::CheckOutputs(const std::vector<Call>& calls) {
  const absl::Time start = clock_.SteadyNow();
  buffers_->Collect(calls, rng_.Next());
  return clock_.SteadyNow() - start;
}

std::vector<WorkloadSession::Call> WorkloadSession::PickDecoys(const std::vector<Call>& calls) {
  std::vector<bool> used(static_cast<size_t>(mapped_sets_));
  for (const Call& call : calls) used[static_cast<size_t>(call.set)] = true;
  std::vector<int> free;
  for (int set = 0; set < mapped_sets_; ++set) {
    if (!used[static_cast<size_t>(set)]) free.push_back(set);
  }
  std::vector<Call> decoys;
  while (!free.empty() && static_cast<int>(decoys.size()) < Decoys(mapped_sets_)) {
    const auto at = static_cast<size_t>(rng_.NextBelow(free.size()));
    decoys.push_back({free[at], kFirstDecoyVariant + decoys_made_++});
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return decoys;
}

WorkloadSession::Copies WorkloadSession::TimeCopies(const BatchForm& form, const Limits& limits) {
  Copies copies;
  if (!link_.returns_outputs()) return copies;
  buffers_->Prepare({{0, kFirstDecoyVariant + decoys_made_++}}, rng_.Next());
  v1::BatchRequest request;
  request.set_mode(form.mode);
  request.set_copies(true);
  request.add_set_order(0);
  const absl::Time enough = clock_.SteadyNow() + kCopiesTime;
  for (int i = 0; i < kMostCopies && clock_.SteadyNow() < enough; ++i) {
    // To make the results and keep them, then to copy them.
    for (const bool copied : {false, true}) {
      RunnerLink::BatchReply reply = link_.RunBatch(
          request, std::min(limits.deadline, clock_.SteadyNow() + limits.call_time + kBatchSlack));
      if (reply.ending.passed()) reply.ending = link_.AwaitStop();
      if (!reply.ending.passed()) {
        copies.ending = std::move(reply.ending);
        return copies;
      }
      if (!copied) continue;
      for (const uint64_t ns : reply.inner_ns) copies.us.push_back(static_cast<double>(ns) / 1e3);
    }
  }
  return copies;
}

int64_t WorkloadSession::FillForSuite(int sets) {
  const int64_t variant = kFirstDecoyVariant + decoys_made_++;
  std::vector<Call> filled;
  for (int set = 0; set < std::min(sets, mapped_sets_); ++set) filled.push_back({set, variant});
  buffers_->Prepare(filled, rng_.Next());
  return variant;
}

WorkloadSession::SuiteCalls WorkloadSession::RunForSuite(
    int calls, const v1::BatchRequest::Preparation& preparation, const Limits& limits) {
  v1::BatchRequest request;
  *request.mutable_preparation() = preparation;
  for (int i = 0; i < calls; ++i) request.add_set_order(0);
  return RunPrepared(request, limits);
}

WorkloadSession::SuiteCalls WorkloadSession::RunOnEachForSuite(int sets, const Limits& limits) {
  v1::BatchRequest request;
  std::vector<Call> calls;
  for (int set = 0; set < std::min(sets, mapped_sets_); ++set) {
    request.add_set_order(set);
    calls.push_back({set, 0});
  }
  SuiteCalls made = RunPrepared(request, limits);
  // On a GPU, Outputs reads outputs as they were collected.
  if (made.ending.passed()) buffers_->Collect(calls, rng_.Next());
  return made;
}

WorkloadSession::SuiteCalls WorkloadSession::RunPrepared(const v1::BatchRequest& given,
                                                         const Limits& limits) {
  SuiteCalls made;
  v1::BatchRequest request = given;
  request.set_mode(v1::BatchRequest::PREPARED);
  const absl::Time by =
      clock_.SteadyNow() + request.set_order_size() * (limits.call_time + kBatchSlack);
  RunnerLink::BatchReply reply = link_.RunBatch(request, std::min(limits.deadline, by));
  if (reply.ending.passed()) reply.ending = link_.AwaitStop();
  made.ending = std::move(reply.ending);
  if (!made.ending.passed()) return made;
  for (const uint64_t ns : reply.inner_ns) made.us.push_back(static_cast<double>(ns) / 1e3);
  return made;
}

WorkloadSession::KeptCall WorkloadSession::RunOnceForSuite(
    const v1::BatchRequest::Preparation& preparation, const Limits& limits) {
  const Call call = {0, kFirstDecoyVariant + decoys_made_++};
  const uint64_t salt = rng_.Next();
  buffers_->Prepare({call}, salt);
  KeptCall made;
  SuiteCalls calls = RunForSuite(1, preparation, limits);
  made.ending = std::move(calls.ending);
  if (!made.ending.passed()) return made;
  made.us = calls.us.empty() ? 0 : calls.us[0];
  const std::vector<CallFindings> findings = buffers_->Collect({call}, salt);
  if (!findings[0].unwritten.empty()) {
    made.ending = {v1::OUTCOME_INCORRECT, absl::StrCat("output '", findings[0].unwritten,
                                                       "' has elements that were never written")};
    return made;
  }
  made.kept = MakeSuspect(call);
  return made;
}

WorkloadSession::Recording WorkloadSession::MakeChain(const std::vector<int>& sets, int graph,
                                                      const Limits& limits) {
  v1::BatchRequest request;
  request.set_mode(v1::BatchRequest::CHAIN);
  request.set_graph(graph);
  request.mutable_set_order()->Add(sets.begin(), sets.end());
  RunnerLink::BatchReply reply =
      link_.RunBatch(request, std::min(limits.deadline, clock_.SteadyNow() + kMapTimeout));
  if (reply.ending.passed()) reply.ending = link_.AwaitStop();
  return {std::move(reply.ending), std::move(reply.not_captured)};
}

WorkloadSession::Recording WorkloadSession::Record(const std::vector<int>& sets, int graph,
                                                   const Limits& limits) {
  v1::BatchRequest request;
  request.set_mode(v1::BatchRequest::CAPTURE);
  request.mutable_set_order()->Add(sets.begin(), sets.end());
  RunnerLink::BatchReply reply = link_.RunBatch(
      request, std::min(limits.deadline, clock_.SteadyNow() + limits.call_time + kMapTimeout));
  if (reply.ending.passed()) reply.ending = link_.AwaitStop();
  if (!reply.ending.passed() || !reply.not_captured.empty()) {
    return {std::move(reply.ending), std::move(reply.not_captured)};
  }
  return MakeChain(sets, graph, limits);
}

Ending WorkloadSession::Judge(const std::vector<Call>& calls,
                              const std::vector<CallFindings>& findings, Mode mode,
                              const OracleEntries& oracles, const Deliveries* late) {
  for (const Call& call : calls) {
    const auto oracle = oracles.find(call.variant);
    if (workload_->judge() != nullptr || oracle == oracles.end() || !IsTrial(mode)) continue;
    if (!suite_verdict_.has_value()) suite_verdict_.emplace();
    AddTrial(FaultBySuite(*workload_, buffers_->Compare(call.set, *oracle->second->outputs)),
             &*suite_verdict_);
  }
  for (const CallFindings& found : findings) {
    if (found.unwritten.empty()) continue;
    if (mode == Mode::kTimed) {
      return {v1::OUTCOME_CHEAT, absl::StrCat("a timed call returned before output '",
                                              found.unwritten, "' was completely written")};
    }
    return {v1::OUTCOME_INCORRECT,
            absl::StrCat("output '", found.unwritten, "' has elements that were never written")};
  }
  for (const CallFindings& found : findings) {
    if (!found.broken_guard.empty()) return {v1::OUTCOME_OUT_OF_BOUNDS, found.broken_guard};
  }
  // Any one call of a long batch: a change helps only if it is made every time.
  const Call& watched = calls[static_cast<size_t>(rng_.NextBelow(calls.size()))];
  if (const auto input = buffers_->ChangedInput(watched)) {
    return {v1::OUTCOME_INPUT_MODIFIED,
            absl::StrCat("input '", *input, "' was modified; inputs are read-only")};
  }
  if (mode == Mode::kReference) return {};
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    // Where its inputs came too late, an honest program has answered to those that stood in for
    // them, which another call may have had.
    const bool in_doubt = late != nullptr && late->in_doubt() == i;
    const bool repeated = !in_doubt && IsRepeated(call, findings[i].fingerprint, mode);
    const auto oracle = oracles.find(call.variant);
    if (oracle == oracles.end()) continue;
    OutputComparison compared;
    if (workload_->judge() != nullptr) {
      const auto outputs = buffers_->Save(call.set);
      if (!outputs.ok()) {
        return {v1::OUTCOME_TASK_ERROR,
                absl::StrCat("outputs cannot be judged: ", outputs.status().message())};
      }
      compared =
          workload_->judge()->Judge(*workload_, call.variant, **outputs, *oracle->second->outputs);
      if (IsTrial(mode)) {
        if (!suite_verdict_.has_value()) suite_verdict_.emplace();
        AddTrial(compared.right ? "" : compared.message, &*suite_verdict_);
      }
      RequireFinite(*workload_, **outputs, *oracle->second->outputs, &compared);
    } else {
      compared = JudgeOutputs(*workload_, buffers_->Compare(call.set, *oracle->second->outputs));
    }
    ++compared_;
    if (correctness_.has_value()) {
      MergeCorrectness(compared.correctness, &*correctness_);
    } else {
      correctness_ = compared.correctness;
    }
    if (!compared.right && repeated && mode == Mode::kTimed) {
      return {v1::OUTCOME_CHEAT, absl::StrCat(kStaleOutput, compared.message)};
    }
    if (!compared.right) {
      return {v1::OUTCOME_INCORRECT,
              absl::StrCat(mode == Mode::kTimed ? "in a timed call: " : "", compared.message)};
    }
  }
  return {};
}

bool WorkloadSession::IsTrial(Mode mode) const {
  const int made = suite_verdict_.has_value() ? suite_verdict_->trials() : 0;
  return mode == Mode::kGate && made < SuiteTrials(*workload_);
}

// Equal outputs of calls with different inputs may be honest (few possible answers) or stale; only
// an oracle can tell.
bool WorkloadSession::IsRepeated(const Call& call, uint64_t fingerprint, Mode mode) {
  const auto [seen, fresh] = seen_outputs_.emplace(fingerprint, call.variant);
  if (fresh || seen->second == call.variant) return false;
  if (mode == Mode::kTimed && repeated_.size() < kMaxSuspects) {
    if (std::optional<Suspect> suspect = MakeSuspect(call)) {
      suspect->repeated = true;
      repeated_.push_back(*std::move(suspect));
    }
  }
  return true;
}

std::optional<WorkloadSession::Suspect> WorkloadSession::MakeSuspect(const Call& call) const {
  absl::StatusOr<std::shared_ptr<const SavedOutputs>> outputs = buffers_->Save(call.set);
  if (outputs.ok()) return Suspect{call.variant, *std::move(outputs)};
  LOG(ERROR) << "msg=\"cannot keep the outputs of a call for later\" error=\""
             << outputs.status().message() << "\"";
  return std::nullopt;
}

void WorkloadSession::CompareLater(int count) {
  sample_.Begin(count);
  sampled_.assign(static_cast<size_t>(count), std::nullopt);
}

void WorkloadSession::Sample(const std::vector<Call>& calls) {
  for (const CallSample::Choice& choice : sample_.Add(calls.size(), &rng_)) {
    sampled_[choice.place] = MakeSuspect(calls[choice.call]);
  }
}

std::vector<WorkloadSession::Suspect> WorkloadSession::suspects() const {
  std::vector<Suspect> suspects = repeated_;
  suspects.insert(suspects.end(), late_.begin(), late_.end());
  for (const std::optional<Suspect>& one : sampled_) {
    if (one.has_value()) suspects.push_back(*one);
  }
  return suspects;
}

absl::Time WorkloadSession::BatchDeadline(size_t calls, Mode mode, const Limits& limits) const {
  const auto count = static_cast<double>(calls);
  absl::Duration time = limits.call_time * count + kBatchSlack;
  if (mode == Mode::kTimed && slowest_call_ > absl::ZeroDuration()) {
    time = std::min(time, kHangFactor * count * slowest_call_ + kHangSlack);
  }
  return clock_.SteadyNow() + time;
}

}  // namespace ksearch
