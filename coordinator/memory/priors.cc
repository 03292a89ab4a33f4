#include "coordinator/memory/priors.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/textproto.h"

namespace ksearch {
namespace {

// The gains that are counted together.
struct Tally {
  v1::MemoryPrior prior;
  std::set<std::string> tasks;
  std::vector<double> speedups;  // only of programs that passed
};

using Key = std::tuple<bool, bool, v1::Bottleneck, v1::IntentKind>;

void Count(const v1::MeasuredGain& gain, bool same_op_type, std::map<Key, Tally>* tallies) {
  Tally& tally =
      (*tallies)[Key(same_op_type, gain.over_baseline(), gain.bottleneck(), gain.intent())];
  v1::MemoryPrior& prior = tally.prior;
  prior.set_same_op_type(same_op_type);
  prior.set_over_baseline(gain.over_baseline());
  prior.set_bottleneck(gain.bottleneck());
  prior.set_intent(gain.intent());
  prior.set_tried(prior.tried() + 1);
  tally.tasks.insert(gain.task());
  if (!gain.passed()) return;
  prior.set_passed(prior.passed() + 1);
  if (gain.speedup() >= kFaster) prior.set_faster(prior.faster() + 1);
  tally.speedups.push_back(gain.speedup());
}

// A quantile of sorted values, interpolated between the two nearest; 0 if there are none.
double Quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<v1::MemoryPrior> PriorsOf(std::map<Key, Tally> tallies) {
  std::vector<v1::MemoryPrior> priors;
  for (auto& [key, tally] : tallies) {
    std::sort(tally.speedups.begin(), tally.speedups.end());
    tally.prior.set_tasks(static_cast<int>(tally.tasks.size()));
    tally.prior.set_median_speedup(Quantile(tally.speedups, 0.5));
    tally.prior.set_low_speedup(Quantile(tally.speedups, 0.25));
    tally.prior.set_high_speedup(Quantile(tally.speedups, 0.75));
    priors.push_back(std::move(tally.prior));
  }
  std::stable_sort(priors.begin(), priors.end(),
                   [](const v1::MemoryPrior& a, const v1::MemoryPrior& b) {
                     if (a.same_op_type() != b.same_op_type()) return a.same_op_type();
                     return a.tried() > b.tried();
                   });
  return priors;
}

// A program that several runs found is one piece of evidence.
class Seen {
 public:
  bool IsNew(const v1::MeasuredGain& gain) {
    return known_.emplace(gain.task(), gain.candidate_id(), gain.architecture()).second;
  }

 private:
  std::set<std::tuple<std::string, std::string, std::string>> known_;
};

}  // namespace

v1::MemorySnapshot SnapshotOf(const std::vector<v1::MeasuredGain>& gains,
                              const std::string& op_type, absl::Time now) {
  v1::MemorySnapshot snapshot;
  std::map<Key, Tally> tallies;
  Seen seen;
  for (const v1::MeasuredGain& gain : gains) {
    if (!seen.IsNew(gain)) continue;
    snapshot.set_gains(snapshot.gains() + 1);
    Count(gain, gain.op_type() == op_type, &tallies);
  }
  for (v1::MemoryPrior& prior : PriorsOf(std::move(tallies))) {
    if (snapshot.priors_size() == kMostPriors) break;
    *snapshot.add_priors() = std::move(prior);
  }
  *snapshot.mutable_read_at() = ToProto(now);
  return snapshot;
}

std::vector<v1::MemoryGroup> GroupsOf(const std::vector<v1::MeasuredGain>& gains) {
  std::map<std::tuple<std::string, std::string, v1::Language>, std::map<Key, Tally>> groups;
  Seen seen;
  for (const v1::MeasuredGain& gain : gains) {
    if (!seen.IsNew(gain)) continue;
    Count(gain, /*same_op_type=*/true,
          &groups[{gain.op_type(), gain.architecture(), gain.language()}]);
  }
  std::vector<v1::MemoryGroup> listed;
  for (auto& [key, tallies] : groups) {
    v1::MemoryGroup& group = listed.emplace_back();
    group.set_op_type(std::get<0>(key));
    group.set_architecture(std::get<1>(key));
    group.set_language(std::get<2>(key));
    for (v1::MemoryPrior& prior : PriorsOf(std::move(tallies))) {
      *group.add_priors() = std::move(prior);
    }
  }
  return listed;
}

}  // namespace ksearch
