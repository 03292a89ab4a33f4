#include "coordinator/engine/run_estimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/engine/budget_gate.h"
#include "coordinator/ledger/call_cost.h"
#include "coordinator/ledger/money.h"
#include "coordinator/ledger/price_book.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

// Rules of thumb, from recorded searches with these prompts and models of 2025 and 2026. They are
// printed with every estimate, so that readers can substitute their own.
constexpr double kBytesPerToken = 3.5;  // English and C++, mixed
constexpr double kRoundsPerCycle = 3;
constexpr double kCallsPerRevision = 1.3;  // a rejected script is asked for again
struct RoleRule {
  const char* role;
  double added_input_tokens;  // beyond the first prompt: code, logs, the tree
  double output_tokens;       // without reasoning effort
  bool shows_prompt = true;   // else its input is only added_input_tokens
};
constexpr RoleRule kRules[] = {{"world_model", 2500, 2500},
                               {"code", 4500, 4000},
                               {"notes", 4500, 800},
                               {"judge", 4500, 300},
                               {kEmbeddingRole, 2000, 0, /*shows_prompt=*/false}};

double EffortFactor(const std::string& effort) {
  if (effort == "high" || effort == "xhigh" || effort == "max") return 4;
  if (effort == "medium") return 2;
  return 1;
}

// nullopt: the run has no such role.
std::optional<StrategyRole> FindRole(const v1::RunConfig& config, const std::string& role) {
  for (const StrategyRole& known : RolesOf(config)) {
    if (known.name == role) return known;
  }
  return std::nullopt;
}

}  // namespace

v1::RunEstimate EstimateRun(const v1::RunConfig& config, const StepOutput& start) {
  v1::RunEstimate estimate;
  *estimate.mutable_config() = config;
  size_t first_bytes = 0;
  for (const AskModel& ask : start.asks) {
    first_bytes = std::max(first_bytes, ask.system.size() + ask.user.size());
  }
  const double rounds = config.rounds();
  const double revisions = 1 + std::ceil(rounds / kRoundsPerCycle) * kCallsPerRevision;
  const ChoiceRules rules = ChoiceRulesOf(config);
  bool unpriced = false;
  for (const RoleRule& rule : kRules) {
    const std::optional<StrategyRole> role = FindRole(config, rule.role);
    if (!role.has_value()) continue;
    const double calls =
        role->calls_a_round > 0 ? std::ceil(rounds * role->calls_a_round) : revisions;
    std::vector<v1::ModelUse> uses;
    double weights = 0;
    for (const v1::ModelUse& use : AllUses(config)) {
      if (!Serves(use, rule.role)) continue;
      uses.push_back(use);
      weights += rules.ucb ? 1 : use.weight();
    }
    for (const v1::ModelUse& use : uses) {
      v1::ResolvedPrice price;
      for (const v1::ResolvedPrice& known : config.resolved_prices().prices()) {
        if (known.provider() == use.provider() && known.model() == use.model()) price = known;
      }
      unpriced = unpriced || price.basis() == "unknown";
      v1::RunEstimate::Line* line = estimate.add_lines();
      line->set_role(rule.role);
      line->set_provider(use.provider());
      line->set_model(use.model());
      line->set_share((rules.ucb ? 1 : use.weight()) / weights);
      line->set_llm_calls(calls * line->share());
      TokenUsage usage;
      const size_t prompt_bytes = rule.shows_prompt ? first_bytes : 0;
      usage.uncached_input = static_cast<int64_t>(
          static_cast<double>(prompt_bytes) / kBytesPerToken + rule.added_input_tokens);
      usage.visible_output = std::min<int64_t>(
          static_cast<int64_t>(rule.output_tokens * EffortFactor(use.reasoning_effort())),
          use.max_output_tokens());
      line->set_input_tokens(line->llm_calls() * static_cast<double>(usage.uncached_input));
      line->set_output_tokens(line->llm_calls() * static_cast<double>(usage.visible_output));
      const size_t bytes =
          prompt_bytes + static_cast<size_t>(rule.added_input_tokens * kBytesPerToken * 2);
      const WorstCase worst = WorstCaseOf(price, bytes, use.max_output_tokens());
      if (!start.asks.empty() && start.asks[0].role == rule.role) {
        // The cheapest of the models that may be chosen for the call.
        const WorstCase first = WorstCaseOf(price, first_bytes, use.max_output_tokens());
        const bool least = estimate.tokens_reserved_first() == 0 ||
                           first.tokens < estimate.tokens_reserved_first();
        if (least) estimate.set_tokens_reserved_first(first.tokens);
        const bool cheapest = estimate.nano_usd_reserved_first() == 0 ||
                              first.nano_usd < estimate.nano_usd_reserved_first();
        if (cheapest) estimate.set_nano_usd_reserved_first(first.nano_usd);
      }
      line->set_nano_usd(
          static_cast<int64_t>(line->llm_calls() * static_cast<double>(CostNano(price, usage))));
      line->set_nano_usd_worst(
          static_cast<int64_t>(line->llm_calls() * static_cast<double>(worst.nano_usd)));
      line->set_price(PriceText(price));
      estimate.set_nano_usd(estimate.nano_usd() + line->nano_usd());
      estimate.set_nano_usd_worst(estimate.nano_usd_worst() + line->nano_usd_worst());
    }
  }
  const auto assume = [&](std::string text) { estimate.add_assumptions(std::move(text)); };
  assume(FindRole(config, kRules[0].role).has_value()
             ? absl::StrCat(config.rounds(),
                            " rounds, one code call each; a revision of the tree every ",
                            kRoundsPerCycle, " rounds, ", kCallsPerRevision,
                            " calls each, and one call for the first tree")
             : absl::StrCat(config.rounds(), " rounds, one code call each"));
  assume(absl::StrFormat(
      "the first prompt has %d bytes, %.1f bytes a token; later ones %.0f "
      "(tree) or %.0f (code) tokens more",
      first_bytes, kBytesPerToken, kRules[0].added_input_tokens, kRules[1].added_input_tokens));
  assume(
      absl::StrFormat("a reply has %.0f (tree) or %.0f (code) tokens, twice as many with effort "
                      "medium, four times with high; nothing is read from a prompt cache",
                      kRules[0].output_tokens, kRules[1].output_tokens));
  assume(
      "worst: every token of input is one byte, and every reply as long as is allowed; that is "
      "also what a call reserves while it is in flight");
  if (Embeds(config)) {
    assume(absl::StrFormat("every program is embedded once; it has %.0f tokens",
                           std::rbegin(kRules)->added_input_tokens));
  }
  if (rules.ucb) assume("the bandit asks every model of a role equally often");
  if (unpriced) assume("a model has no known price and counts as free here");
  const auto caps = ReadCaps(config.budget());
  if (caps.ok() && caps->run.nano_usd.has_value()) {
    assume(absl::StrCat("the run is stopped at ", UsdText(*caps->run.nano_usd), " in any case"));
  }
  return estimate;
}

}  // namespace ksearch
