#include "tests/integration/landscape_search.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <numbers>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/rng.h"
#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"
#include "coordinator/llm/model_server/text_embedding.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

constexpr double kBaselineUs = 500;
constexpr absl::Duration kReplyTime = absl::Seconds(1);
constexpr absl::Duration kEvaluationTime = absl::Seconds(1);
constexpr int kMaxSteps = 1'000'000;

// Normal with mean 0 and deviation 1.
double Normal(Rng* rng) {
  const double u = 1 - rng->NextDouble();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * rng->NextDouble());
}

v1::Outcome OutcomeOf(v1::LandscapeFailure::Kind defect) {
  switch (defect) {
    case v1::LandscapeFailure::COMPILE_ERROR:
      return v1::OUTCOME_COMPILE_ERROR;
    case v1::LandscapeFailure::WRONG:
      return v1::OUTCOME_INCORRECT;
    case v1::LandscapeFailure::CRASH:
      return v1::OUTCOME_RUNTIME_ERROR;
    default:
      return v1::OUTCOME_PASSED;
  }
}

class Shelf final : public ProgramShelf {
 public:
  absl::StatusOr<v1::Sources> ReadSources(const std::string& candidate_id) const override {
    const auto found = sources.find(candidate_id);
    if (found == sources.end()) return absl::NotFoundError(candidate_id);
    return found->second;
  }
  absl::StatusOr<v1::JobResult> ReadResult(const std::string& job_id) const override {
    const auto found = results.find(job_id);
    if (found == results.end()) return absl::NotFoundError(job_id);
    return found->second;
  }

  absl::StatusOr<LlmReply> ReadReply(int64_t call_number) const override {
    const auto found = replies.find(call_number);
    if (found == replies.end()) return absl::NotFoundError(absl::StrCat(call_number));
    return found->second;
  }

  absl::StatusOr<v1::WorldModel> ReadWorldModel(int64_t /*revision*/) const override {
    return absl::NotFoundError("nothing is restored here");
  }

  std::map<std::string, v1::Sources> sources;
  std::map<std::string, v1::JobResult> results;
  std::map<int64_t, LlmReply> replies;
};

class Simulation {
 public:
  Simulation(const LandscapePlayer& player, const v1::Task& task, const v1::RunConfig& config,
             const LandscapeListener& listener, const LandscapeStepListener& step_listener)
      : player_(player), task_(task), listener_(listener), step_listener_(step_listener) {
    v1::RunConfig request = config;
    request.set_task(task.name());
    request.set_provider("played");
    context_.config = request;
    const std::vector<std::string> faults = CompleteStrategySettings(request, &context_.config);
    if (!faults.empty()) {
      found_.error = faults[0];
      return;
    }
    context_.task = task;
    context_.kernel_header = KernelHeader(task.definition(), task.device()).value();
    context_.target_hardware = "a simulated machine";
    context_.programs = shelf_;
    auto strategy = MakeStrategy(context_);
    if (!strategy.ok()) {
      found_.error = std::string(strategy.status().message());
      return;
    }
    strategy_ = *std::move(strategy);
  }

  LandscapeSearch Run() {
    if (strategy_ == nullptr) return found_;
    Take(strategy_->Start());
    int steps = 0;
    while (!finished_ && !pending_.empty() && ++steps < kMaxSteps) {
      const Pending next = pending_.top();
      pending_.pop();
      now_ = next.at;
      deciding_ = absl::ZeroDuration();
      Deliver(next);
      if (step_listener_) step_listener_(*strategy_, deciding_);
    }
    if (!finished_) found_.error = "nothing to wait for, and not finished";
    return found_;
  }

 private:
  enum class Kind { kAnswer, kScreened, kExamined, kBaseline };
  struct Pending {
    absl::Duration at;
    int order = 0;
    Kind kind = Kind::kAnswer;
    ModelAnswer answer;
    ScreenResult result;
    std::string candidate_id;
  };
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const {
      return std::tie(a.at, a.order) > std::tie(b.at, b.order);
    }
  };

  void Deliver(const Pending& next) {
    switch (next.kind) {
      case Kind::kAnswer:
        return Take(Timed([&] { return strategy_->OnAnswer(next.answer); }));
      case Kind::kExamined:
        return Take(Timed([&] { return strategy_->OnExamined(next.result); }));
      case Kind::kBaseline:
        return Take(Timed([&] { return strategy_->OnBaseline(next.result); }));
      case Kind::kScreened:
        break;
    }
    const v1::JobResult& result = next.result.result;
    ++found_.evaluations;
    double best = found_.best.empty() ? 0 : found_.best.back();
    if (result.outcome() == v1::OUTCOME_PASSED) {
      ++found_.passed;
      const double measured = kBaselineUs / result.workloads(0).candidate().median_us();
      if (measured > best) {
        best = measured;
        const auto code =
            ReadProgram(player_.landscape(), shelf_->sources[next.candidate_id].files(0).content());
        found_.speedup = 1 / player_.landscape().Cost(code->point);
      }
    }
    found_.best.push_back(best);
    Take(Timed([&] { return strategy_->OnScreened(next.result); }));
  }

  StepOutput Timed(const std::function<StepOutput()>& step) {
    const std::clock_t start = std::clock();
    StepOutput out = step();
    deciding_ += absl::Seconds(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    return out;
  }

  void Take(StepOutput out) {
    for (const v1::RunEvent& event : out.events) {
      found_.unusable += event.kind() == v1::RunEvent::REPLY_UNUSABLE;
      found_.rejected_edits += event.kind() == v1::RunEvent::EDIT_REJECTED;
    }
    for (const AskModel& ask : out.asks) Ask(ask);
    for (const ScreenCandidate& screen : out.screens) Screen(screen);
    for (const ExamineCandidate& examine : out.examinations) {
      Pending pending = OnDevice(Kind::kExamined, examine.tag);
      pending.result.result.set_outcome(v1::OUTCOME_PASSED);
      pending_.push(std::move(pending));
    }
    if (out.times_baseline) {
      Pending pending = OnDevice(Kind::kBaseline, kBaselineTag);
      v1::JobResult& result = pending.result.result;
      result.set_outcome(v1::OUTCOME_PASSED);
      for (const v1::Workload& workload : task_.workloads()) {
        if (workload.held_out()) continue;
        v1::WorkloadResult* timed = result.add_workloads();
        timed->set_workload_uuid(workload.uuid());
        timed->set_outcome(v1::OUTCOME_PASSED);
        timed->mutable_baseline()->set_median_us(kBaselineUs);
      }
      pending_.push(std::move(pending));
    }
    if (!out.finished) return;
    finished_ = true;
    if (out.failed) found_.error = out.finish_reason;
  }

  void Ask(const AskModel& ask) {
    ++found_.calls;
    LandscapePlayer::Reply reply;
    if (ask.role == kEmbeddingRole) {
      reply.text = EncodeEmbedding(EmbeddingOfText(ask.user));
    } else {
      reply = player_.Answer(
          {absl::StrCat(context_.config.seed(), "/", ask.call_number), ask.system, ask.user});
    }
    if (listener_) listener_(ask, reply.text);
    found_.tokens +=
        static_cast<int64_t>(ask.system.size() + ask.user.size() + reply.text.size()) / 4;
    Pending pending;
    pending.at = now_ + kReplyTime + reply.delay;
    pending.order = ++order_;
    pending.answer.call_number = ask.call_number;
    pending.answer.reply.text = reply.text;
    pending.answer.reply.finish_reason = "stop";
    shelf_->replies[ask.call_number] = pending.answer.reply;
    pending_.push(std::move(pending));
  }

  Pending OnDevice(Kind kind, const std::string& tag) {
    device_free_ = std::max(device_free_, now_) + kEvaluationTime;
    Pending pending;
    pending.kind = kind;
    pending.at = device_free_;
    pending.order = ++order_;
    pending.result.tag = tag;
    pending.result.result.set_job_id(absl::StrCat("job of ", tag));
    return pending;
  }

  void Screen(const ScreenCandidate& screen) {
    shelf_->sources[screen.candidate_id] = screen.sources;
    Pending pending = OnDevice(Kind::kScreened, screen.tag);
    pending.candidate_id = screen.candidate_id;
    const std::string job_id = pending.result.result.job_id();
    auto result = PlayedScreening(player_.landscape(), task_, screen.sources,
                                  context_.config.seed(), static_cast<uint64_t>(order_));
    if (!result.has_value()) {
      result.emplace();
      result->set_outcome(v1::OUTCOME_COMPILE_ERROR);
      result->set_message("no program of the landscape");
    }
    pending.result.result = *std::move(result);
    pending.result.result.set_job_id(job_id);
    shelf_->results[job_id] = pending.result.result;
    pending_.push(std::move(pending));
  }

  const LandscapePlayer& player_;
  const v1::Task& task_;
  const LandscapeListener& listener_;
  const LandscapeStepListener& step_listener_;
  SearchContext context_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
  std::unique_ptr<SearchStrategy> strategy_;
  std::priority_queue<Pending, std::vector<Pending>, Later> pending_;
  absl::Duration now_;
  absl::Duration device_free_;
  absl::Duration deciding_;  // in the step
  int order_ = 0;
  bool finished_ = false;
  LandscapeSearch found_;
};

}  // namespace

std::optional<v1::JobResult> PlayedScreening(const Landscape& landscape, const v1::Task& task,
                                             const v1::Sources& sources, uint64_t seed,
                                             uint64_t repetition) {
  if (sources.files_size() != 1) return std::nullopt;
  const auto code = ReadProgram(landscape, sources.files(0).content());
  if (!code.has_value()) return std::nullopt;
  Rng rng(Philox(seed).Block(repetition)[0] | (uint64_t{Philox(seed).Block(repetition)[1]} << 32));
  v1::JobResult result;
  result.set_outcome(OutcomeOf(code->defect));
  if (code->defect == v1::LandscapeFailure::COMPILE_ERROR) {
    result.set_message("kernel.cpp: 'undeclared_step' was not declared in this scope");
    return result;
  }
  for (const v1::Workload& workload : task.workloads()) {
    if (workload.held_out()) continue;
    v1::WorkloadResult* timed = result.add_workloads();
    timed->set_workload_uuid(workload.uuid());
    timed->set_outcome(result.outcome());
    if (result.outcome() != v1::OUTCOME_PASSED) {
      timed->set_message("output 'y' differs");
      result.set_message("output 'y' differs");
      continue;
    }
    const double us = kBaselineUs * landscape.Cost(code->point) *
                      std::exp(landscape.spec().noise() * Normal(&rng));
    timed->set_floor_us(kBaselineUs * landscape.spec().floor());
    timed->mutable_candidate()->set_median_us(us);
    timed->mutable_candidate()->set_ci_low_us(us * 0.99);
    timed->mutable_candidate()->set_ci_high_us(us * 1.01);
    timed->mutable_baseline()->set_median_us(kBaselineUs);
    timed->mutable_baseline()->set_ci_low_us(kBaselineUs * 0.99);
    timed->mutable_baseline()->set_ci_high_us(kBaselineUs * 1.01);
  }
  return result;
}

LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config, const LandscapeListener& listener,
                                const LandscapeStepListener& step_listener) {
  return Simulation(player, task, config, listener, step_listener).Run();
}

LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config, const LandscapeListener& listener) {
  return SearchLandscape(player, task, config, listener, LandscapeStepListener());
}

LandscapeSearch SearchLandscape(const LandscapePlayer& player, const v1::Task& task,
                                const v1::RunConfig& config) {
  return SearchLandscape(player, task, config, LandscapeListener());
}

}  // namespace ksearch
