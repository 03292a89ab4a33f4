#include "coordinator/engine/trial.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/names.h"

namespace ksearch {
namespace {

constexpr int kRandomBytes = 3;
constexpr size_t kTrialDigits = 12;

absl::Status NoName(absl::string_view field, absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat("trial.", field, " is '", absl::CEscape(value),
                                                 "', must be 1 to ", kMaxTrialNameBytes,
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
  if (!IsTrialName(trial.experiment())) return NoName("experiment", trial.experiment());
  if (!IsTrialName(trial.arm())) return NoName("arm", trial.arm());
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
