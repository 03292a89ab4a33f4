#include "autoscaler/pool_keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "autoscaler/fleet/fleet_table.h"
#include "autoscaler/fleet/instance_log.h"
#include "autoscaler/fleet/program_call.h"
#include "common/log.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// Longer than the calls of one look may take.
constexpr absl::Duration kHoldFor = absl::Minutes(3);
// How often the provider is asked without a special reason: frequent queries would burden
// schedulers.
constexpr absl::Duration kLookEvery = absl::Seconds(10);
// An instance that was asked to leave is killed this long after its grace period.
constexpr absl::Duration kBeyondGrace = absl::Seconds(60);
constexpr int kMostDoublings = 5;
constexpr size_t kMostToldIds = 5;

bool IsPending(const Instance& instance) { return instance.state == Instance::State::kPending; }

std::string Ids(const std::vector<std::string>& ids) {
  if (ids.size() <= kMostToldIds) return absl::StrJoin(ids, ", ");
  return absl::StrCat(absl::StrJoin(ids.begin(), ids.begin() + kMostToldIds, ", "), ", ...");
}

}  // namespace

PoolKeeper::PoolKeeper(const v1::WorkerPool& pool, Parts parts, absl::Time now)
    : pool_(pool),
      parts_(std::move(parts)),
      nano_usd_per_hour_(pool.usd_per_hour().empty() ? 0
                                                     : ParseUsd(pool.usd_per_hour()).value_or(0)),
      nano_usd_cap_(pool.usd_cap().empty() ? 0 : ParseUsd(pool.usd_cap()).value_or(0)),
      policy_(pool, now),
      accounted_(now) {
  report_.set_pool(pool_.name());
  report_.set_holder(parts_.holder);
  report_.set_host(parts_.host);
  report_.set_provider(ProviderName(pool_));
  report_.set_most(pool_.most());
  report_.set_nano_usd_per_hour(nano_usd_per_hour_);
}

absl::Status PoolKeeper::Report(bool release) {
  v1::ReportPoolRequest request;
  *request.mutable_report() = report_;
  *request.mutable_hold_for() = ToProto(kHoldFor);
  request.set_release(release);
  return parts_.coordinator->ReportPool(request);
}

bool PoolKeeper::Hold() {
  const absl::Status status = Report(/*release=*/false);
  if (status.ok()) {
    if (!refused_.empty()) {
      LOG(INFO) << "msg=\"this autoscaler holds the pool again\" pool=" << pool_.name();
      refused_.clear();
    }
    return true;
  }
  // Compares codes, as the text contains a time that counts down.
  const std::string kind = absl::StatusCodeToString(status.code());
  if (refused_ != kind) {
    refused_ = kind;
    LOG(WARNING) << "msg=\"nothing is started or stopped\" pool=" << pool_.name() << " reason=\""
                 << status.message() << "\"";
  }
  return false;
}

void PoolKeeper::Release() {
  const absl::Status status = Report(/*release=*/true);
  if (!status.ok()) LOG(INFO) << "msg=\"pool not released\" pool=" << pool_.name();
}

void PoolKeeper::Step(absl::Time now, const v1::ListWorkersReply& workers,
                      google::protobuf::RepeatedPtrField<v1::Demand>* demands) {
  in_trouble_ = false;
  if (!Hold()) {
    accounted_ = now;
    return;
  }
  const PoolDemand demand = DemandFor(pool_.offer(), *demands);
  if (!ListInstances(now, /*anew=*/false)) {
    static_cast<void>(Report(/*release=*/false));
    return;
  }
  Account(now);
  Judge(now, workers);
  instances_ = Instances(workers);
  Act(now, demand);
  int pending = fleet_.coming, running = 0, connected = 0;
  for (const PoolInstance& instance : instances_) {
    (instance.running ? running : pending) += 1;
    connected += instance.connected;
  }
  report_.set_pending(pending);
  report_.clear_waits_for();
  for (const Instance& instance : fleet_.instances) {
    if (!IsPending(instance) || instance.note.empty()) continue;
    report_.set_waits_for(OneLine(instance.note));
    break;
  }
  report_.set_running(running);
  report_.set_connected(connected);
  report_.set_nano_usd_spent(parts_.spending->Of(pool_.name()));
  // A fault is cleared once a retry has succeeded.
  if (!in_trouble_ && now >= retry_at_) report_.clear_fault();
  report_.clear_retry_in();
  if (now < retry_at_) *report_.mutable_retry_in() = ToProto(retry_at_ - now);
  static_cast<void>(Report(/*release=*/false));
  // A pool that is full or in trouble leaves the remaining demand to the next one.
  const bool sees_to_it =
      report_.fault().empty() && (report_.wanted() < pool_.most() || demand.jobs == 0);
  if (!sees_to_it) return;
  for (int i = demands->size() - 1; i >= 0; --i) {
    if (Meets(pool_.offer(), demands->Get(i).requirement())) demands->DeleteSubrange(i, 1);
  }
}

bool PoolKeeper::ListInstances(absl::Time now, bool anew) {
  if (blind_ && now < retry_at_) return false;
  if (!anew && now - looked_ < kLookEvery) return true;
  absl::StatusOr<Fleet> fleet = parts_.provider->List();
  blind_ = !fleet.ok();
  if (blind_) {
    Fail(now, std::string(fleet.status().message()));
    return false;
  }
  fleet_ = *std::move(fleet);
  looked_ = now;
  return true;
}

void PoolKeeper::Account(absl::Time now) {
  const int running = static_cast<int>(
      std::count_if(fleet_.instances.begin(), fleet_.instances.end(),
                    [](const Instance& one) { return one.state == Instance::State::kRunning; }));
  parts_.spending->Add(pool_.name(), running, now - accounted_, nano_usd_per_hour_);
  accounted_ = now;
}

bool PoolKeeper::AtCap() const {
  return nano_usd_cap_ > 0 && parts_.spending->Of(pool_.name()) >= nano_usd_cap_;
}

void PoolKeeper::Fail(absl::Time now, const std::string& why) {
  const absl::Duration rest =
      FromProto(pool_.back_off()) * (int64_t{1} << std::min(failures_, kMostDoublings));
  ++failures_;
  retry_at_ = now + rest;
  in_trouble_ = true;
  report_.set_fault(OneLine(why));
  *report_.mutable_retry_in() = ToProto(rest);
  LOG(WARNING) << "msg=\"pool in trouble\" pool=" << pool_.name() << " failures=" << failures_
               << " retry_in=" << rest << " reason=\"" << OneLine(why) << "\"";
}

std::vector<PoolInstance> PoolKeeper::Instances(const v1::ListWorkersReply& workers) const {
  std::map<std::string, const v1::WorkerStatus*> of_instance;
  for (const v1::WorkerStatus& worker : workers.workers()) {
    if (worker.connected() && worker.hello().pool() == pool_.name()) {
      of_instance[worker.hello().instance()] = &worker;
    }
  }
  std::vector<PoolInstance> instances;
  for (const Instance& one : fleet_.instances) {
    const auto known = known_.find(one.id);
    if (known != known_.end() && known->second.stop_asked < absl::InfiniteFuture()) continue;
    PoolInstance& instance = instances.emplace_back();
    instance.id = one.id;
    instance.running = one.state == Instance::State::kRunning;
    const auto worker = of_instance.find(one.id);
    instance.connected = worker != of_instance.end();
    instance.idle = instance.connected && worker->second->report().leases().empty();
  }
  return instances;
}

void PoolKeeper::Judge(absl::Time now, const v1::ListWorkersReply& workers) {
  std::set<std::string> connected;
  for (const v1::WorkerStatus& worker : workers.workers()) {
    if (worker.connected() && worker.hello().pool() == pool_.name()) {
      connected.insert(worker.hello().instance());
    }
  }
  std::set<std::string> listed;
  std::vector<std::string> broken;
  std::string why;
  for (const Instance& instance : fleet_.instances) {
    listed.insert(instance.id);
    Known& known = known_[instance.id];
    const bool stopping = known.stop_asked < absl::InfiniteFuture();
    if (connected.contains(instance.id)) {
      if (!known.connected_once) {
        known.connected_once = true;
        failures_ = 0;
      }
      if (!stopping) continue;
    }
    if (stopping) {
      // The final kill is repeated once a minute.
      if (now - known.stop_asked > FromProto(pool_.leave_grace()) + kBeyondGrace) {
        Stop(instance.id, FleetProvider::Manner::kAtOnce, now);
      }
      continue;
    }
    if (instance.state == Instance::State::kRunning) {
      known.first_running = std::min(known.first_running, now);
    }
    if (instance.state == Instance::State::kFailed) {
      broken.push_back(instance.id);
      why = absl::StrCat(instance.id, ": ", instance.note);
    } else if (!known.connected_once &&
               now - known.first_running > FromProto(pool_.start_within())) {
      broken.push_back(instance.id);
      why = absl::StrCat(
          instance.id, " runs for ", absl::FormatDuration(FromProto(pool_.start_within())),
          ", and its worker has not connected", SeeLog(parts_.provider->LogOf(instance.id)));
    }
  }
  for (auto it = known_.begin(); it != known_.end();) {
    const auto& [id, known] = *it;
    if (listed.contains(id)) {
      ++it;
      continue;
    }
    // The instance may have started after the list was made.
    if (connected.contains(id)) {
      it->second.connected_once = true;
      ++it;
      continue;
    }
    if (!known.connected_once && known.stop_asked == absl::InfiniteFuture() && why.empty()) {
      why = absl::StrCat(id, " ended before its worker connected",
                         SeeLog(parts_.provider->LogOf(id)));
    }
    it = known_.erase(it);
  }
  if (before_start_.has_value()) {
    const bool seen = fleet_.coming > before_start_->coming ||
                      std::any_of(listed.begin(), listed.end(), [&](const std::string& id) {
                        return !before_start_->instances.contains(id);
                      });
    if (!seen && why.empty()) {
      why = absl::StrCat("what was started ended before it was seen",
                         SeeLog(parts_.provider->LogOf("")));
    }
    before_start_.reset();
  }
  for (const std::string& id : broken) Stop(id, FleetProvider::Manner::kAtOnce, now);
  const bool some_wait =
      fleet_.coming > 0 || std::any_of(fleet_.instances.begin(), fleet_.instances.end(), IsPending);
  if (!fleet_.fault.empty() && some_wait && why.empty()) why = fleet_.fault;
  // One fault at a time: several instances that fail for the same cause count once.
  if (!why.empty() && now >= retry_at_) {
    Fail(now, why);
  } else if (!why.empty()) {
    in_trouble_ = true;
    report_.set_fault(OneLine(why));
  }
}

void PoolKeeper::Stop(const std::string& id, FleetProvider::Manner manner, absl::Time now) {
  Known& known = known_[id];
  known.stop_asked = now;
  const absl::Status status = parts_.provider->Stop(id, manner);
  if (!status.ok()) {
    // It has not been asked then.
    if (manner == FleetProvider::Manner::kGently) known.stop_asked = absl::InfiniteFuture();
    stop_again_at_ = now + FromProto(pool_.back_off());
    LOG(WARNING) << "msg=\"not stopped, trying again later\" pool=" << pool_.name()
                 << " instance=" << id << " reason=\"" << status.message() << "\"";
  }
}

void PoolKeeper::Act(absl::Time now, const PoolDemand& demand) {
  std::vector<std::string> stop;
  int withdraw = 0;
  if (AtCap()) {
    in_trouble_ = true;
    withdraw = fleet_.coming;
    report_.set_fault(
        absl::StrFormat("it has cost $%.2f, its cap: its workers are stopped",
                        static_cast<double>(parts_.spending->Of(pool_.name())) * 1e-9));
    report_.set_wanted(0);
    for (const PoolInstance& instance : instances_) {
      if (now >= stop_again_at_) stop.push_back(instance.id);
    }
    if (!stop.empty()) {
      report_.set_last_action(absl::StrCat("stopped ", stop.size(), ": the cap is reached"));
    }
  } else {
    PoolDecision decision =
        policy_.Decide(demand, instances_, fleet_.coming, now >= retry_at_, now);
    report_.set_wanted(decision.wanted);
    if (now >= stop_again_at_) stop = decision.stop;
    withdraw = decision.withdraw;
    if (!stop.empty() || withdraw > 0) {
      report_.set_last_action(absl::StrCat("stopped ", stop.size() + static_cast<size_t>(withdraw),
                                           ": ", decision.why));
    }
    if (decision.start > 0) {
      // Lists the instances once more: an earlier start may have succeeded after all.
      const size_t before = fleet_.instances.size();
      const int coming_before = fleet_.coming;
      if (looked_ != now && !ListInstances(now, /*anew=*/true)) return;
      const int more = static_cast<int>(fleet_.instances.size()) - static_cast<int>(before) +
                       fleet_.coming - coming_before;
      const int count =
          std::min(decision.start - std::max(0, more),
                   pool_.most() - static_cast<int>(fleet_.instances.size()) - fleet_.coming);
      if (count <= 0) return;
      const absl::Status status = parts_.provider->Start(count);
      looked_ = absl::InfinitePast();  // the list is out of date now
      if (status.ok()) {
        before_start_ = Before{{}, fleet_.coming};
        for (const Instance& one : fleet_.instances) before_start_->instances.insert(one.id);
        report_.set_last_action(absl::StrCat("started ", count, ": ", decision.why));
        LOG(INFO) << "msg=\"started\" pool=" << pool_.name() << " count=" << count << " because=\""
                  << decision.why << "\"";
      } else {
        Fail(now, std::string(status.message()));
      }
    }
  }
  if (withdraw > 0) {
    const absl::Status status = parts_.provider->Withdraw(withdraw);
    looked_ = absl::InfinitePast();
    if (!status.ok()) Fail(now, std::string(status.message()));
  }
  if (stop.empty()) return;
  LOG(INFO) << "msg=\"stopping\" pool=" << pool_.name() << " instances=\"" << Ids(stop)
            << "\" because=\"" << report_.last_action() << "\"";
  for (const std::string& id : stop) Stop(id, FleetProvider::Manner::kGently, now);
  looked_ = absl::InfinitePast();
}

}  // namespace ksearch
