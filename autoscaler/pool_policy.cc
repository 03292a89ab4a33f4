#include "autoscaler/pool_policy.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

bool Agree(const std::string& offered, const std::string& wanted) {
  return offered.empty() || wanted.empty() || offered == wanted;
}

std::string NeedsText(const v1::WorkerRequirement& requirement) {
  if (requirement.build_only()) return "a compiler";
  if (!requirement.device_model().empty()) return requirement.device_model();
  if (!requirement.architecture().empty()) return requirement.architecture();
  return requirement.device_class() == v1::DEVICE_CLASS_CUDA ? "a GPU" : "a processor";
}

}  // namespace

bool Meets(const v1::WorkerOffer& offer, const v1::WorkerRequirement& requirement) {
  if (offer.build_only() && !requirement.build_only()) return false;
  if (!requirement.build_only()) {
    if (offer.device_class() != v1::DEVICE_CLASS_UNSPECIFIED &&
        requirement.device_class() != v1::DEVICE_CLASS_UNSPECIFIED &&
        offer.device_class() != requirement.device_class()) {
      return false;
    }
    if (!Agree(offer.device_model(), requirement.device_model()) ||
        !Agree(offer.architecture(), requirement.architecture())) {
      return false;
    }
  }
  return offer.languages().empty() ||
         std::all_of(
             requirement.languages().begin(), requirement.languages().end(), [&](int language) {
               return std::find(offer.languages().begin(), offer.languages().end(), language) !=
                      offer.languages().end();
             });
}

PoolDemand DemandFor(const v1::WorkerOffer& offer,
                     const google::protobuf::RepeatedPtrField<v1::Demand>& demands) {
  PoolDemand sum;
  for (const v1::Demand& demand : demands) {
    if (!Meets(offer, demand.requirement())) continue;
    // Jobs that free slots will take need no new worker, unless no worker stays long enough.
    const int taken = std::min(demand.queued() - demand.too_short(), demand.free_slots());
    const int left = demand.queued() - std::max(0, taken);
    const int callers = demand.waiting_callers();
    sum.queued += demand.queued() + callers;
    if (left + callers == 0) continue;
    sum.jobs += left + callers;
    if (demand.queued() > 0) {
      sum.work += FromProto(demand.expected_time()) * left / demand.queued();
    }
    sum.needs = NeedsText(demand.requirement());
  }
  return sum;
}

PoolDecision PoolPolicy::Decide(const PoolDemand& demand,
                                const std::vector<PoolInstance>& instances, int coming,
                                bool may_start, absl::Time now) {
  const int there = static_cast<int>(instances.size()) + coming;
  if (demand.queued > 0) last_demand_ = now;
  PoolDecision decision;
  decision.wanted = std::max(pool_.least(), 0);
  if (demand.jobs > 0) {
    const double by_work =
        std::ceil(absl::FDivDuration(demand.work, FromProto(pool_.work_per_instance())));
    // More than one slot per job would stay empty.
    const int slots = pool_.offer().slots();
    const int by_jobs = (demand.jobs + slots - 1) / slots;
    const int more = std::clamp(static_cast<int>(std::min(by_work, 1e6)), 1, by_jobs);
    decision.wanted = std::max(decision.wanted, more);
  }
  decision.wanted = std::min(decision.wanted, pool_.most());
  if (decision.wanted > there) {
    if (may_start) {
      decision.start = decision.wanted - there;
      decision.why =
          demand.jobs > 0
              ? absl::StrCat(demand.jobs, demand.jobs == 1 ? " job waits for " : " jobs wait for ",
                             demand.needs)
              : absl::StrCat("at least ", pool_.least(), " are kept");
    }
    return decision;
  }
  int surplus = there - std::max(pool_.least(), 0);
  if (demand.queued > 0 || now - last_demand_ < FromProto(pool_.cool_down()) || surplus <= 0) {
    return decision;
  }
  decision.wanted = pool_.least();
  // First those that cost nothing yet.
  decision.withdraw = std::min(surplus, coming);
  surplus -= decision.withdraw;
  for (const bool running : {false, true}) {
    for (const PoolInstance& instance : instances) {
      if (surplus == 0 || instance.running != running) continue;
      if (instance.connected && !instance.idle) continue;
      decision.stop.push_back(instance.id);
      --surplus;
    }
  }
  decision.wanted = there - static_cast<int>(decision.stop.size()) - decision.withdraw;
  if (!decision.stop.empty() || decision.withdraw > 0) {
    decision.why =
        absl::StrCat("nothing has waited for ", absl::FormatDuration(FromProto(pool_.cool_down())));
  }
  return decision;
}

}  // namespace ksearch
