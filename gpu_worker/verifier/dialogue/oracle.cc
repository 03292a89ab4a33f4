#include "gpu_worker/verifier/dialogue/oracle.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/compare.h"
#include "gpu_worker/verifier/tensors/output_judge.h"

namespace ksearch {
namespace {

absl::Status Broken(const WorkloadCase& workload, const Ending& ending) {
  return TaskFaultOf(ending, absl::StrCat("the reference fails on workload ", workload.uuid(), ": ",
                                          OwnWords(ending)));
}

absl::Status Broken(const WorkloadCase& workload, absl::string_view why) {
  return TaskFault(absl::StrCat("the reference fails on workload ", workload.uuid(), ": ", why));
}

std::string SeedText(const Seed& seed) { return absl::StrCat("/", seed.high, ".", seed.low, "/"); }

// Stands in the cache for a reference that gave the same answers twice.
std::string AgreementKey(const ProgramImage& reference, const WorkloadCase& workload) {
  return absl::StrCat("agrees/", reference.sha256(), "/", workload.key());
}

std::string CacheKey(const ProgramImage& reference, const WorkloadCase& workload, int64_t variant) {
  return absl::StrCat(reference.sha256(), "/", workload.key(), SeedText(workload.seed()), variant);
}

}  // namespace

absl::Duration ReferenceTime(const OracleEntries& oracles) {
  absl::Duration least = absl::InfiniteDuration();
  for (const auto& [variant, entry] : oracles) least = std::min(least, entry->reference_time);
  return least;
}

int LateComparisons(const OracleEntries& oracles, int sessions, Rng* rng) {
  const absl::Duration each = std::max(ReferenceTime(oracles), absl::Nanoseconds(1)) * sessions;
  const double wanted = std::clamp(absl::FDivDuration(kLateOracleTime, each), kMinLateComparisons,
                                   kMaxLateComparisons);
  return static_cast<int>(wanted + rng->NextDouble());
}

absl::StatusOr<OracleEntries> Oracle::Get(const ProgramImage& reference,
                                          const std::shared_ptr<const WorkloadCase>& workload,
                                          const std::vector<int64_t>& variants) {
  return FindOrAnswer(reference, workload, variants, true);
}

absl::StatusOr<OracleEntries> Oracle::GetOnce(const ProgramImage& reference,
                                              const std::shared_ptr<const WorkloadCase>& workload,
                                              const std::vector<int64_t>& variants) {
  return FindOrAnswer(reference, workload, variants, false);
}

absl::StatusOr<OracleEntries> Oracle::FindOrAnswer(
    const ProgramImage& reference, const std::shared_ptr<const WorkloadCase>& workload,
    const std::vector<int64_t>& variants, bool keep) {
  OracleEntries entries;
  std::vector<int64_t> missing;
  for (const int64_t variant : variants) {
    if (auto entry = cache_.Find(CacheKey(reference, *workload, variant))) {
      entries[variant] = std::move(entry);
    } else {
      missing.push_back(variant);
    }
  }
  if (!missing.empty()) RETURN_IF_ERROR(Answer(reference, workload, missing, keep, &entries));
  return entries;
}

absl::StatusOr<OracleEntries> Oracle::GetForTiming(
    const ProgramImage& reference, const std::shared_ptr<const WorkloadCase>& workload) {
  std::vector<int64_t> variants;
  for (int i = 0; i < kGateVariants; ++i) variants.push_back(i);
  ASSIGN_OR_RETURN(const OracleEntries gate, Get(reference, workload, variants));
  const double affordable = absl::FDivDuration(kOracleTimePerWorkload,
                                               std::max(ReferenceTime(gate), absl::Nanoseconds(1)));
  const int64_t room =
      std::clamp<int64_t>(MostAnswers(gate) - kGateVariants, kMinTimedOracles, kMaxTimedOracles);
  const int timed =
      static_cast<int>(std::clamp<double>(affordable, kMinTimedOracles, static_cast<double>(room)));
  for (int i = 0; i < timed; ++i) variants.push_back(kGateVariants + i);
  return Get(reference, workload, variants);
}

int64_t Oracle::MostAnswers(const OracleEntries& known) const {
  int64_t largest = 1;
  for (const auto& [variant, entry] : known) largest = std::max(largest, entry->outputs->bytes());
  return cache_.max_bytes() / largest;
}

void Oracle::Forget(const Seed& seed) {
  cache_.EraseIf(
      [text = SeedText(seed)](const std::string& key) { return absl::StrContains(key, text); });
}

absl::Status Oracle::Answer(const ProgramImage& reference,
                            const std::shared_ptr<const WorkloadCase>& workload,
                            const std::vector<int64_t>& variants, bool keep,
                            OracleEntries* entries) {
  WorkloadSession::Limits limits;
  limits.call_time = kTrustedCallTime;
  limits.deadline = clock_.SteadyNow() + absl::Minutes(30);
  if (link_ == nullptr || linked_program_ != reference.sha256()) {
    link_.reset();
    ASSIGN_OR_RETURN(link_, starter_.Start(reference, RunnerStarter::TrustedLimits()));
    linked_program_ = reference.sha256();
    const absl::Duration load_time = std::max(kTrustedCallTime, reference.load_time());
    if (Ending loaded = link_->Load(reference, clock_.SteadyNow() + load_time); !loaded.passed()) {
      link_.reset();
      return Broken(*workload, loaded);
    }
  }
  ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers, allocate_(workload, 1));
  WorkloadSession session(*link_, workload, buffers, clock_, workload->seed().low);
  if (Ending mapped = session.Map(1, limits); !mapped.passed()) {
    link_.reset();
    return Broken(*workload, mapped);
  }
  for (const int64_t variant : variants) {
    const WorkloadSession::Batch batch =
        session.Run({{0, variant}}, WorkloadSession::Mode::kReference, {}, limits);
    if (!batch.ending.passed()) {
      link_.reset();
      return Broken(*workload, batch.ending);
    }
    auto entry = std::make_shared<OracleEntry>();
    absl::StatusOr<std::shared_ptr<const SavedOutputs>> outputs = session.Outputs(0);
    if (absl::IsResourceExhausted(outputs.status())) {
      DropCache();
      outputs = session.Outputs(0);
    }
    ASSIGN_OR_RETURN(entry->outputs, std::move(outputs));
    entry->reference_time = batch.audit;
    if (const std::string name = OutputWithNan(*workload, *entry->outputs); !name.empty()) {
      return Broken(*workload, absl::StrCat("output '", name, "' holds a NaN"));
    }
    if (workload->judge() != nullptr) {
      const OutputComparison judged =
          workload->judge()->Judge(*workload, variant, *entry->outputs, *entry->outputs);
      if (!judged.right) return Broken(*workload, judged.message);
    }
    // Once per workload: a reference that disagrees with itself does so at any time. If several
    // answers are right, it may give any.
    if (workload->judge() == nullptr &&
        cache_.Find(AgreementKey(reference, *workload)) == nullptr) {
      const WorkloadSession::Batch again =
          session.Run({{0, variant}}, WorkloadSession::Mode::kReference, {}, limits);
      if (!again.ending.passed()) {
        link_.reset();
        return Broken(*workload, again.ending);
      }
      outputs = session.Outputs(0);
      if (absl::IsResourceExhausted(outputs.status())) {
        DropCache();
        outputs = session.Outputs(0);
      }
      RETURN_IF_ERROR(outputs.status());
      const OutputComparison compared =
          JudgeOutputs(*workload, (*outputs)->CompareWith(*workload, *entry->outputs));
      if (!compared.right) {
        return Broken(*workload,
                      absl::StrCat("it disagrees with itself on equal inputs: ", compared.message));
      }
      cache_.Insert(AgreementKey(reference, *workload), std::make_shared<OracleEntry>(),
                    /*bytes=*/0);
    }
    if (keep) {
      cache_.Insert(CacheKey(reference, *workload, variant), entry, entry->outputs->bytes());
    }
    (*entries)[variant] = std::move(entry);
  }
  return absl::OkStatus();
}

}  // namespace ksearch
