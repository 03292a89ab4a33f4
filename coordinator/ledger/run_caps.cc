#include "coordinator/ledger/run_caps.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/textproto.h"
#include "coordinator/ledger/money.h"

namespace ksearch {
namespace {

using Faults = std::vector<std::string>;

// Budget and ModelBudget have these fields in common.
template <typename Message>
ScopeCaps ReadScope(const Message& budget, const std::string& where, Faults* faults) {
  ScopeCaps caps;
  if (!budget.usd().empty()) {
    const auto nano = ParseUsd(budget.usd());
    if (nano.ok()) {
      caps.nano_usd = *nano;
    } else {
      faults->push_back(absl::StrCat(where, ".usd: ", std::string(nano.status().message())));
    }
  }
  const auto count = [&](const char* field, int64_t value) -> std::optional<int64_t> {
    if (value < 0) faults->push_back(absl::StrCat(where, ".", field, " is negative"));
    if (value <= 0) return std::nullopt;
    return std::min(value, INT64_MAX / 4);
  };
  caps.calls = count("llm_calls", budget.llm_calls());
  caps.tokens = count("tokens", budget.tokens());
  return caps;
}

std::optional<absl::Duration> ReadDuration(const char* field,
                                           const google::protobuf::Duration& duration,
                                           Faults* faults) {
  const absl::Duration value = FromProto(duration);
  if (value < absl::ZeroDuration())
    faults->push_back(absl::StrCat("budget.", field, " is negative"));
  if (value <= absl::ZeroDuration()) return std::nullopt;
  return value;
}

void Tighten(std::optional<int64_t>* cap, const std::optional<int64_t>& other) {
  if (other.has_value()) *cap = cap->has_value() ? std::min(**cap, *other) : *other;
}

template <typename Message>
void MergeScope(const Message& given, Message* base) {
  if (!given.usd().empty()) base->set_usd(given.usd());
  if (given.llm_calls() != 0) base->set_llm_calls(given.llm_calls());
  if (given.tokens() != 0) base->set_tokens(given.tokens());
}

}  // namespace

ScopeCaps RunCaps::ForModel(const std::string& provider, const std::string& model) const {
  ScopeCaps tightest;
  for (const Model& capped : models) {
    if (capped.model != model) continue;
    if (!capped.provider.empty() && capped.provider != provider) continue;
    Tighten(&tightest.nano_usd, capped.caps.nano_usd);
    Tighten(&tightest.calls, capped.caps.calls);
    Tighten(&tightest.tokens, capped.caps.tokens);
  }
  return tightest;
}

bool RunCaps::caps_money() const {
  return run.nano_usd.has_value() ||
         std::any_of(models.begin(), models.end(),
                     [](const Model& model) { return model.caps.nano_usd.has_value(); });
}

absl::StatusOr<RunCaps> ReadCaps(const v1::Budget& budget) {
  Faults faults;
  RunCaps caps;
  caps.run = ReadScope(budget, "budget", &faults);
  caps.gpu_time = ReadDuration("gpu_time", budget.gpu_time(), &faults);
  caps.wall_time = ReadDuration("wall_time", budget.wall_time(), &faults);
  for (int i = 0; i < budget.models_size(); ++i) {
    const v1::ModelBudget& model = budget.models(i);
    const std::string where = absl::StrCat("budget.models[", i, "]");
    if (model.model().empty()) faults.push_back(absl::StrCat(where, ".model is missing"));
    caps.models.push_back({model.provider(), model.model(), ReadScope(model, where, &faults)});
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
  return caps;
}

v1::Budget MergedBudget(v1::Budget base, const v1::Budget& given) {
  MergeScope(given, &base);
  if (given.has_gpu_time()) *base.mutable_gpu_time() = given.gpu_time();
  if (given.has_wall_time()) *base.mutable_wall_time() = given.wall_time();
  for (const v1::ModelBudget& model : given.models()) {
    const auto same = std::find_if(
        base.mutable_models()->begin(), base.mutable_models()->end(), [&](const auto& known) {
          return known.provider() == model.provider() && known.model() == model.model();
        });
    if (same == base.mutable_models()->end()) {
      *base.add_models() = model;
    } else {
      MergeScope(model, &*same);
    }
  }
  return base;
}

}  // namespace ksearch
