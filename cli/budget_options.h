#ifndef KSEARCH_CLI_BUDGET_OPTIONS_H_
#define KSEARCH_CLI_BUDGET_OPTIONS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/config.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ksearch {

// Adds the flags of `run` and `resume` that limit a run's budget. `budget` must outlive `app`.
void AddBudgetOptions(CLI::App* app, v1::Budget* budget);
// Adds the flags of `run` that choose models and give their prices.
void AddModelOptions(CLI::App* app, v1::RunConfig* run);

// Adds a flag whose value ParseTime reads. Whatever `take` refers to must outlive `app`.
CLI::Option* AddDuration(CLI::App* app, const std::string& flag, const std::string& help,
                         std::function<void(const absl::Duration&)> take);

// Parses "90", "1.5h" or "2h30m"; a plain number is seconds. INVALID_ARGUMENT.
absl::StatusOr<absl::Duration> ParseTime(const std::string& text);
// Parses "MODEL=INPUT,OUTPUT[,CACHE_READ]", dollars per million tokens. MODEL may be preceded by
// PROVIDER/; the last '=' in the text counts. INVALID_ARGUMENT.
absl::StatusOr<v1::ModelPrice> ParsePrice(const std::string& text);
// Parses "role=code,provider=P,model=M,effort=high,weight=0.5,max-output=16000"; either provider or
// model is required, everything else is optional. INVALID_ARGUMENT.
absl::StatusOr<v1::ModelUse> ParseModelUse(const std::string& text);
// Parses "[PROVIDER/]MODEL=DOLLARS". The text before the first '/' is the provider only after a
// leading "@": "@P/M=5". INVALID_ARGUMENT.
absl::StatusOr<v1::ModelBudget> ParseModelBudget(const std::string& text);

}  // namespace ksearch

#endif  // KSEARCH_CLI_BUDGET_OPTIONS_H_
