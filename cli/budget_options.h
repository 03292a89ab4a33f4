#ifndef KSEARCH_CLI_BUDGET_OPTIONS_H_
#define KSEARCH_CLI_BUDGET_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace ksearch {

// Adds the flags of `run` and `resume` that limit a run's budget. `budget` must outlive `app`.
void AddBudgetOptions(CLI::App* app, v1::Budget* budget);
// Adds the flags of `run` that choose models and give their prices.
void AddModelOptions(CLI::App* app, v1::RunConfig* run);

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
