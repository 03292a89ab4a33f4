#include "coordinator/events/sinks/run_progress.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/textproto.h"

namespace ksearch::sinks {
namespace {

constexpr char kUnusableReply[] = "unusable_reply";

std::string Word(v1::Outcome outcome) {
  const std::string name = v1::Outcome_Name(outcome);
  return absl::AsciiStrToLower(absl::StripPrefix(name.empty() ? "unknown" : name, "OUTCOME_"));
}

}  // namespace

void RunProgress::AddCall(const v1::CallDetail& call) {
  if (!calls_.insert(call.call_id()).second) return;
  nano_usd_ += call.nano_usd();
  input_tokens_ += call.input_tokens();
  output_tokens_ += call.output_tokens();
}

// Some calls have no event of their own: the totals include them.
void RunProgress::AddTotals(const v1::RunDetail& totals) {
  nano_usd_ = std::max(nano_usd_, totals.nano_usd());
  input_tokens_ = std::max(input_tokens_, totals.input_tokens());
  output_tokens_ = std::max(output_tokens_, totals.output_tokens());
  device_time_ = std::max(device_time_, FromProto(totals.device_time()));
}

bool RunProgress::Add(const v1::RunEvent& event) {
  const absl::Time at = FromProto(event.at());
  if (started_ == absl::InfinitePast()) started_ = at;
  now_ = std::max(now_, at);  // the wall clock may jump
  round_ = std::max(round_, event.round());
  speedup_.reset();
  latency_us_.reset();
  if (event.has_call()) AddCall(event.call());
  if (event.has_run()) AddTotals(event.run());
  const v1::CandidateDetail& candidate = event.candidate();
  const v1::ConfirmationDetail& confirmation = event.confirmation();
  device_time_ += FromProto(candidate.device_time()) + FromProto(confirmation.device_time());
  switch (event.kind()) {
    case v1::RunEvent::CANDIDATE_PASSED: {
      ++passed_;
      const double speedup = candidate.speedup() > 0 ? candidate.speedup() : event.score();
      if (speedup > 0) speedup_ = speedup;
      if (candidate.latency_us() > 0) latency_us_ = candidate.latency_us();
      best_screened_ = std::max(best_screened_, speedup);
      return true;
    }
    case v1::RunEvent::CANDIDATE_FAILED:
      ++failed_;
      ++failures_[Word(candidate.outcome())];
      return true;
    case v1::RunEvent::REPLY_UNUSABLE:
      ++failures_[kUnusableReply];
      return true;
    case v1::RunEvent::NEW_INCUMBENT:
      ++confirmed_;
      best_candidate_ = event.candidate_id();
      // The first incumbent's rival is the baseline itself.
      best_speedup_ =
          confirmation.over_baseline() > 0 ? confirmation.over_baseline() : confirmation.speedup();
      best_low_ = confirmation.over_baseline() > 0 ? confirmation.over_baseline_low()
                                                   : confirmation.speedup_low();
      best_high_ = confirmation.over_baseline() > 0 ? confirmation.over_baseline_high()
                                                    : confirmation.speedup_high();
      return true;
    case v1::RunEvent::CONFIRMATION_REFUSED:
      ++refused_;
      return true;
    case v1::RunEvent::RUN_ENDED:
      return true;
    default:
      return false;
  }
}

std::vector<std::pair<std::string, double>> RunProgress::Values() const {
  std::vector<std::pair<std::string, double>> values;
  const auto add = [&values](absl::string_view name, double value) {
    if (std::isfinite(value)) values.emplace_back(name, value);
  };
  add("round", round_);
  add("seconds", absl::ToDoubleSeconds(now_ - started_));
  if (speedup_.has_value()) add("candidate/speedup", *speedup_);
  if (latency_us_.has_value()) add("candidate/latency_us", *latency_us_);
  if (best_screened_ > 0) add("best/screened_speedup", best_screened_);
  if (best_speedup_ > 0) {
    add("best/speedup", best_speedup_);
    add("best/speedup_low", best_low_);
    add("best/speedup_high", best_high_);
  }
  add("candidates/passed", static_cast<double>(passed_));
  add("candidates/failed", static_cast<double>(failed_));
  add("confirmations/accepted", static_cast<double>(confirmed_));
  add("confirmations/refused", static_cast<double>(refused_));
  for (const auto& [outcome, count] : failures_) {
    add(absl::StrCat("failures/", outcome), static_cast<double>(count));
  }
  add("cost/usd", static_cast<double>(nano_usd_) / 1e9);
  add("cost/input_tokens", static_cast<double>(input_tokens_));
  add("cost/output_tokens", static_cast<double>(output_tokens_));
  add("cost/device_seconds", absl::ToDoubleSeconds(device_time_));
  return values;
}

}  // namespace ksearch::sinks
