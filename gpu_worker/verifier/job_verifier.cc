#include "gpu_worker/verifier/job_verifier.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/measure_defaults.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/task_fault.h"
#include "common/textproto.h"
#include "gpu_worker/verifier/checker.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"
#include "gpu_worker/verifier/dialogue/trusted_ending.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/instruments/candidate_profile.h"
#include "gpu_worker/verifier/instruments/second_witness.h"
#include "gpu_worker/verifier/tensors/output_judge.h"
#include "gpu_worker/verifier/tensors/suite_verdict.h"
#include "gpu_worker/verifier/timing/checked_suite_time.h"
#include "gpu_worker/verifier/timing/confirmation.h"
#include "gpu_worker/verifier/timing/device/roofline.h"
#include "gpu_worker/verifier/timing/sampler.h"
#include "gpu_worker/verifier/timing/statistics.h"
#include "gpu_worker/verifier/timing/suite_time.h"
#include "gpu_worker/verifier/timing/workload_timing.h"
#include "gpu_worker/verifier/trusted_programs.h"
#include "gpu_worker/verifier/warm/warm_programs.h"

namespace ksearch {
namespace {

// A screening compares calls afterwards only with the likelihood that keeps the mean cost of
// starting the reference for it within this time: a GPU's runner takes longer to start than all
// those calls.
constexpr absl::Duration kLateStartTime = absl::Milliseconds(100);
// Sets of a workload that are held at the same time, whatever is done with it: the reference's and
// another program's.
constexpr int kLeastSetsInMemory = 2;

void BlameForDeviceError(v1::Verdict* verdict) {
  verdict->set_message(
      CleanText(absl::StrCat("the program reported a device error which the device does not know "
                             "of: ",
                             verdict->message()),
                kMaxMessageBytes));
}

std::string BaselineKey(const ProgramImage& baseline, const WorkloadCase& workload) {
  return absl::StrCat(baseline.sha256(), "/", workload.key());
}

v1::Verdict TaskErrorFor(const absl::Status& fault) {
  v1::Verdict verdict;
  verdict.set_outcome(v1::OUTCOME_TASK_ERROR);
  verdict.set_message(CleanText(fault.message(), kMaxMessageBytes));
  verdict.set_at_fault(AtFault(fault));
  return verdict;
}

// Jobs whose results have times; the others need fewer oracles.
bool IsTimed(v1::JobKind kind) {
  return kind != v1::JOB_KIND_CHECK && kind != v1::JOB_KIND_EXAMINE;
}

bool TimesBaseline(v1::JobKind kind) {
  return kind == v1::JOB_KIND_SCREEN || kind == v1::JOB_KIND_BASELINE;
}

// A baseline that serves as a rival is the task's own.
absl::Status Blame(const absl::Status& status, const v1::Rival& rival) {
  return IsTaskFault(status) && rival.has_sources() ? FaultOfRival(status, rival.rival_id())
                                                    : status;
}

// What the machine never has is no matter of trying again.
absl::Status CheckFitsMachine(const WorkloadCase& workload) {
  const int64_t machine_bytes = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (workload.footprint_bytes() <= machine_bytes / kLeastSetsInMemory) return absl::OkStatus();
  return TaskFault(absl::StrCat("workload ", workload.uuid(), ": its tensors take ",
                                workload.footprint_bytes() >> 20, " MiB, and ", kLeastSetsInMemory,
                                " sets of them do not fit into this machine's ",
                                machine_bytes >> 20, " MiB; make its axes smaller"));
}

std::vector<int64_t> TimedOracles(const OracleEntries& oracles) {
  std::vector<int64_t> variants;
  for (const auto& [variant, entry] : oracles) {
    if (variant >= kGateVariants && variant < kFirstFreshVariant) variants.push_back(variant);
  }
  std::sort(variants.begin(), variants.end());
  return variants;
}

}  // namespace

// A device that fails makes anything of a verdict.
absl::StatusOr<v1::Verdict> JobVerifier::Verify(const v1::VerifierRequest& given) {
  bench_.UseBlobs({given.blobs().begin(), given.blobs().end()});
  if (given.has_reference()) {
    bench_.input_maker().Use(given.reference());
    bench_.judge().Use(given.reference());
  }
  v1::VerifierRequest request;
  v1::Verdict warmed;
  absl::Status warm;
  const auto begins = [this] { Report("warm", 0, 1); };
  for (int tries = 1; tries <= kUnexplainedTries; ++tries) {
    request = given;
    warm = WarmPrograms(bench_, begins, &request, &warmed);
    if (!IsUnexplained(warm)) break;
    RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after ", warm.message())));
  }
  if (IsTaskFault(warm)) return TaskErrorFor(warm);
  RETURN_IF_ERROR(warm);
  if (warmed.outcome() != v1::OUTCOME_PASSED) return warmed;
  Tries tries;
  absl::StatusOr<v1::Verdict> verdict = absl::UnknownError("not judged");
  // A program that kills itself, or makes up device errors, does so every time.
  while (true) {
    tries.again.clear();
    ++tries.begun;
    verdict = Judge(request, &tries);
    // Programs have seen other inputs than they should have.
    if (const absl::Status made = bench_.input_maker().fault(); !made.ok()) {
      verdict = made;
      bench_.input_maker().Use(given.reference());
    }
    if (const absl::Status judged = bench_.judge().fault(); !judged.ok()) {
      verdict = judged;
      bench_.judge().Use(given.reference());
    }
    if (IsTaskFault(verdict.status())) {
      const absl::Status fault = verdict.status();
      if (IsUnexplained(fault) && tries.begun < kUnexplainedTries) {
        RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after ", fault.message())));
        continue;
      }
      verdict = TaskErrorFor(fault);
      break;
    }
    if (verdict.ok() && !tries.machine.ok()) verdict = tries.machine;
    if (!verdict.ok() || tries.again.empty()) break;
    // A candidate can have its own process say anything: the device is asked itself.
    if (tries.device_error) {
      RETURN_IF_ERROR(bench_.AskDevice(absl::StrCat("after a runner said '", tries.again, "'")));
    }
    if (tries.begun == kUnexplainedTries || bench_.clock().SteadyNow() >= *tries.deadline) {
      if (tries.device_error) BlameForDeviceError(&*verdict);
      break;
    }
    LOG(WARNING) << "msg=\"a runner ended for no reason of its own, trying again\" candidate="
                 << request.candidate().id() << " error=\"" << tries.again << "\"";
  }
  RETURN_IF_ERROR(bench_.DeviceHealth());
  if (verdict.ok()) *verdict->mutable_kernels() = std::move(*warmed.mutable_kernels());
  if (verdict.ok() && verdict->outcome() != v1::OUTCOME_PASSED) {
    // Whatever was killed or failed there: the next job must find the device alive.
    RETURN_IF_ERROR(bench_.AskDevice("after a candidate failed"));
  }
  return verdict;
}

absl::StatusOr<v1::Verdict> JobVerifier::Judge(const v1::VerifierRequest& request, Tries* tries) {
  if (request.job().kind() == v1::JOB_KIND_PROFILE) {
    bench_.starter().Settle();
    return CarryOutProfile(bench_, request, [this] { Report("profile", 0, 1); });
  }
  Job job;
  job.request = &request;
  job.plan = WithDefaults(request.job().plan(), request.task().device());
  const Clock& clock = bench_.clock();
  // Nobody asks for these again; kept, they would push out the answers that every screening needs.
  const absl::Cleanup forget = [&] {
    if (job.own_seed.has_value()) bench_.oracle().Forget(*job.own_seed);
  };
  const absl::Time prepare_start = clock.SteadyNow();
  job.trusted_deadline = prepare_start + tries->trusted_time;
  const absl::Cleanup count_time = [&] {
    if (!job.trusted_programs_done) tries->trusted_time -= clock.SteadyNow() - prepare_start;
  };
  const v1::Limits limits = WithDefaults(request.job().limits());
  const bool judged = request.job().kind() != v1::JOB_KIND_BASELINE;
  if (judged) bench_.starter().Foresee(request.candidate().runner(), limits);
  RETURN_IF_ERROR(Prepare(&job));
  RETURN_IF_ERROR(TryTrusted(&job));
  // Nothing of a start may fall into what is timed; but what starts beside a GPU's screening is off
  // the device, as the compilers that work beside it are.
  const bool starts_beside = bench_.gpu() != nullptr && request.job().kind() == v1::JOB_KIND_SCREEN;
  if (!starts_beside) bench_.starter().Settle();
  const absl::Time baseline_start = clock.SteadyNow();
  // Before the candidate is there: it could slow the baseline down.
  if (TimesBaseline(request.job().kind())) RETURN_IF_ERROR(TimeBaseline(&job));
  job.trusted_programs_done = true;
  job.limits.call_time = FromProto(limits.call_time());
  // All tries have the time of one; preparing another try counts, too.
  if (!tries->deadline.has_value()) {
    tries->deadline = clock.SteadyNow() + FromProto(limits.total_time());
  }
  job.limits.deadline = *tries->deadline;
  job.verdict.set_outcome(v1::OUTCOME_PASSED);
  *job.verdict.mutable_isolation() = bench_.starter().isolation();
  if (IsTimed(request.job().kind())) {
    v1::DevicePeaks peaks = bench_.Peaks();
    if (peaks.ByteSizeLong() > 0) *job.verdict.mutable_peaks() = std::move(peaks);
  }
  if (request.job().kind() == v1::JOB_KIND_BASELINE) {
    *job.verdict.mutable_measure_time() = ToProto(clock.SteadyNow() - baseline_start);
    ReportBaselines(&job);
    return std::move(job.verdict);
  }
  if (clock.SteadyNow() >= job.limits.deadline) {
    Fail({v1::OUTCOME_TIMEOUT, "the whole job took longer than limits.total_time"}, &job);
    return std::move(job.verdict);
  }

  if (bench_.gpu() != nullptr && request.job().kind() == v1::JOB_KIND_SCREEN) {
    ASSIGN_OR_RETURN(job.alone, bench_.IdlePacesNow());
  }
  const absl::Time check_start = clock.SteadyNow();
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> link,
                   bench_.starter().Start(*job.candidate, limits));
  if (starts_beside) bench_.starter().FillReserve();
  const absl::Time load_start = clock.SteadyNow();
  job.reference_start = bench_.starter().StartTime(*job.reference, RunnerStarter::TrustedLimits(),
                                                   load_start - check_start);
  job.verdict.mutable_isolation()->set_tight_seccomp(link->tight_filter());
  job.verdict.mutable_isolation()->set_allow_list(link->allow_list());
  if (Ending loaded =
          link->Load(*job.candidate,
                     std::min(job.limits.deadline, clock.SteadyNow() + job.candidate->load_time()));
      !loaded.passed()) {
    Fail(loaded, &job);
  } else {
    RETURN_IF_ERROR(Check(*link, &job));
    if (job.verdict.outcome() == v1::OUTCOME_PASSED) RETURN_IF_ERROR(CheckHidden(*link, &job));
  }
  const absl::Time measure_start = clock.SteadyNow();
  *job.verdict.mutable_check_time() = ToProto(measure_start - check_start);
  if (job.verdict.outcome() == v1::OUTCOME_PASSED) {
    if (request.job().kind() == v1::JOB_KIND_SCREEN) {
      RETURN_IF_ERROR(Screen(&link, &job));
    } else if (request.job().kind() == v1::JOB_KIND_CONFIRM) {
      job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
      RETURN_IF_ERROR(Sanitize(&job));
      if (job.verdict.outcome() == v1::OUTCOME_PASSED) RETURN_IF_ERROR(Confirm(&job));
    } else if (request.job().kind() == v1::JOB_KIND_EXAMINE) {
      job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
      RETURN_IF_ERROR(Sanitize(&job));
    }
  }
  const absl::Time measure_end = clock.SteadyNow();
  *job.verdict.mutable_measure_time() = ToProto(measure_end - measure_start);
  LOG(INFO) << "msg=\"stages\" kind=" << v1::JobKind_Name(request.job().kind())
            << " oracle=" << baseline_start - prepare_start
            << " baseline=" << check_start - baseline_start << " start=" << load_start - check_start
            << " check=" << measure_start - load_start
            << " measure=" << measure_end - measure_start;
  if (job.verdict.stderr_excerpt().empty()) {
    job.verdict.set_stderr_excerpt(link->EndAndReadOutput(kMaxStderrBytes));
  }
  for (v1::WorkloadResult& result : job.results) {
    if (!result.workload_uuid().empty()) *job.verdict.add_workloads() = std::move(result);
  }
  tries->deadline = job.limits.deadline;
  tries->again = std::move(job.unexplained);
  tries->machine = std::move(job.machine);
  tries->device_error = job.device_error;
  return std::move(job.verdict);
}

absl::Status JobVerifier::Prepare(Job* job) {
  const v1::VerifierRequest& request = *job->request;
  if (request.job().kind() == v1::JOB_KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError("job.kind is not set");
  }
  if (request.job().workload_uuids().empty()) {
    return absl::InvalidArgumentError("job.workload_uuids is empty");
  }
  if (request.job().kind() == v1::JOB_KIND_BASELINE && !request.has_baseline()) {
    return absl::InvalidArgumentError("job.kind is BASELINE, but the task has no baseline");
  }
  if (request.job().rivals_size() != request.rivals_size()) {
    return absl::InvalidArgumentError("job.rivals and rivals differ in number");
  }
  ASSIGN_OR_RETURN(ProgramImage candidate, ProgramImage::Open(request.candidate()));
  ASSIGN_OR_RETURN(ProgramImage reference, ProgramImage::Open(request.reference()));
  job->candidate.emplace(std::move(candidate));
  job->reference.emplace(std::move(reference));
  if (request.has_baseline()) {
    ASSIGN_OR_RETURN(ProgramImage baseline, ProgramImage::Open(request.baseline()));
    job->baseline.emplace(std::move(baseline));
  }
  // What was used to find a candidate must not be used to confirm it.
  const bool confirm = request.job().kind() == v1::JOB_KIND_CONFIRM;
  if (confirm) job->own_seed = Seed::Fresh();
  const Seed seed = confirm ? *job->own_seed : bench_.DrawScreeningSeed();
  const bool timed = IsTimed(request.job().kind());
  for (const std::string& uuid : request.job().workload_uuids()) {
    Report("prepare", job->cases.size(), static_cast<size_t>(request.job().workload_uuids_size()));
    ASSIGN_OR_RETURN(const v1::Workload* workload, FindWorkload(request.task(), uuid));
    auto drawn = bench_.Case(request.task(), request.task_sha256(), *workload, seed);
    // No other worker could draw it either.
    if (absl::IsInvalidArgument(drawn.status())) return TaskFault(drawn.status().message());
    ASSIGN_OR_RETURN(CasePtr made, std::move(drawn));
    if (bench_.gpu() == nullptr) RETURN_IF_ERROR(CheckFitsMachine(*made));
    RETURN_IF_ERROR(CheckTrustedTime(bench_.clock(), job->trusted_deadline));
    OracleEntries oracles;
    if (timed) {
      ASSIGN_OR_RETURN(oracles, bench_.oracle().GetForTiming(*job->reference, made));
    } else {
      std::vector<int64_t> gate(kGateVariants);
      std::iota(gate.begin(), gate.end(), 0);
      ASSIGN_OR_RETURN(oracles, bench_.oracle().Get(*job->reference, made, gate));
    }
    OracleEntries trials;
    if (request.job().kind() != v1::JOB_KIND_BASELINE) {
      ASSIGN_OR_RETURN(trials, AnswerTrials(*job->reference, made, oracles));
    }
    job->cases.push_back(std::move(made));
    job->oracles.push_back(std::move(oracles));
    job->trials.push_back(std::move(trials));
  }
  if (confirm) {
    RETURN_IF_ERROR(CheckTrustedTime(bench_.clock(), job->trusted_deadline));
    ASSIGN_OR_RETURN(job->hidden, AnswerHiddenCases(bench_, request.task(), request.task_sha256(),
                                                    *job->reference, job->cases, job->oracles));
  }
  bench_.oracle().Rest();
  job->results.resize(job->cases.size());
  return absl::OkStatus();
}

absl::StatusOr<OracleEntries> JobVerifier::AnswerTrials(const ProgramImage& reference,
                                                        const CasePtr& workload,
                                                        const OracleEntries& oracles) {
  // Where the task's own program judges, there is nothing to compare with.
  const bool compares = workload->suite_rule().rule() != v1::SuiteRule::CHECKER;
  const int64_t trials = compares ? SuiteTrials(*workload) : 0;
  const absl::Duration each = std::max(ReferenceTime(oracles), absl::Nanoseconds(1));
  const double affordable = absl::FDivDuration(kTrialTimePerWorkload, each);
  const int64_t room = bench_.oracle().MostAnswers(oracles) - static_cast<int64_t>(oracles.size());
  std::vector<int64_t> variants;
  for (int64_t trial = kGateVariants; trial < trials; ++trial) {
    const auto next = static_cast<int64_t>(variants.size()) + 1;
    if (static_cast<double>(next) > affordable || next > room) break;
    variants.push_back(kFirstTrialVariant + trial);
  }
  if (variants.empty()) return OracleEntries();
  return bench_.oracle().Get(reference, workload, variants);
}

absl::Status JobVerifier::TryTrusted(Job* job) {
  const v1::VerifierRequest& request = *job->request;
  if (TimesBaseline(request.job().kind()) && job->baseline.has_value()) {
    // As often as it is timed anew.
    const absl::Time now = bench_.clock().SteadyNow();
    const bool timed = std::all_of(job->cases.begin(), job->cases.end(), [&](const CasePtr& each) {
      return bench_.baselines().Find(BaselineKey(*job->baseline, *each), now).has_value();
    });
    if (!timed) {
      RETURN_IF_ERROR(TryTrustedProgram(bench_, *job->baseline, "the baseline", true, job->cases,
                                        job->oracles, job->trusted_deadline));
    }
  }
  for (int r = 0; r < request.rivals_size(); ++r) {
    ASSIGN_OR_RETURN(const ProgramImage rival, ProgramImage::Open(request.rivals(r)));
    RETURN_IF_ERROR(Blame(TryTrustedProgram(bench_, rival, absl::StrCat("rival '", rival.id(), "'"),
                                            !request.job().rivals(r).has_sources(), job->cases,
                                            job->oracles, job->trusted_deadline),
                          request.job().rivals(r)));
  }
  return absl::OkStatus();
}

absl::Status JobVerifier::Check(RunnerLink& link, Job* job) {
  size_t done = 0;
  for (const size_t i : SmallestFirst(*job)) {
    Report("check", done++, job->cases.size());
    Ending ending;
    ASSIGN_OR_RETURN(job->results[i], CheckWorkload(bench_, link, job->cases[i], job->oracles[i],
                                                    job->trials[i], job->limits, &ending));
    if (ending.passed()) continue;
    // The first is the job's.
    if (job->verdict.outcome() == v1::OUTCOME_PASSED) FailWorkload(ending, i, job);
    if (!job->plan.every_workload() || !IsVerdictOnACall(ending)) return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status JobVerifier::CheckHidden(RunnerLink& link, Job* job) {
  size_t done = 0;
  // On processors, like those of the comparison, a process that has seen no gate.
  std::unique_ptr<RunnerLink> ungated;
  for (const AnsweredHiddenCase& hidden : job->hidden) {
    Report("hidden", done++, job->hidden.size());
    const bool like_timed = IsLikeTimed(bench_, hidden);
    Ending ending;
    if (like_timed && ungated == nullptr) {
      ASSIGN_OR_RETURN(ungated, bench_.starter().Start(*job->candidate,
                                                       WithDefaults(job->request->job().limits())));
      ending = ungated->Load(
          *job->candidate,
          std::min(job->limits.deadline, bench_.clock().SteadyNow() + job->candidate->load_time()));
    }
    if (ending.passed()) {
      ASSIGN_OR_RETURN(ending,
                       CheckHiddenCase(bench_, like_timed ? *ungated : link, hidden, job->limits));
    }
    if (ending.passed()) continue;
    FailWorkload(ending, hidden.index, job);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status JobVerifier::TimeBaseline(Job* job) {
  if (!job->baseline.has_value()) return absl::OkStatus();
  const Clock& clock = bench_.clock();
  const WorkloadSession::Limits limits = {kTrustedCallTime, absl::InfiniteFuture()};
  std::unique_ptr<RunnerLink> link;
  bool first = true, allow_graphs = true;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    const CasePtr& workload = job->cases[i];
    const std::string key = BaselineKey(*job->baseline, *workload);
    std::optional<BaselineCache::Timing> timing = bench_.baselines().Find(key, clock.SteadyNow());
    if (!timing.has_value()) {
      RETURN_IF_ERROR(CheckTrustedTime(clock, job->trusted_deadline));
      Report("baseline", i, job->cases.size());
      const auto broken = [&](const Ending& ending) {
        return TaskFaultOf(ending, absl::StrCat("the baseline fails on workload ", workload->uuid(),
                                                ": ", OwnWords(ending)));
      };
      if (link == nullptr) {
        ASSIGN_OR_RETURN(link,
                         bench_.starter().Start(*job->baseline, RunnerStarter::TrustedLimits()));
        if (Ending loaded =
                link->Load(*job->baseline, clock.SteadyNow() + job->baseline->load_time());
            !loaded.passed()) {
          return broken(loaded);
        }
      }
      TimingRole role;
      role.trusted = true;
      role.first_workload = first;
      role.allow_graphs = allow_graphs;
      first = false;
      const int sets = bench_.Sets(*workload, 2);
      ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                       bench_.Buffers(workload, sets, "baseline"));
      WorkloadSession session(*link, workload, std::move(buffers), clock, RandomUint64());
      if (Ending mapped = session.Map(sets, limits); !mapped.passed()) return broken(mapped);
      CallDealer dealer(sets, TimedOracles(job->oracles[i]), Rng(RandomUint64()));
      ASSIGN_OR_RETURN(WorkloadTiming timed, TimeWorkload(bench_, session, dealer, job->oracles[i],
                                                          job->plan, limits, role));
      if (timed.spoiled) {
        allow_graphs = false;
        first = true;
        link.reset();
        --i;
        continue;
      }
      if (!timed.ending.passed()) return broken(timed.ending);
      timing = BaselineCache::Timing{timed.facts.candidate(), clock.SteadyNow()};
      bench_.baselines().Store(key, *timing);
    }
    job->baselines.push_back(*std::move(timing));
  }
  return absl::OkStatus();
}

void JobVerifier::ReportBaselines(Job* job) {
  const absl::Time now = bench_.clock().SteadyNow();
  for (size_t i = 0; i < job->cases.size(); ++i) {
    v1::WorkloadResult* result = job->verdict.add_workloads();
    result->set_workload_uuid(job->cases[i]->uuid());
    result->set_outcome(v1::OUTCOME_PASSED);
    *result->mutable_baseline() = job->baselines[i].samples;
    *result->mutable_baseline_age() = ToProto(now - job->baselines[i].measured_at);
    result->set_floor_us(Floor(*job, i));
  }
}

absl::Status JobVerifier::Screen(std::unique_ptr<RunnerLink>* link, Job* job) {
  const Clock& clock = bench_.clock();
  TimingRole role;
  role.alone = job->alone;
  size_t slow = 0;
  Suspects suspects;
  Rng rng(RandomUint64());
  const bool compares_later = rng.NextDouble() * job->reference_start < kLateStartTime;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    Report("measure", i, job->cases.size());
    const CasePtr& workload = job->cases[i];
    v1::WorkloadResult& result = job->results[i];
    if (!job->baselines.empty()) {
      role.slow_us = job->plan.early_stop_ratio() * job->baselines[i].samples.median_us();
    }
    role.floor_us = Floor(*job, i);
    role.late_comparisons = compares_later ? LateComparisons(job->oracles[i], 1, &rng) : 0;
    const int sets = bench_.Sets(*workload, 2);
    ASSIGN_OR_RETURN(std::shared_ptr<BufferSets> buffers,
                     bench_.Buffers(workload, sets, "candidate"));
    WorkloadSession session(**link, workload, std::move(buffers), clock, RandomUint64());
    Ending ending = session.Map(sets, job->limits);
    WorkloadTiming timed;
    if (ending.passed()) {
      CallDealer dealer(sets, TimedOracles(job->oracles[i]), Rng(RandomUint64()));
      ASSIGN_OR_RETURN(timed, TimeWorkload(bench_, session, dealer, job->oracles[i], job->plan,
                                           job->limits, role));
      ending = timed.ending;
    }
    if (timed.spoiled && ending.passed()) {
      role.allow_graphs = false;
      role.first_workload = true;
      link->reset();
      ASSIGN_OR_RETURN(*link, bench_.starter().Start(*job->candidate,
                                                     WithDefaults(job->request->job().limits())));
      ending = (*link)->Load(
          *job->candidate,
          std::min(job->limits.deadline, clock.SteadyNow() + job->candidate->load_time()));
      if (ending.passed()) {
        --i;
        continue;
      }
    }
    role.first_workload = false;
    if (ending.passed()) {
      WorkloadSession::BatchForm form;
      if (bench_.gpu() != nullptr) form.mode = v1::BatchRequest::EVENTS;
      WorkloadSession::Copies copies = session.TimeCopies(form, job->limits);
      ending = std::move(copies.ending);
      if (!copies.us.empty()) timed.facts.set_copy_us(Median(std::move(copies.us)));
    }
    if (ending.passed() && job->plan.suite_clock() && job->request->task().has_suite_clock()) {
      ASSIGN_OR_RETURN(ending, TimeBySuite(session, sets, i, job));
    }
    for (WorkloadSession::Suspect& suspect : session.suspects()) {
      suspects.emplace_back(i, std::move(suspect));
    }
    result.MergeFrom(timed.facts);
    result.set_buffer_sets(sets);
    if (session.correctness().has_value()) {
      MergeCorrectness(*session.correctness(), result.mutable_correctness());
    }
    if (!ending.passed()) {
      FailWorkload(ending, i, job);
      return absl::OkStatus();
    }
    if (!job->baselines.empty()) {
      *result.mutable_baseline() = job->baselines[i].samples;
      *result.mutable_baseline_age() = ToProto(clock.SteadyNow() - job->baselines[i].measured_at);
    }
    if (timed.slow) ++slow;
    role.coarse = 2 * slow >= job->cases.size() && slow > 0;
  }
  job->verdict.set_stderr_excerpt((*link)->EndAndReadOutput(kMaxStderrBytes));
  return JudgeSuspects(suspects, job);
}

absl::StatusOr<Ending> JobVerifier::TimeBySuite(WorkloadSession& session, int sets, size_t index,
                                                Job* job) {
  const v1::SuiteClock& clock = job->request->task().suite_clock();
  v1::WorkloadResult& result = job->results[index];
  if (!job->plan.suite_clock_checked() || !clock.has_checked()) {
    v1::SuiteTime time;
    Ending ending = TimeAsSuite(session, clock, sets, job->limits, &time);
    if (time.calls() > 0) *result.mutable_suite_time() = std::move(time);
    return ending;
  }
  const AnswerVariants answer =
      [&](const std::vector<int64_t>& variants) -> absl::StatusOr<OracleEntries> {
    OracleEntries answers;
    RETURN_IF_ERROR(OffTheClock(job, [&]() -> absl::Status {
      ASSIGN_OR_RETURN(answers,
                       bench_.oracle().GetOnce(*job->reference, job->cases[index], variants));
      bench_.oracle().Rest();
      return absl::OkStatus();
    }));
    return answers;
  };
  v1::SuiteTime time;
  ASSIGN_OR_RETURN(Ending ending, TimeCheckedAsSuite(session, clock, job->limits, answer, &time,
                                                     result.mutable_suite_verdict()));
  if (time.calls() > 0) *result.mutable_suite_time() = std::move(time);
  return ending;
}

double JobVerifier::Floor(const Job& job, size_t index) const {
  const v1::Task& task = job.request->task();
  const auto workload = FindWorkload(task, job.cases[index]->uuid());
  if (!workload.ok()) return 0;
  const double floor_us = bench_.Floor(task, **workload);
  // A baseline below it shows that the task's formulas, or the peaks, are wrong.
  const bool believable =
      job.baselines.empty() || job.baselines[index].samples.median_us() >= floor_us;
  return believable ? floor_us : 0;
}

absl::Status JobVerifier::Confirm(Job* job) {
  const v1::VerifierRequest& request = *job->request;
  std::vector<ConfirmationCase> cases;
  for (size_t i = 0; i < job->cases.size(); ++i) {
    cases.push_back({job->cases[i], job->oracles[i], Floor(*job, i), {}});
  }
  for (const AnsweredHiddenCase& hidden : job->hidden) {
    if (hidden.remaps) continue;
    cases[hidden.index].hidden.push_back({hidden.name, hidden.workload, hidden.oracles});
  }
  Confirmation confirmation(bench_, job->plan, WithDefaults(request.job().limits()), job->limits,
                            request.task().objective());
  for (int r = 0; r < request.rivals_size(); ++r) {
    ASSIGN_OR_RETURN(const ProgramImage rival, ProgramImage::Open(request.rivals(r)));
    const int launches = job->plan.launches();
    auto made = confirmation.Compare(
        *job->candidate, rival, request.job().rivals(r).has_sources(), cases, [&](int launch) {
          Report("confirm", static_cast<size_t>(r * launches + launch),
                 static_cast<size_t>(request.rivals_size() * launches));
        });
    if (!made.ok()) return Blame(made.status(), request.job().rivals(r));
    ConfirmationResult compared = *std::move(made);
    if (!compared.ending.passed()) {
      FailWorkload(compared.ending, compared.failed_case, job);
      if (compared.ending.outcome == v1::OUTCOME_TASK_ERROR) {
        job->verdict.set_at_fault(request.job().rivals(r).rival_id());
      }
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(JudgeSuspects(compared.suspects, job));
    if (job->verdict.outcome() != v1::OUTCOME_PASSED) return absl::OkStatus();
    const std::string& rival_id = request.job().rivals(r).rival_id();
    compared.comparison.set_rival_id(rival_id);
    *job->verdict.add_comparisons() = std::move(compared.comparison);
    for (size_t i = 0; i < cases.size(); ++i) {
      v1::WorkloadResult& result = job->results[i];
      result.set_buffer_sets(confirmation.Sets(*job->cases[i]));
      result.set_audit_ratio(std::max(result.audit_ratio(), compared.audit_ratio[i]));
      *result.mutable_candidate() = Summarize(compared.candidate_us[i]);
      if (rival_id == kBaselineRival) *result.mutable_baseline() = Summarize(compared.rival_us[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status JobVerifier::Sanitize(Job* job) {
  const absl::StatusOr<Instrument>& sanitizer = bench_.sanitizer();
  if (!sanitizer.ok()) {
    if (bench_.gpu() == nullptr) return absl::OkStatus();
    job->verdict.mutable_sanitizer()->set_note(
        absl::StrCat("not checked by compute-sanitizer: ", sanitizer.status().message()));
    return absl::OkStatus();
  }
  Report("sanitize", 0, 1);
  const std::vector<size_t> order = SmallestFirst(*job);
  std::vector<WitnessCase> cases;
  for (const size_t i : order) cases.push_back({job->cases[i], &job->oracles[i]});
  MemoryCheck check;
  RETURN_IF_ERROR(OffTheClock(job, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(check,
                     AskWitnesses(bench_, *sanitizer, *job->request, *job->candidate, cases));
    return absl::OkStatus();
  }));
  *job->verdict.mutable_sanitizer() = std::move(check.report);
  if (!check.ending.passed()) FailWorkload(check.ending, order[0], job);
  return absl::OkStatus();
}

absl::Status JobVerifier::JudgeSuspects(const Suspects& suspects, Job* job) {
  if (suspects.empty()) return absl::OkStatus();
  std::vector<std::vector<int64_t>> variants(job->cases.size());
  for (const auto& [index, suspect] : suspects) variants[index].push_back(suspect.variant);
  std::vector<OracleEntries> oracles(job->cases.size());
  const auto answer = [&]() -> absl::Status {
    for (size_t i = 0; i < variants.size(); ++i) {
      if (variants[i].empty()) continue;
      ASSIGN_OR_RETURN(oracles[i],
                       bench_.oracle().GetOnce(*job->reference, job->cases[i], variants[i]));
    }
    bench_.oracle().Rest();
    return absl::OkStatus();
  };
  absl::Status answered = OffTheClock(job, answer);
  // The reference was right on other variants before the candidate was there, which is gone by now.
  // Once may be an accident.
  if (IsTaskFault(answered)) answered = OffTheClock(job, answer);
  RETURN_IF_ERROR(answered);
  for (const auto& [index, suspect] : suspects) {
    const WorkloadCase& workload = *job->cases[index];
    const OracleEntry& oracle = *oracles[index].at(suspect.variant);
    const OutputComparison compared =
        workload.judge() != nullptr
            ? workload.judge()->Judge(workload, suspect.variant, *suspect.outputs, *oracle.outputs)
            : JudgeOutputs(workload, suspect.outputs->CompareWith(workload, *oracle.outputs));
    if (compared.right) continue;
    Ending ending = {v1::OUTCOME_INCORRECT, absl::StrCat("in a timed call: ", compared.message)};
    if (suspect.late) ending.message = absl::StrCat(kLateInputs, compared.message);
    if (suspect.repeated) {
      ending = {v1::OUTCOME_CHEAT, absl::StrCat(kStaleOutput, compared.message)};
    }
    FailWorkload(ending, index, job);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status JobVerifier::OffTheClock(Job* job, const std::function<absl::Status()>& work) {
  const absl::Time start = bench_.clock().SteadyNow();
  const absl::Status status = work();
  job->limits.deadline += bench_.clock().SteadyNow() - start;
  return status;
}

void JobVerifier::Report(const char* stage, size_t done, size_t total) const {
  v1::VerifierReply::Progress progress;
  progress.set_stage(stage);
  progress.set_done(static_cast<int>(done));
  progress.set_total(static_cast<int>(total));
  LOG(DEBUG) << "msg=\"stage\" stage=" << stage << " done=" << done << " total=" << total
             << " pid=" << ::getpid();
  progress_(progress);
}

void JobVerifier::FailWorkload(const Ending& ending, size_t index, Job* job) {
  v1::WorkloadResult& result = job->results[index];
  result.set_outcome(ending.outcome);
  result.set_message(CleanText(ending.message, kMaxMessageBytes));
  result.clear_candidate();
  if (ending.outcome == v1::OUTCOME_CHEAT) job->verdict.add_suspicions(result.message());
  Ending with_place = ending;
  with_place.message = absl::StrCat("workload ", job->cases[index]->uuid(), ": ", ending.message);
  Fail(with_place, job);
}

void JobVerifier::Fail(const Ending& ending, Job* job) {
  if (ending.device_failed || ending.killed) job->unexplained = ending.message;
  if (ending.machine_failed) job->machine = MachineFailure(ending);
  job->device_error = ending.device_failed;
  job->verdict.set_outcome(ending.outcome);
  job->verdict.set_message(CleanText(ending.message, kMaxMessageBytes));
}

std::vector<size_t> JobVerifier::SmallestFirst(const Job& job) {
  std::vector<size_t> order(job.cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return job.cases[a]->footprint_bytes() < job.cases[b]->footprint_bytes();
  });
  return order;
}

}  // namespace ksearch
