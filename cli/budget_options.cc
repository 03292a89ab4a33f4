#include "cli/budget_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/option_kinds.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

const std::map<std::string, v1::ModelChoice> kChoices = {{"weights", v1::MODEL_CHOICE_WEIGHTS},
                                                         {"ucb", v1::MODEL_CHOICE_UCB}};

absl::Status Fault(const std::string& text, absl::string_view form) {
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not of the form ", form));
}

// An option whose text `parse` reads and `take` keeps; text that it cannot read is a usage error.
template <typename Value>
CLI::Option* AddParsed(CLI::App* app, const std::string& flag, const std::string& help,
                       absl::StatusOr<Value> (*parse)(const std::string&),
                       std::function<void(const Value&)> take) {
  return app
      ->add_option_function<std::vector<std::string>>(
          flag,
          [flag, parse, take](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const absl::StatusOr<Value> value = parse(text);
              if (!value.ok())
                throw CLI::ValidationError(flag, std::string(value.status().message()));
              take(*value);
            }
          },
          help)
      ->allow_extra_args(false);
}

CLI::Option* AddCount(CLI::App* app, const std::string& flag, const std::string& help,
                      std::function<void(int64_t)> take) {
  return app
      ->add_option_function<int64_t>(
          flag, [take](const int64_t& value) { take(value); }, help)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 60));
}

}  // namespace

absl::StatusOr<v1::ModelPrice> ParsePrice(const std::string& text) {
  constexpr char kForm[] = "MODEL=INPUT,OUTPUT[,CACHE_READ], in dollars per million tokens";
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return Fault(text, kForm);
  const std::vector<std::string> rates = absl::StrSplit(text.substr(equals + 1), ',');
  if (rates.size() < 2 || rates.size() > 3 || rates[0].empty() || rates[1].empty()) {
    return Fault(text, kForm);
  }
  v1::ModelPrice price;
  price.set_model(text.substr(0, equals));
  price.mutable_rates()->set_input(rates[0]);
  price.mutable_rates()->set_output(rates[1]);
  if (rates.size() == 3) price.mutable_rates()->set_cache_read(rates[2]);
  return price;
}

absl::StatusOr<v1::ModelUse> ParseModelUse(const std::string& text) {
  constexpr char kForm[] =
      "role=code,provider=P,model=M,effort=high,weight=0.5,max-output=16000 (what is left out has "
      "its default; role is world_model or code)";
  v1::ModelUse use;
  const std::vector<std::string> pairs = absl::StrSplit(text, ',');
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals + 1 == pair.size()) return Fault(text, kForm);
    const std::string key = pair.substr(0, equals);
    const std::string value = pair.substr(equals + 1);
    double weight = 0;
    int32_t tokens = 0;
    if (key == "role") {
      use.set_role(value);
    } else if (key == "provider") {
      use.set_provider(value);
    } else if (key == "model") {
      use.set_model(value);
    } else if (key == "effort") {
      use.set_reasoning_effort(value);
    } else if (key == "weight" && absl::SimpleAtod(value, &weight) && weight > 0) {
      use.set_weight(weight);
    } else if (key == "max-output" && absl::SimpleAtoi(value, &tokens) && tokens > 0) {
      use.set_max_output_tokens(tokens);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("'", pair, "' in '", text, "': expected ", kForm));
    }
  }
  if (use.provider().empty() && use.model().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' names no provider or model"));
  }
  return use;
}

absl::StatusOr<v1::ModelBudget> ParseModelBudget(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Fault(text, "MODEL=DOLLARS, or @PROVIDER/MODEL=DOLLARS");
  }
  v1::ModelBudget budget;
  std::string model = text.substr(0, equals);
  if (model[0] == '@') {
    const size_t slash = model.find('/');
    if (slash == std::string::npos) return Fault(text, "@PROVIDER/MODEL=DOLLARS");
    budget.set_provider(model.substr(1, slash - 1));
    model = model.substr(slash + 1);
  }
  budget.set_model(model);
  budget.set_usd(text.substr(equals + 1));
  return budget;
}

void AddBudgetOptions(CLI::App* app, v1::Budget* budget) {
  app->add_option_function<std::string>(
      "--budget-usd", [budget](const std::string& v) { budget->set_usd(v); },
      "maximum cost of the model calls, in dollars");
  AddParsed<v1::ModelBudget>(
      app, "--model-budget-usd", "the same for one model: MODEL=DOLLARS", ParseModelBudget,
      [budget](const v1::ModelBudget& model) { *budget->add_models() = model; });
  AddCount(app, "--max-llm-calls", "maximum number of model calls",
           [budget](int64_t v) { budget->set_llm_calls(v); });
  AddCount(app, "--max-tokens", "maximum number of tokens, input and output together",
           [budget](int64_t v) { budget->set_tokens(v); });
  AddDuration(app, "--max-gpu-seconds", "maximum time on devices, summed over evaluations",
              [budget](const absl::Duration& v) { *budget->mutable_gpu_time() = ToProto(v); });
  AddDuration(app, "--max-wall-time", "maximum time that the run is active, e.g. 90, 45m or 2h30m",
              [budget](const absl::Duration& v) { *budget->mutable_wall_time() = ToProto(v); });
}

void AddModelOptions(CLI::App* app, v1::RunConfig* run) {
  AddParsed<v1::ModelUse>(app, "--use",
                          "a model for a role; may be repeated: "
                          "role=code,provider=P,model=M,effort=high,weight=0.5,max-output=16000",
                          ParseModelUse,
                          [run](const v1::ModelUse& use) { *run->add_models() = use; });
  app->add_option_function<std::string>(
         "--model-choice", [run](const std::string& v) { run->set_model_choice(kChoices.at(v)); },
         "how to choose among a role's models: weights (default), or ucb: by gain and cost")
      ->check(CLI::IsMember(kChoices));
  AddParsed<v1::ModelPrice>(
      app, "--price",
      "a model's price: MODEL=INPUT,OUTPUT[,CACHE_READ], in dollars per million tokens", ParsePrice,
      [run](const v1::ModelPrice& price) { *run->add_prices() = price; });
  AddCount(app, "--max-output-tokens", "maximum number of tokens per reply (default 32000)",
           [run](int64_t v) {
             run->set_max_output_tokens(static_cast<int32_t>(std::min<int64_t>(v, INT32_MAX)));
           });
}

}  // namespace ksearch
