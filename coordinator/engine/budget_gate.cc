#include "coordinator/engine/budget_gate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "coordinator/ledger/call_cost.h"
#include "coordinator/ledger/money.h"
#include "coordinator/search/strategy_factory.h"

namespace ksearch {
namespace {

constexpr char kWorldModelRole[] = "world_model";
constexpr int kWarnAtPercent[] = {50, 80, 95};

// The remaining budget of one scope while calls are admitted.
class Room {
 public:
  Room(const std::vector<LedgerRow>& ledger, const std::string& scope, const ScopeCaps& caps)
      : name_(scope.empty() ? "the run" : scope), caps_(caps) {
    for (const LedgerRow& row : ledger) {
      if (row.scope != scope) continue;
      calls_ = row.calls;
      tokens_ = row.tokens_spent + row.tokens_reserved;
      nano_ = row.nano_spent + row.nano_reserved;
    }
  }

  // Why the call does not fit; empty if it does.
  std::string Refusal(const LlmCallRow& call) const {
    if (caps_.nano_usd.has_value() && nano_ + call.reserved_nano > *caps_.nano_usd) {
      return absl::StrCat("money of ", name_, ": ", UsdText(nano_), " of ",
                          UsdText(*caps_.nano_usd), " is spent or reserved, and a call of ",
                          call.model, " may cost ", UsdText(call.reserved_nano));
    }
    if (caps_.calls.has_value() && calls_ + 1 > *caps_.calls) {
      return absl::StrCat("calls of ", name_, ": all ", *caps_.calls, " are made");
    }
    if (caps_.tokens.has_value() && tokens_ + call.reserved_tokens > *caps_.tokens) {
      return absl::StrCat("tokens of ", name_, ": ", tokens_, " of ", *caps_.tokens,
                          " are used or reserved, and a call may take ", call.reserved_tokens);
    }
    return "";
  }
  void Take(const LlmCallRow& call) {
    calls_ += 1;
    tokens_ += call.reserved_tokens;
    nano_ += call.reserved_nano;
  }

 private:
  const std::string name_;
  const ScopeCaps caps_;
  int64_t calls_ = 0;
  int64_t tokens_ = 0;
  int64_t nano_ = 0;
};

std::string Used(const char* what, const std::string& used, const std::string& cap) {
  return absl::StrCat(what, ": ", used, " of ", cap, " is used");
}

}  // namespace

bool Serves(const v1::ModelUse& use, const std::string& role) {
  return use.role() == role || (use.role().empty() && role != kEmbeddingRole);
}

std::vector<v1::ModelUse> AllUses(const v1::RunConfig& config) {
  std::vector<v1::ModelUse> uses(config.models().begin(), config.models().end());
  for (const StrategyRole& known : RolesOf(config)) {
    const std::string& role = known.name;
    if (std::any_of(config.models().begin(), config.models().end(),
                    [&](const v1::ModelUse& use) { return Serves(use, role); })) {
      continue;
    }
    v1::ModelUse use;
    use.set_role(role);
    use.set_provider(config.provider());
    use.set_model(config.model());
    uses.push_back(std::move(use));
  }
  for (v1::ModelUse& use : uses) {
    if (use.provider().empty()) use.set_provider(config.provider());
    if (use.model().empty() && use.provider() == config.provider()) use.set_model(config.model());
    if (use.reasoning_effort().empty()) use.set_reasoning_effort(config.reasoning_effort());
    if (use.max_output_tokens() == 0) use.set_max_output_tokens(config.max_output_tokens());
    if (use.weight() == 0) use.set_weight(1);
    if (use.role() == kEmbeddingRole) {  // an embedding has no output tokens and no reasoning
      use.clear_reasoning_effort();
      use.clear_max_output_tokens();
    }
  }
  return uses;
}

BudgetGate::BudgetGate(v1::RunConfig config, RunCaps caps)
    : config_(std::move(config)), caps_(std::move(caps)), rules_(ChoiceRulesOf(config_)) {}

absl::StatusOr<BudgetGate> BudgetGate::Create(const v1::RunConfig& config) {
  ASSIGN_OR_RETURN(RunCaps caps, ReadCaps(config.budget()));
  return BudgetGate(config, std::move(caps));
}

std::vector<LedgerCaps> BudgetGate::StoreCaps() const {
  std::vector<LedgerCaps> caps;
  const auto add = [&](const std::string& scope, const ScopeCaps& of) {
    caps.push_back({scope, of.calls, of.tokens, of.nano_usd});
  };
  add("", caps_.run);
  std::set<std::string> scopes;
  for (const v1::ModelUse& use : AllUses(config_)) {
    const std::string scope = LedgerScope(use.provider(), use.model());
    if (scopes.insert(scope).second) add(scope, caps_.ForModel(use.provider(), use.model()));
  }
  return caps;
}

std::vector<v1::ModelUse> BudgetGate::UsesOf(const std::string& role) const {
  std::vector<v1::ModelUse> uses;
  for (v1::ModelUse& use : AllUses(config_)) {
    if (Serves(use, role)) uses.push_back(std::move(use));
  }
  if (uses.empty()) {
    // A role without settings uses the run's own model.
    v1::RunConfig plain = config_;
    plain.clear_models();
    uses.push_back(AllUses(plain)[0]);
  }
  return uses;
}

std::vector<v1::ModelArm*> BudgetGate::ArmsOf(const std::string& role, size_t uses,
                                              v1::RunEngineState* state) {
  const auto find = [&](int use) -> v1::ModelArm* {
    for (v1::ModelArm& arm : *state->mutable_arms()) {
      if (arm.role() == role && arm.use() == use) return &arm;
    }
    return nullptr;
  };
  for (int use = 0; use < static_cast<int>(uses); ++use) {
    if (find(use) != nullptr) continue;
    v1::ModelArm* arm = state->add_arms();
    arm->set_role(role);
    arm->set_use(use);
  }
  std::vector<v1::ModelArm*> arms;
  for (int use = 0; use < static_cast<int>(uses); ++use) arms.push_back(find(use));
  return arms;
}

int BudgetGate::UseOf(const LlmCallRow& call) const {
  const std::vector<v1::ModelUse> uses = UsesOf(call.role);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].provider() == call.provider && uses[i].model() == call.model &&
        uses[i].reasoning_effort() == call.reasoning_effort &&
        uses[i].max_output_tokens() == call.max_output_tokens) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

v1::ResolvedPrice BudgetGate::PriceOf(const std::string& provider, const std::string& model) const {
  for (const v1::ResolvedPrice& price : config_.resolved_prices().prices()) {
    if (price.provider() == provider && price.model() == model) return price;
  }
  v1::ResolvedPrice none;
  none.set_basis("unknown");
  return none;
}

bool BudgetGate::unpriced() const {
  for (const v1::ModelUse& use : AllUses(config_)) {
    if (PriceOf(use.provider(), use.model()).basis() == "unknown") return true;
  }
  return false;
}

LlmCallRow BudgetGate::RowFor(const v1::HeldAsk& ask, const v1::ModelUse& use) const {
  LlmCallRow call;
  call.purpose = ask.purpose();
  call.node_id = ask.node_id();
  call.attempt = ask.attempt();
  call.cycle = ask.cycle();
  call.role = ask.role();
  call.provider = use.provider();
  call.model = use.model();
  call.system = ask.system();
  call.prompt = ask.user();
  call.max_output_tokens = use.max_output_tokens();
  call.reasoning_effort = use.reasoning_effort();
  call.dropped_parts = ask.dropped_parts();
  const WorstCase worst =
      WorstCaseOf(PriceOf(use.provider(), use.model()), ask.system().size() + ask.user().size(),
                  use.max_output_tokens());
  call.reserved_tokens = worst.tokens;
  call.reserved_nano = worst.nano_usd;
  return call;
}

BudgetGate::Passed BudgetGate::Pass(std::vector<LedgerRow> ledger, absl::Duration wall_time,
                                    const std::vector<std::pair<int64_t, LlmCallRow>>& again,
                                    bool closed, v1::RunEngineState* state) const {
  Passed passed;
  const auto block = [&](const std::string& why) {
    if (passed.blocked.empty()) passed.blocked = why;
  };
  // Once time is up, nothing new starts.
  std::string time_up;
  if (caps_.wall_time.has_value() && wall_time >= *caps_.wall_time) {
    time_up = Used("wall time", absl::FormatDuration(absl::Trunc(wall_time, absl::Seconds(1))),
                   absl::FormatDuration(*caps_.wall_time));
  } else if (caps_.gpu_time.has_value() && !ledger.empty() &&
             absl::Microseconds(ledger[0].device_us) >= *caps_.gpu_time) {
    time_up = Used("GPU time",
                   absl::FormatDuration(
                       absl::Trunc(absl::Microseconds(ledger[0].device_us), absl::Milliseconds(1))),
                   absl::FormatDuration(*caps_.gpu_time));
  }
  if (!time_up.empty()) {
    if (state->held_asks_size() + state->held_jobs_size() > 0) block(time_up);
    return passed;
  }
  for (const v1::HeldJob& job : state->held_jobs()) {
    passed.jobs.push_back({job.job_id(), job.spec(), job.tag()});
  }
  state->clear_held_jobs();

  Room run_room(ledger, "", caps_.run);
  std::map<std::string, Room> rooms;
  const auto room_of = [&](const LlmCallRow& call) -> Room& {
    const std::string scope = LedgerScope(call.provider, call.model);
    return rooms.try_emplace(scope, ledger, scope, caps_.ForModel(call.provider, call.model))
        .first->second;
  };
  google::protobuf::RepeatedPtrField<v1::HeldAsk> asks;
  asks.Swap(state->mutable_held_asks());
  for (v1::HeldAsk& ask : asks) {
    std::vector<LlmCallRow> rows;
    std::vector<v1::ModelUse> uses;
    if (ask.again()) {
      for (const auto& [number, row] : again) {
        if (number != ask.call_number()) continue;
        rows.push_back(row);
        const WorstCase worst =
            WorstCaseOf(PriceOf(row.provider, row.model), row.system.size() + row.prompt.size(),
                        row.max_output_tokens);
        rows.back().reserved_tokens = worst.tokens;
        rows.back().reserved_nano = worst.nano_usd;
      }
    } else {
      uses = UsesOf(ask.role());
      for (const v1::ModelUse& use : uses) rows.push_back(RowFor(ask, use));
    }
    // Models whose own cap is used up are left out of the choice.
    std::vector<size_t> open;
    std::string refusal;
    bool run_is_full = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string why = run_room.Refusal(rows[i]);
      run_is_full = run_is_full && !why.empty();
      if (why.empty()) why = room_of(rows[i]).Refusal(rows[i]);
      if (why.empty() && !closed) open.push_back(i);
      if (refusal.empty()) refusal = why;
    }
    if (refusal.empty()) refusal = "a call cost more than was reserved for it";
    if (open.empty()) {
      // Later, smaller calls must not pass it: the run is at its cap.
      closed = closed || run_is_full;
      block(refusal);
      state->add_held_asks()->Swap(&ask);
      continue;
    }
    size_t chosen = open[0];
    if (!ask.again()) {
      const std::vector<v1::ModelArm*> arms = ArmsOf(ask.role(), uses.size(), state);
      std::vector<v1::ModelArm> open_arms;
      std::vector<double> weights;
      for (const size_t i : open) {
        open_arms.push_back(*arms[i]);
        weights.push_back(uses[i].weight());
      }
      chosen = open[ChooseArm(open_arms, weights, rules_,
                              ChoiceDraw(config_.seed(), ask.call_number()))];
      arms[chosen]->set_submitted(arms[chosen]->submitted() + 1);
    }
    run_room.Take(rows[chosen]);
    room_of(rows[chosen]).Take(rows[chosen]);
    passed.calls.push_back(std::move(rows[chosen]));
    passed.call_numbers.push_back(ask.call_number());
  }
  return passed;
}

std::vector<v1::RunEvent> BudgetGate::Warnings(const std::vector<LedgerRow>& ledger,
                                               absl::Duration wall_time,
                                               v1::RunEngineState* state) const {
  std::vector<v1::RunEvent> events;
  const std::vector<v1::ModelUse> uses = AllUses(config_);
  const auto look = [&](const std::string& scope, const char* resource, double used, double cap,
                        const std::string& text) {
    int percent = 0;
    for (const int level : kWarnAtPercent) {
      if (used > 0 && used >= cap * level / 100) percent = level;
    }
    int32_t& warned = (*state->mutable_warned())[absl::StrCat(scope, "|", resource)];
    if (percent > warned) {
      v1::RunEvent& event = events.emplace_back();
      event.set_kind(v1::RunEvent::BUDGET_WARNING);
      event.set_text(absl::StrCat(percent, " % of the ", resource, " of ",
                                  scope.empty() ? "the run" : scope, ": ", text));
    }
    warned = percent;
  };
  for (const LedgerRow& row : ledger) {
    ScopeCaps caps = caps_.run;
    if (!row.scope.empty()) {
      caps = ScopeCaps();
      for (const v1::ModelUse& use : uses) {
        if (LedgerScope(use.provider(), use.model()) != row.scope) continue;
        caps = caps_.ForModel(use.provider(), use.model());
      }
    }
    if (caps.nano_usd.has_value()) {
      look(row.scope, "money", static_cast<double>(row.nano_spent),
           static_cast<double>(*caps.nano_usd),
           absl::StrCat(UsdText(row.nano_spent), " of ", UsdText(*caps.nano_usd)));
    }
    if (caps.calls.has_value()) {
      look(row.scope, "calls", static_cast<double>(row.calls), static_cast<double>(*caps.calls),
           absl::StrCat(row.calls, " of ", *caps.calls));
    }
    if (caps.tokens.has_value()) {
      look(row.scope, "tokens", static_cast<double>(row.tokens_spent),
           static_cast<double>(*caps.tokens), absl::StrCat(row.tokens_spent, " of ", *caps.tokens));
    }
  }
  const auto look_time = [&](const char* resource, absl::Duration used,
                             const std::optional<absl::Duration>& cap) {
    if (!cap.has_value()) return;
    look("", resource, absl::ToDoubleSeconds(used), absl::ToDoubleSeconds(*cap),
         absl::StrFormat("%.1f s of %.1f s", absl::ToDoubleSeconds(used),
                         absl::ToDoubleSeconds(*cap)));
  };
  if (!ledger.empty()) {
    look_time("GPU time", absl::Microseconds(ledger[0].device_us), caps_.gpu_time);
  }
  look_time("wall time", wall_time, caps_.wall_time);
  return events;
}

void BudgetGate::NoteReply(const LlmCallRow& call, bool useful, v1::RunEngineState* state) const {
  const int use = UseOf(call);
  if (use < 0) return;
  const std::vector<v1::ModelArm*> arms = ArmsOf(call.role, UsesOf(call.role).size(), state);
  NoteCost(call.cost_nano + call.lost_nano, arms[static_cast<size_t>(use)]);
  if (call.role == kWorldModelRole && call.error.empty()) state->set_last_world_model_arm(use + 1);
  if (!useful) ksearch::NoteGain(arms, static_cast<size_t>(use), 0, rules_);
}

void BudgetGate::NoteGain(const LlmCallRow& call, double gain, v1::RunEngineState* state) const {
  if (const int use = UseOf(call); use >= 0) {
    ksearch::NoteGain(ArmsOf(call.role, UsesOf(call.role).size(), state), static_cast<size_t>(use),
                      gain, rules_);
  }
  // The tree that the candidate came from is the latest reviser's.
  const int reviser = state->last_world_model_arm() - 1;
  const size_t revisers = UsesOf(kWorldModelRole).size();
  if (reviser < 0 || static_cast<size_t>(reviser) >= revisers) return;
  ksearch::NoteGain(ArmsOf(kWorldModelRole, revisers, state), static_cast<size_t>(reviser), gain,
                    rules_);
}

}  // namespace ksearch
