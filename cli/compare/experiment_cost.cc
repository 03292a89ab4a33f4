#include "cli/compare/experiment_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/budget_text.h"
#include "cli/text.h"
#include "common/measure_defaults.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A run confirms about this many candidates; a rule of thumb from recorded searches.
constexpr double kConfirmationsPerRun = 4;
constexpr double kNanoPerDollar = 1e9;
constexpr absl::Duration kShort = absl::Minutes(6);  // printed in minutes and seconds

// How long one confirmation holds a device.
absl::Duration ConfirmationTime(const ArmEstimate& each) {
  const v1::MeasurePlan plan = WithDefaults(each.estimate.config().measure(), each.device);
  // Checks as in a screening, then candidate and baseline in every launch on every workload, and
  // the same time again for starting them.
  return FromProto(each.estimate.evaluation_time()) + 4 * each.workloads * plan.launches() *
                                                          plan.blocks_per_launch() *
                                                          FromProto(plan.min_block_time());
}

absl::Duration DeviceTimeOfRun(const v1::Experiment& experiment, const ArmEstimate& each) {
  const v1::Remeasuring& again = experiment.remeasuring();
  const double confirmations =
      kConfirmationsPerRun + (again.top() > 0 ? again.top() + again.sessions() - 1 : 0);
  return each.estimate.config().rounds() * FromProto(each.estimate.evaluation_time()) +
         confirmations * ConfirmationTime(each);
}

double TokensOf(const v1::RunEstimate& estimate) {
  double tokens = 0;
  for (const v1::RunEstimate::Line& line : estimate.lines()) {
    tokens += line.input_tokens() + line.output_tokens();
  }
  return tokens;
}

std::string HoursText(const google::protobuf::Duration& proto) {
  const absl::Duration time = FromProto(proto);
  if (time < kShort) return absl::FormatDuration(absl::Ceil(time, absl::Seconds(1)));
  return absl::StrFormat("%.2f h", absl::ToDoubleHours(time));
}

}  // namespace

v1::ExperimentCost CostOf(const v1::Experiment& experiment,
                          const std::vector<ArmEstimate>& estimates) {
  v1::ExperimentCost cost;
  absl::Duration device_time;
  int workers = estimates.empty() ? 0 : estimates[0].estimate.workers();
  int recorded = 0;
  for (const ArmEstimate& each : estimates) {
    v1::ExperimentCost::Line* line = cost.add_lines();
    const double runs = experiment.seeds();
    line->set_arm(experiment.arms(each.arm).name());
    line->set_task(each.task);
    line->set_runs(experiment.seeds());
    for (const v1::RunEstimate::Line& role : each.estimate.lines()) {
      line->set_llm_calls(line->llm_calls() + runs * role.llm_calls());
    }
    line->set_tokens(runs * TokensOf(each.estimate));
    line->set_nano_usd(experiment.seeds() * each.estimate.nano_usd());
    line->set_nano_usd_worst(experiment.seeds() * each.estimate.nano_usd_worst());
    const absl::Duration time = runs * DeviceTimeOfRun(experiment, each);
    *line->mutable_device_time() = ToProto(time);
    cost.set_nano_usd(cost.nano_usd() + line->nano_usd());
    cost.set_nano_usd_worst(cost.nano_usd_worst() + line->nano_usd_worst());
    device_time += time;
    workers = std::min(workers, each.estimate.workers());
    recorded += each.estimate.evaluations_recorded() > 0;
  }
  *cost.mutable_device_time() = ToProto(device_time);
  cost.set_workers(workers);
  if (workers > 0) *cost.mutable_wall_time() = ToProto(device_time / workers);
  const auto assume = [&](std::string text) { cost.add_assumptions(std::move(text)); };
  if (recorded == static_cast<int>(estimates.size())) {
    assume("an evaluation takes as long as recorded ones of its task did");
  } else {
    assume(absl::StrCat(
        "an evaluation takes as long as recorded ones of its task did, or, for ",
        estimates.size() - static_cast<size_t>(recorded), " of ", estimates.size(),
        " lines without any, as long as its checks and the most that the plan allows"));
  }
  assume(absl::StrFormat(
      "a run confirms %.0f candidates; one confirmation takes as long as an "
      "evaluation, plus its blocks, plus the same time again for starting processes",
      kConfirmationsPerRun));
  assume("the time from devices alone leaves out how long models take to answer");
  if (!estimates.empty()) {
    for (const std::string& text : estimates[0].estimate.assumptions()) {
      assume(absl::StrCat(experiment.arms(estimates[0].arm).name(), ": ", text));
    }
  }
  return cost;
}

absl::Status CheckBudgets(const v1::Experiment& experiment,
                          const std::vector<ArmEstimate>& estimates) {
  for (const ArmEstimate& each : estimates) {
    const v1::Budget& budget = each.estimate.config().budget();
    const std::string& arm = experiment.arms(each.arm).name();
    if (budget.tokens() > 0 && budget.tokens() < each.estimate.tokens_reserved_first()) {
      return absl::InvalidArgumentError(
          absl::StrCat("common.budget.tokens is ", budget.tokens(), ", but the first call of arm '",
                       arm, "' reserves ", each.estimate.tokens_reserved_first(),
                       ": raise it, or lower common.max_output_tokens"));
    }
    double dollars = 0;
    const bool capped = !budget.usd().empty() && absl::SimpleAtod(budget.usd(), &dollars);
    const double first =
        static_cast<double>(each.estimate.nano_usd_reserved_first()) / kNanoPerDollar;
    if (capped && dollars < first) {
      return absl::InvalidArgumentError(
          absl::StrFormat("common.budget.usd is %s, but the first call of arm '%s' reserves %.4f "
                          "dollars: raise it, "
                          "or lower common.max_output_tokens",
                          budget.usd(), arm, first));
    }
    const absl::Duration once = FromProto(each.estimate.evaluation_time());
    if (budget.has_gpu_time() && FromProto(budget.gpu_time()) < once) {
      return absl::InvalidArgumentError(absl::StrCat(
          "common.budget.gpu_time is ", absl::FormatDuration(FromProto(budget.gpu_time())),
          ", but one evaluation of task '", each.task, "' takes about ",
          absl::FormatDuration(once)));
    }
  }
  const v1::ExperimentCost cost = CostOf(experiment, estimates);
  double limit = 0;
  if (!experiment.max_usd().empty() && absl::SimpleAtod(experiment.max_usd(), &limit) &&
      static_cast<double>(cost.nano_usd()) > limit * kNanoPerDollar) {
    return absl::InvalidArgumentError(absl::StrCat("max_usd is ", experiment.max_usd(),
                                                   ", but the experiment is estimated at ",
                                                   MoneyText(cost.nano_usd())));
  }
  if (experiment.has_max_device_time() &&
      FromProto(cost.device_time()) > FromProto(experiment.max_device_time())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_device_time is ", absl::FormatDuration(FromProto(experiment.max_device_time())),
        ", but the experiment is estimated at ",
        absl::FormatDuration(absl::Trunc(FromProto(cost.device_time()), absl::Seconds(1)))));
  }
  return absl::OkStatus();
}

std::string CostText(const v1::Experiment& experiment, const v1::ExperimentCost& cost) {
  std::vector<std::vector<std::string>> rows = {
      {"arm", "task", "runs", "calls", "tokens", "money", "at worst", "on devices"}};
  for (const v1::ExperimentCost::Line& line : cost.lines()) {
    rows.push_back({line.arm(), line.task(), absl::StrCat(line.runs()),
                    absl::StrFormat("%.0f", line.llm_calls()),
                    absl::StrFormat("%.0f", line.tokens()), MoneyText(line.nano_usd()),
                    MoneyText(line.nano_usd_worst()), HoursText(line.device_time())});
  }
  std::string text =
      absl::StrCat("experiment ", experiment.name(), ": ",
                   experiment.tasks_size() * experiment.arms_size() * experiment.seeds(),
                   " runs of ", experiment.common().rounds(), " evaluations\n\n", Table(rows));
  absl::StrAppend(&text, "\nestimated: ", MoneyText(cost.nano_usd()), "; at worst ",
                  MoneyText(cost.nano_usd_worst()), "; ", HoursText(cost.device_time()),
                  " on devices");
  if (cost.workers() > 0) {
    absl::StrAppend(&text, ", ", HoursText(cost.wall_time()), " with the ", cost.workers(),
                    cost.workers() == 1 ? " worker" : " workers", " connected");
  } else {
    text += "; no connected worker can judge every arm's candidates";
  }
  text += ". No model was asked, and nothing was measured.\n\nassumptions\n";
  for (const std::string& assumption : cost.assumptions()) {
    absl::StrAppend(&text, "  ", assumption, "\n");
  }
  return text;
}

}  // namespace ksearch
