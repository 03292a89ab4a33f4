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

// Flags of `run` and `resume` that cap a run. `budget` outlives `app`.
void AddBudgetOptions(CLI::App* app, v1::Budget* budget);
// Flags of `run` that say which models are asked, and for what price.
void AddModelOptions(CLI::App* app, v1::RunConfig* run);

// A flag whose value ParseTime reads. What `take` refers to outlives `app`.
CLI::Option* AddDuration(CLI::App* app, const std::string& flag, const std::string& help,
                         std::function<void(const absl::Duration&)> take);

// "90", "1.5h", "2h30m" -> duration; a plain number is seconds. INVALID_ARGUMENT.
absl::StatusOr<absl::Duration> ParseTime(const std::string& text);
// "MODEL=INPUT,OUTPUT[,CACHE_READ]", dollars per million tokens. MODEL may have a PROVIDER/ before
// it, and '=' is the last one in the text. INVALID_ARGUMENT.
absl::StatusOr<v1::ModelPrice> ParsePrice(const std::string& text);
// "role=code,provider=P,model=M,effort=high,weight=0.5,max-output=16000"; every key but provider or
// model may be left out. INVALID_ARGUMENT.
absl::StatusOr<v1::ModelUse> ParseModelUse(const std::string& text);
// "[PROVIDER/]MODEL=DOLLARS": PROVIDER only if the text before the first '/' is given as such by a
// leading "@": "@P/M=5". INVALID_ARGUMENT.
absl::StatusOr<v1::ModelBudget> ParseModelBudget(const std::string& text);

}  // namespace ksearch

#endif  // KSEARCH_CLI_BUDGET_OPTIONS_H_
