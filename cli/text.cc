#include "cli/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "common/language.h"
#include "common/platform.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string Lower(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

void AppendNode(const v1::WorldModel& model,
                const std::multimap<std::string, const v1::Node*>& children, const v1::Node& node,
                int depth, std::string* text) {
  if (depth > 64) return;
  absl::StrAppend(text, std::string(static_cast<size_t>(depth) * 2, ' '));
  const bool root = node.node_id() == model.root_id();
  if (root) {
    absl::StrAppend(text, node.node_id());
    if (node.has_solution()) absl::StrAppendFormat(text, "  score %.2f", node.solution().score());
  } else if (node.has_solution()) {
    absl::StrAppendFormat(text, "[x] %s  %s  score %.2f  %s  (round %d)", node.node_id(),
                          node.action().title(), node.solution().score(),
                          ShortId(node.solution().candidate_id()), node.solution().round());
  } else {
    absl::StrAppendFormat(
        text, "[%s] %s  %s  V %.2f  difficulty %d%s", node.closed_too_hard() ? "-" : " ",
        node.node_id(), node.action().title(), node.action().score(), node.action().difficulty(),
        node.too_hard_count() > 0 ? absl::StrCat("  too hard x", node.too_hard_count()) : "");
  }
  absl::StrAppend(text, "\n");
  const auto range = children.equal_range(node.node_id());
  for (auto it = range.first; it != range.second; ++it) {
    AppendNode(model, children, *it->second, depth + 1, text);
  }
}

// "  decode<128>: 128 registers, spills 8 B out 12 B in, ..."; one line per kernel.
void AppendKernels(const v1::BuildReport& build, std::string* text) {
  if (build.kernels_size() > 0 && !build.architecture().empty()) {
    absl::StrAppend(text, "kernels for ", build.architecture(), ":\n");
  }
  for (const v1::KernelFacts& kernel : build.kernels()) {
    absl::StrAppend(text, "  ", kernel.name(), ": ", kernel.registers(), " registers, ",
                    kernel.static_shared_bytes(), " B static shared");
    if (kernel.warps() > 0) {
      absl::StrAppend(text, ", ", kernel.dynamic_shared_bytes(), " B shared of ", kernel.warps(),
                      " warps");
    }
    if (kernel.stack_bytes() > 0) absl::StrAppend(text, ", ", kernel.stack_bytes(), " B stack");
    if (kernel.spill_store_bytes() + kernel.spill_load_bytes() > 0) {
      absl::StrAppend(text, ", spills ", kernel.spill_store_bytes(), " B out ",
                      kernel.spill_load_bytes(), " B in");
    }
    if (kernel.has_sass()) {
      const v1::SassFacts& sass = kernel.sass();
      absl::StrAppend(text, "; ", sass.instructions(), " instructions, ", sass.tensor(),
                      " tensor (", sass.warpgroup_tensor(), " warpgroup), wide loads ",
                      sass.wide_global_loads(), "/", sass.global_loads(), ", wide stores ",
                      sass.wide_global_stores(), "/", sass.global_stores(), ", async copies ",
                      sass.async_copies(), "+", sass.bulk_copies(), ", local ",
                      sass.local_loads() + sass.local_stores());
    }
    absl::StrAppend(text, "\n");
  }
}

// One line; the packet has the details.
void AppendProfile(const v1::Profile& profile, std::string* text) {
  if (profile.kernels_size() > 0) {
    absl::StrAppend(text, "profiled on ", profile.workload_uuid(), ": ",
                    int64_t{profile.kernels_size()} + profile.other_kernels(), " kernel(s)\n");
  } else if (profile.absence() != v1::Profile::ABSENCE_UNSPECIFIED) {
    absl::StrAppend(text, "not profiled: ", profile.note(), "\n");
  }
}

// The cost to a program of returning its outputs.
std::string CopiesText(const v1::JobResult& result) {
  std::vector<std::string> costs;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    if (workload.copy_us() <= 0) continue;
    costs.push_back(
        absl::StrCat(workload.workload_uuid().substr(0, 24), " ", LatencyText(workload.copy_us())));
  }
  if (costs.empty()) return "";
  return absl::StrCat(
      "by itself, copying what the program returns into the outputs takes: ",
      absl::StrJoin(costs, ", "),
      " (part of these latencies; a program that takes the outputs as arguments saves it)\n");
}

// Inputs that are the same in every call, whose results a program could remember.
std::string RepeatsText(const v1::JobResult& result) {
  std::map<std::string, std::vector<std::string>> workloads_of;
  for (const v1::WorkloadResult& workload : result.workloads()) {
    for (const std::string& input : workload.repeated_inputs()) {
      workloads_of[input].push_back(workload.workload_uuid());
    }
  }
  if (workloads_of.empty()) return "";
  std::vector<std::string> inputs;
  for (const auto& [input, workloads] : workloads_of) {
    const bool all = static_cast<int>(workloads.size()) == result.workloads_size();
    inputs.push_back(all ? input : absl::StrCat(input, " (", absl::StrJoin(workloads, ", "), ")"));
  }
  return absl::StrCat("the same in every call: ", absl::StrJoin(inputs, ", "),
                      " (a program could remember what follows from them alone; the contents of "
                      "all other tensors are new in every call)\n");
}

// Returns true if the cases of a task with a suite's rule were checked, and none was timed.
bool IsSuiteCheck(const v1::JobResult& result) {
  const auto& all = result.workloads();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& each) { return each.has_suite_verdict(); }) &&
         std::none_of(all.begin(), all.end(),
                      [](const auto& each) { return each.has_candidate() || each.has_baseline(); });
}

std::string SuiteCheckTable(const v1::JobResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"workload", "outcome", "right by the suite's rule", "why not"}};
  for (const v1::WorkloadResult& workload : result.workloads()) {
    const v1::SuiteVerdict& verdict = workload.suite_verdict();
    rows.push_back({workload.workload_uuid().substr(0, 24), OutcomeText(workload.outcome()),
                    absl::StrCat(verdict.passed(), " of ", verdict.trials(),
                                 verdict.trials() == 1 ? " trial" : " trials"),
                    workload.message().empty() ? verdict.message() : workload.message()});
  }
  return Table(rows);
}

}  // namespace

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&line, row[i], std::string(widths[i] - row[i].size() + 2, ' '));
    }
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  };
  for (size_t r = 0; r < rows.size(); ++r) {
    add_row(rows[r]);
    if (r == 0) {
      std::vector<std::string> rule;
      rule.reserve(widths.size());
      for (const size_t width : widths) rule.emplace_back(width, '-');
      add_row(rule);
    }
  }
  return text;
}

std::string OutcomeText(v1::Outcome outcome) { return OutcomeWord(outcome); }
std::string StateText(v1::RunState state) { return Lower(v1::RunState_Name(state), "RUN_STATE_"); }
std::string LanguageText(v1::Language language) { return LanguageName(language); }

std::string EndedLine(const std::string& text) {
  return text.empty() || text.back() == '\n' ? text : text + "\n";
}

std::string SourcesText(const v1::Sources& sources) {
  if (sources.files_size() == 1) return EndedLine(sources.files(0).content());
  const absl::string_view comment = FactsOf(sources.language()).line_comment;
  std::string text;
  for (const v1::SourceFile& file : sources.files()) {
    absl::StrAppend(&text, comment, "---- ", file.path(), "\n", EndedLine(file.content()));
  }
  return text;
}

std::string CountText(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string ShortId(const std::string& id) { return id.substr(0, 12); }

std::string BestText(const v1::BestSummary& best) {
  return RatioText(best.speedup(), best.speedup_low(), best.speedup_high(), best.confidence());
}

std::string MeansText(const v1::JobResult& confirmation, absl::string_view by) {
  for (const v1::Comparison& comparison : confirmation.comparisons()) {
    if (comparison.rival_id() != kBaselineRival) continue;
    if (!comparison.has_official() || !comparison.has_all() ||
        comparison.official().workloads() == comparison.all().workloads()) {
      return "";
    }
    const bool official_decides = comparison.ranked() == v1::Objective::RANKED_OFFICIAL;
    const auto line = [&](const v1::Comparison::Mean& mean, absl::string_view which, bool decides) {
      return absl::StrCat(RatioText(std::exp(mean.log_speedup()), std::exp(mean.ci_low()),
                                    std::exp(mean.ci_high()), comparison.confidence()),
                          " over ", which, decides ? ", which decides" : "", "\n");
    };
    const int shown = comparison.official().workloads();
    // Elsewhere some of the suite's own cases may be held out.
    const std::string official =
        line(comparison.official(),
             official_decides ? absl::StrCat("the ", CountText(shown, "official case"))
                              : absl::StrCat(CountText(shown, "case"), " not held out"),
             official_decides);
    std::string all =
        line(comparison.all(), absl::StrCat("all ", comparison.all().workloads(), " cases"),
             !official_decides);
    const bool official_first = by.empty() ? official_decides : by == "official";
    return official_first ? absl::StrCat(official, all) : absl::StrCat(all, official);
  }
  return "";
}

std::string LatencyText(double microseconds) {
  if (microseconds >= 1e6) return absl::StrFormat("%.3f s", microseconds / 1e6);
  if (microseconds >= 1e3) return absl::StrFormat("%.3f ms", microseconds / 1e3);
  return absl::StrFormat("%.2f us", microseconds);
}

std::string EventText(const v1::RunEvent& event) {
  std::string text = Lower(v1::RunEvent::Kind_Name(event.kind()), "");
  std::replace(text.begin(), text.end(), '_', ' ');
  if (event.round() > 0) absl::StrAppend(&text, "  round ", event.round());
  if (!event.node_id().empty()) absl::StrAppend(&text, "  ", event.node_id());
  if (!event.candidate_id().empty()) absl::StrAppend(&text, "  ", ShortId(event.candidate_id()));
  if (!event.text().empty()) absl::StrAppend(&text, "  ", event.text());
  return text;
}

std::string FleetEventText(const v1::FleetEvent& event) {
  std::string text = Lower(v1::FleetEvent::Kind_Name(event.kind()), "");
  std::replace(text.begin(), text.end(), '_', ' ');
  const auto append = [&](absl::string_view before, absl::string_view word) {
    if (!word.empty()) absl::StrAppend(&text, before, word);
  };
  append("  ", event.worker_name().empty() ? event.worker_id() : event.worker_name());
  append("  ", event.device_id());
  append("  job ", ShortId(event.job_id()));
  if (event.job_kind() != v1::JOB_KIND_UNSPECIFIED) {
    append("  ", Lower(v1::JobKind_Name(event.job_kind()), "JOB_KIND_"));
  }
  append("  ", event.task());
  if (event.stage() != v1::HeldLease::STATE_UNSPECIFIED) {
    append("  ", Lower(v1::HeldLease::State_Name(event.stage()), ""));
  }
  if (event.outcome() != v1::OUTCOME_UNSPECIFIED) append("  ", OutcomeText(event.outcome()));
  if (event.has_call()) {
    append("  ", event.call().call_id());
    append("  ", absl::StrCat(event.call().provider(), "/", event.call().model()));
  }
  if (event.kind() == v1::FleetEvent::CALL_ANSWERED) {
    absl::StrAppendFormat(&text, "  %d+%d tokens  $%.4f  %.1f s", event.call().input_tokens(),
                          event.call().output_tokens(),
                          static_cast<double>(event.call().nano_usd()) / 1e9,
                          absl::ToDoubleSeconds(FromProto(event.call().took())));
  }
  append("  ", event.text());
  return text;
}

std::string StatusLine(const v1::RunStatus& status) {
  std::vector<std::string> parts = {
      status.paused() ? "paused" : StateText(status.state()),
      absl::StrCat(status.rounds_done(), "/", status.rounds_total(), " rounds")};
  if (status.has_best()) {
    parts.push_back(absl::StrCat("best ", BestText(status.best())));
  } else if (status.best_screened() > 0) {
    parts.push_back(absl::StrFormat("best %.2fx (not confirmed)", status.best_screened()));
  }
  if (status.confirming()) parts.push_back("confirming");
  for (const v1::CycleStatus& cycle : status.cycles()) {
    const std::string& what = cycle.node_id().empty() ? cycle.title() : cycle.node_id();
    parts.push_back(
        absl::StrCat(what.empty() ? "-" : what, "#", cycle.attempt(), " ", cycle.phase()));
  }
  return absl::StrJoin(parts, "  ");
}

std::string PlatformLine(const v1::RunStatus& status) {
  if (status.platform().ByteSizeLong() == 0) return "";
  return absl::StrCat("measured with ", PlatformText(status.platform()),
                      status.any_device() ? "; other models screen too" : "",
                      status.platform_missing().empty() ? "" : ": ", status.platform_missing(),
                      "\n");
}

std::string DegenerateText(absl::string_view degenerate) {
  if (degenerate.empty()) return "";
  return absl::StrCat(
      "warning: this task is degenerate, so its results claim nothing: ", degenerate, "\n");
}

std::string TreeText(const v1::WorldModel& model) {
  std::multimap<std::string, const v1::Node*> children;
  const v1::Node* root = nullptr;
  for (const v1::Node& node : model.nodes()) {
    if (node.node_id() == model.root_id()) {
      root = &node;
    } else {
      children.emplace(node.parent_id(), &node);
    }
  }
  std::string text = model.kernel_summary().empty() ? "" : model.kernel_summary() + "\n\n";
  if (root != nullptr) AppendNode(model, children, *root, 0, &text);
  if (model.tombstones_size() > 0) absl::StrAppend(&text, "\npruned:\n");
  for (const v1::Tombstone& tombstone : model.tombstones()) {
    absl::StrAppend(&text, "  ", tombstone.node_id(), "  ", tombstone.title(),
                    tombstone.reason().empty() ? "" : absl::StrCat("  (", tombstone.reason(), ")"),
                    "\n");
  }
  return text;
}

std::string ResultText(const v1::JobResult& result, const std::string& packet) {
  std::string text = absl::StrCat(OutcomeText(result.outcome()),
                                  result.message().empty() ? "" : ": ", result.message(), "\n");
  for (const v1::Diagnostic& diagnostic : result.build().diagnostics()) {
    absl::StrAppend(&text, "  ");
    // Linker messages have no line.
    if (!diagnostic.file().empty()) {
      absl::StrAppend(&text, diagnostic.file(), ":", diagnostic.line(), ": ");
    }
    absl::StrAppend(&text, diagnostic.severity(), ": ", diagnostic.message(), "\n");
  }
  if (packet.empty()) AppendKernels(result.build(), &text);
  for (const std::string& suspicion : result.suspicions()) {
    absl::StrAppend(&text, "  suspicious: ", suspicion, "\n");
  }
  for (const v1::SanitizerFinding& finding : result.sanitizer().findings()) {
    absl::StrAppend(&text, "  compute-sanitizer ", finding.tool(),
                    finding.warning() ? " (warning): " : ": ", finding.text(), "\n");
  }
  if (!result.sanitizer().note().empty()) {
    absl::StrAppend(&text, "  ", result.sanitizer().note(), "\n");
  }
  if (const v1::DelayedRuns& runs = result.sanitizer().delayed_runs(); !runs.label().empty()) {
    absl::StrAppend(
        &text, "  review (", runs.label(), "): ",
        runs.label() == "race_reported"
            ? absl::StrCat("a tool reports a race; of ", runs.calls(),
                           " calls with delays at barriers none shows one")
            : absl::StrCat("of ", runs.calls(), " calls with delays at barriers ", runs.different(),
                           " differ from others and ", runs.crashed(), " processes crashed"),
        runs.note().empty() ? "" : "; ", runs.note(), "\n");
  }
  if (IsSuiteCheck(result)) {
    absl::StrAppend(&text, SuiteCheckTable(result), RepeatsText(result));
  } else if (result.workloads_size() > 0) {
    std::vector<std::vector<std::string>> rows = {
        {"workload", "outcome", "latency", "95 % interval", "baseline", "speed-up", "calls"}};
    for (const v1::WorkloadResult& workload : result.workloads()) {
      const v1::Samples& own = workload.candidate();
      const double baseline = workload.baseline().median_us();
      rows.push_back({workload.workload_uuid().substr(0, 24), OutcomeText(workload.outcome()),
                      own.median_us() > 0 ? LatencyText(own.median_us()) : "-",
                      own.median_us() > 0 ? absl::StrCat(LatencyText(own.ci_low_us()), " .. ",
                                                         LatencyText(own.ci_high_us()),
                                                         own.unstable() ? " unstable" : "")
                                          : "-",
                      baseline > 0 ? LatencyText(baseline) : "-",
                      own.median_us() > 0 && baseline > 0
                          ? absl::StrFormat("%.2fx", baseline / own.median_us())
                          : "-",
                      absl::StrCat(own.latency_us_size())});
    }
    absl::StrAppend(&text, Table(rows), CopiesText(result), RepeatsText(result));
    const std::optional<double> speedup = SpeedupOverBaseline(result);
    if (speedup.has_value() && result.comparisons_size() == 0) {
      absl::StrAppendFormat(&text, "%.2fx the baseline's speed, geometric mean (screened)\n",
                            *speedup);
    }
  }
  for (const v1::Comparison& comparison : result.comparisons()) {
    absl::StrAppendFormat(&text, "over %s: %s %s (%d workloads, %d launches)\n",
                          ShortId(comparison.rival_id()), RatioText(comparison),
                          Lower(v1::Comparison::Verdict_Name(comparison.verdict()), ""),
                          comparison.workloads_size(), comparison.launches());
  }
  if (result.workloads_size() > 0 && !result.device().harness_version().empty()) {
    absl::StrAppend(&text, "measured with ", PlatformText(PlatformOf(result.device())), "\n");
  }
  AppendProfile(result.profile(), &text);
  if (!packet.empty()) absl::StrAppend(&text, "\n", packet);
  return text;
}

std::string SuiteScoresText(const google::protobuf::RepeatedPtrField<v1::SuiteScore>& scores) {
  std::string text;
  for (const v1::SuiteScore& score : scores) {
    const std::string value = !score.verdict().empty() ? score.verdict()
                              : score.value() > 0
                                  ? absl::StrFormat("%.4g%s", score.value(), score.unit())
                                  : "none";
    absl::StrAppend(&text, "by the suite's rules: ", score.name(), " ", value,
                    score.note().empty() ? "" : absl::StrCat(" (", score.note(), ")"), "\n");
  }
  return text;
}

}  // namespace ksearch
