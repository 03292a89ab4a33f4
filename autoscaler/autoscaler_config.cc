#include "autoscaler/autoscaler_config.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "autoscaler/fleet/fleet_table.h"
#include "autoscaler/spending.h"
#include "common/access/configured_access.h"
#include "common/arguments.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kDefaultSlots = 2;
constexpr int kMostInstances = 10'000;
constexpr size_t kMaxNameBytes = 40;

class FaultList {
 public:
  void Add(absl::string_view field, absl::string_view what) {
    faults_.push_back(absl::StrCat(field, ": ", what));
  }
  // A time that is set must be more than 0.
  void CheckTime(const std::string& field, const google::protobuf::Duration& time) {
    if (FromProto(time) <= absl::ZeroDuration()) Add(field, "must be more than 0");
  }
  void Usd(const std::string& field, const std::string& text) {
    if (text.empty()) return;
    const auto amount = ParseUsd(text);
    if (!amount.ok()) Add(field, std::string(amount.status().message()));
    if (amount.ok() && *amount == 0) Add(field, "must be more than 0");
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

void CompletePool(const std::string& coordinator, const std::string& field, v1::WorkerPool* pool,
                  FaultList* faults) {
  const std::string& name = pool->name();
  if (name.empty() || name.size() > kMaxNameBytes ||
      !std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
      })) {
    faults->Add(field + ".name", "1 to 40 letters, digits, '_', '.' and '-'");
  }
  if (pool->most() < 1 || pool->most() > kMostInstances) {
    faults->Add(field + ".most", "give the most instances at once, 1 to 10000");
  }
  if (pool->least() < 0 || pool->least() > pool->most()) {
    faults->Add(field + ".least", "0 to `most`");
  }
  if (pool->offer().slots() < 0) faults->Add(field + ".offer.slots", "must not be negative");
  if (pool->offer().slots() == 0) pool->mutable_offer()->set_slots(kDefaultSlots);
  if (!pool->has_work_per_instance())
    *pool->mutable_work_per_instance() = ToProto(absl::Minutes(5));
  faults->CheckTime(field + ".work_per_instance", pool->work_per_instance());
  if (!pool->has_cool_down()) *pool->mutable_cool_down() = ToProto(absl::Minutes(5));
  faults->CheckTime(field + ".cool_down", pool->cool_down());
  if (!pool->has_start_within()) *pool->mutable_start_within() = ToProto(absl::Minutes(15));
  faults->CheckTime(field + ".start_within", pool->start_within());
  if (!pool->has_back_off()) *pool->mutable_back_off() = ToProto(absl::Seconds(30));
  faults->CheckTime(field + ".back_off", pool->back_off());
  if (!pool->has_leave_grace()) *pool->mutable_leave_grace() = ToProto(absl::Seconds(60));
  faults->CheckTime(field + ".leave_grace", pool->leave_grace());
  faults->Usd(field + ".usd_per_hour", pool->usd_per_hour());
  faults->Usd(field + ".usd_cap", pool->usd_cap());
  if (!pool->usd_cap().empty() && pool->usd_per_hour().empty()) {
    faults->Add(field + ".usd_cap", "give usd_per_hour, too: without it nothing is known to cost");
  }
  if (pool->coordinator_for_workers().empty()) pool->set_coordinator_for_workers(coordinator);
}

}  // namespace

absl::StatusOr<v1::AutoscalerConfig> LoadAutoscalerConfig(const std::vector<std::string>& args) {
  v1::AutoscalerConfig config, given;
  bool read = false;
  ASSIGN_OR_RETURN(const auto arguments, SplitArguments(args));
  for (const auto& [name, value] : arguments) {
    if (name == "--config") {
      const absl::Status status = ReadTextproto(value, &config);
      if (!status.ok()) return absl::InvalidArgumentError(status.message());
      read = true;
    } else if (name == "--coordinator") {
      given.set_coordinator_address(value);
    } else if (name == "--token-file") {
      given.set_token_file(value);
    } else if (name == "--state-file") {
      given.set_state_file(value);
    } else {
      return UsageError(absl::StrCat("unknown argument ", name,
                                     " (known: --config, --coordinator, --token-file, "
                                     "--state-file, --dry-run)"));
    }
  }
  if (!read) return UsageError("--config FILE is missing (docs/autoscaler.md)");
  config.MergeFrom(given);
  if (config.coordinator_address().empty()) {
    const char* const address = std::getenv("KSEARCH_COORDINATOR");
    config.set_coordinator_address(address == nullptr ? "127.0.0.1:7400" : address);
  }
  if (config.state_file().empty()) config.set_state_file("ksearch-autoscaler.state");
  FaultList faults;
  if (!config.has_look_every()) *config.mutable_look_every() = ToProto(absl::Seconds(2));
  faults.CheckTime("look_every", config.look_every());
  if (config.pools().empty()) faults.Add("pools", "give at least one");
  std::set<std::string> names;
  for (int i = 0; i < config.pools_size(); ++i) {
    v1::WorkerPool* pool = config.mutable_pools(i);
    const std::string field = absl::StrCat("pools[", i, "]");
    CompletePool(config.coordinator_address(), field, pool, &faults);
    if (!names.insert(pool->name()).second) {
      faults.Add(field + ".name", absl::StrCat("'", pool->name(), "' is given twice"));
    }
    const auto provider = MakeFleetProvider(*pool);
    if (!provider.ok()) {
      faults.Add(field, std::string(provider.status().message()));
    }
  }
  if (faults.faults().empty()) return config;
  return absl::InvalidArgumentError(absl::StrJoin(faults.faults(), "\n"));
}

absl::StatusOr<ClientAccess> ReadAutoscalerAccess(const v1::AutoscalerConfig& config) {
  return ReadConfiguredAccess(config.coordinator_address(), config.token_file(), config.tls());
}

}  // namespace ksearch
