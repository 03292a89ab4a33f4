#include "coordinator/engine/trial.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"

namespace ksearch {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr int kRandomBytes = 3;
constexpr size_t kTrialDigits = 12;

bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
         });
}

absl::Status NoName(absl::string_view field, absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat("trial.", field, " is '", absl::CEscape(value),
                                                 "', must be 1 to ", kMaxNameBytes,
                                                 " of letters, digits, '_', '.' and '-'"));
}

}  // namespace

std::string TrialSalt(const v1::RunConfig& config) {
  if (!config.has_trial()) return "";
  const v1::Trial& trial = config.trial();
  return absl::StrCat("trial/", trial.experiment(), "/", trial.arm(), "/", trial.seed(), "/");
}

absl::Status CheckTrial(const v1::RunConfig& config) {
  if (!config.has_trial()) return absl::OkStatus();
  const v1::Trial& trial = config.trial();
  if (!IsName(trial.experiment())) return NoName("experiment", trial.experiment());
  if (!IsName(trial.arm())) return NoName("arm", trial.arm());
  if (trial.seed() == 0 || trial.seed() != config.seed()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "trial.seed is ", trial.seed(), ", must be the run's seed, which is ", config.seed()));
  }
  return absl::OkStatus();
}

std::string NewRunId(const v1::RunConfig& config, absl::string_view request_id) {
  const std::string digits =
      config.has_trial() ? Sha256Hex(request_id).substr(0, kTrialDigits) : RandomHex(kRandomBytes);
  return absl::StrCat(config.task(), "-", digits);
}

}  // namespace ksearch
