#include "gpu_worker/verifier/workload_session.h"

#include <algorithm>
#include <cstdint>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/harness_constants.h"

namespace ksearch {
namespace {

// Enough of each output to tell two calls apart.
constexpr int64_t kFingerprintBytes = 512;
// A stale candidate shows it at every opportunity.
constexpr size_t kMaxSuspects = 2;
// Of a GO, beyond its calls: preparation is done, so this is scheduling only.
constexpr absl::Duration kGoSlack = absl::Milliseconds(500);
constexpr absl::Duration kMapTimeout = absl::Seconds(30);

size_t Fingerprint(const OutputBytes& outputs) {
  size_t hash = 0;
  for (const std::vector<std::byte>& output : outputs) {
    const size_t bytes = std::min<size_t>(output.size(), static_cast<size_t>(kFingerprintBytes));
    hash =
        absl::HashOf(hash, absl::string_view(reinterpret_cast<const char*>(output.data()), bytes));
  }
  return hash;
}

}  // namespace

Ending WorkloadSession::Map(int sets, const Limits& limits) {
  return link_.Map(buffers_->Map(sets),
                   std::min(limits.deadline, clock_.SteadyNow() + kMapTimeout));
}

WorkloadSession::Batch WorkloadSession::Run(const std::vector<Call>& calls, Mode mode,
                                            const OracleEntries& oracles, const Limits& limits) {
  const uint64_t salt = rng_.Next();
  std::vector<int> order;
  for (const Call& call : calls) {
    buffers_->Prepare(call.set, call.content, salt);
    order.push_back(call.set);
  }
  const absl::Time go_deadline =
      clock_.SteadyNow() + limits.call_time * static_cast<double>(calls.size()) + kGoSlack;
  RunnerLink::GoReply reply = link_.Go(order, std::min(limits.deadline, go_deadline));
  Batch batch;
  batch.ending = std::move(reply.ending);
  if (batch.ending.outcome == v1::OUTCOME_TIMEOUT && limits.deadline < go_deadline) {
    batch.ending.message = "the whole job took longer than limits.total_time";
  }
  if (!batch.ending.passed()) return batch;
  uint64_t inner_ns = 0;
  for (const uint64_t ns : reply.inner_ns) {
    batch.latency_us.push_back(static_cast<double>(ns) / 1e3);
    inner_ns += std::min<uint64_t>(ns, uint64_t{1} << 50);
  }
  batch.inner = absl::Nanoseconds(inner_ns);
  batch.audit = reply.audit;
  batch.waited = reply.waited;
  batch.ending = Judge(calls, salt, mode, oracles);
  return batch;
}

Ending WorkloadSession::Judge(const std::vector<Call>& calls, uint64_t salt, Mode mode,
                              const OracleEntries& oracles) {
  // Latest call first: whoever still works on it after "done" has had the least time.
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    if (const auto output = buffers_->UnwrittenOutput(call->set, salt)) {
      if (mode == Mode::kTimed) {
        return {v1::OUTCOME_CHEAT, absl::StrCat("a timed call returned before output '", *output,
                                                "' was completely written")};
      }
      return {v1::OUTCOME_INCORRECT,
              absl::StrCat("output '", *output, "' has elements that were never written")};
    }
  }
  for (const Call& call : calls) {
    if (const auto guard = buffers_->BrokenGuard(call.set)) {
      return {v1::OUTCOME_OUT_OF_BOUNDS, *guard};
    }
  }
  // Of a long batch any one: a change helps only if it is made every time.
  const Call& watched = calls[static_cast<size_t>(rng_.NextBelow(calls.size()))];
  if (const auto input = buffers_->ChangedInput(watched.set, watched.content)) {
    return {v1::OUTCOME_INPUT_MODIFIED,
            absl::StrCat("input '", *input, "' was modified; inputs are read-only")};
  }
  if (mode == Mode::kReference) return {};
  for (const Call& call : calls) {
    const bool repeated = IsRepeated(call, mode);
    const auto oracle = oracles.find(call.content);
    if (oracle == oracles.end()) continue;
    const OutputComparison compared =
        CompareOutputs(*workload_, Outputs(call.set), oracle->second->outputs);
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

// Equal outputs of calls with different inputs may be honest (few possible answers) or stale; only
// an oracle can tell.
bool WorkloadSession::IsRepeated(const Call& call, Mode mode) {
  const size_t fingerprint = Fingerprint(buffers_->Outputs(call.set, kFingerprintBytes));
  const auto [seen, fresh] = seen_outputs_.emplace(fingerprint, call.content);
  if (fresh || seen->second == call.content) return false;
  if (mode == Mode::kTimed && suspects_.size() < kMaxSuspects) {
    suspects_.push_back({call.content, Outputs(call.set)});
  }
  return true;
}

}  // namespace ksearch
