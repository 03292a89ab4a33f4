// Simulates how often the intervals of a confirmation cover the truth, and its verdicts.
//   ksearch_interval_bench [TRIALS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "common/measure_defaults.h"
#include "common/rng.h"
#include "gpu_worker/verifier/timing/speedup_estimate.h"

namespace ksearch {
namespace {

constexpr double kConfidence = 0.975;  // of each bound
constexpr double kMinEffect = 0.01;
constexpr double kWorstRegression = 0.03;
constexpr int kWorkloads = 5;
constexpr int kBlocks = 3;

struct Noise {
  double launch = 0;  // standard deviation of a log ratio, between launches
  double block = 0;   // between the blocks of a launch
};

double Normal(Rng* rng) {
  return std::sqrt(-2 * std::log(1 - rng->NextDouble())) * std::cos(2 * M_PI * rng->NextDouble());
}

// The blocks of one launch, by workload. A launch moves all workloads alike by one half of its
// variance.
LaunchBlocks DrawLaunch(const std::vector<double>& effects, const Noise& noise, Rng* rng) {
  const double part = noise.launch * std::sqrt(0.5);
  const double shared = part * Normal(rng);
  LaunchBlocks workloads;
  for (const double effect : effects) {
    const double shift = effect + shared + part * Normal(rng);
    std::vector<double>& blocks = workloads.emplace_back();
    for (int k = 0; k < kBlocks; ++k) blocks.push_back(shift + noise.block * Normal(rng));
  }
  return workloads;
}

// Like Confirmation::RunLaunch: the last launch before a look ends once one workload alone
// decides it. Returns whether the launch has all workloads.
bool AddLaunch(const LaunchBlocks& drawn, bool is_last, double confidence,
               std::vector<LaunchBlocks>* workloads) {
  std::vector<LaunchBlocks> with_this = *workloads;
  bool whole = true;
  for (const size_t i : DecidingFirst(*workloads)) {
    if (!whole) break;
    with_this[i].push_back(drawn[i]);
    whole = !is_last ||
            !DecidesAlone(*workloads, i, drawn[i], confidence, kMinEffect, kWorstRegression);
  }
  *workloads = std::move(with_this);
  return std::all_of(workloads->begin(), workloads->end(), [&](const LaunchBlocks& one) {
    return one.size() == workloads->front().size();
  });
}

bool Covers(const LogRatio& ratio, double effect) {
  return ratio.interval.low <= effect && effect <= ratio.interval.high;
}

void PrintCoverage(int trials) {
  std::printf("Coverage in percent of intervals of nominally 95 %%, number of launches fixed\n");
  std::printf("launch noise  block noise |    3     4     6     8 launches\n");
  uint64_t seed = 0;
  for (const double block : {0.003, 0.01}) {
    for (const double times : {0.0, 0.3, 1.0, 3.0, 10.0}) {
      const Noise noise = {times * block, block};
      std::printf("%10.2f %%  %9.2f %% |", 100 * noise.launch, 100 * noise.block);
      for (const int launches : {3, 4, 6, 8}) {
        Rng rng(++seed);
        int covered = 0;
        for (int trial = 0; trial < trials; ++trial) {
          std::vector<LaunchBlocks> workloads(kWorkloads);
          for (int i = 0; i < launches; ++i) {
            AddLaunch(DrawLaunch(std::vector<double>(kWorkloads, 0.1), noise, &rng), false,
                      kConfidence, &workloads);
          }
          covered += Covers(EstimateSpeedup(workloads, kConfidence).combined, 0.1);
        }
        std::printf(" %5.1f", 100.0 * covered / trials);
      }
      std::printf("\n");
    }
  }
}

void PrintVerdicts(int most_launches, int trials) {
  std::printf(
      "\nWhole confirmations of up to %d launches: verdicts, coverage at the end (percent), mean "
      "launches of a workload\n"
      "of %d workloads all, or one and the others:\n"
      "       truth  launch noise  block noise | improved equal worse undecided mixed | covered | "
      "launches\n",
      most_launches, kWorkloads);
  uint64_t seed = 1000;
  const std::vector<int> looks = InterimLooks(most_launches);
  const double confidence = ConfidenceOfLook(kConfidence, static_cast<int>(looks.size()));
  struct Truth {
    double one, others;
  };
  for (const Truth& truth : {Truth{1, 1},
                             {0.98, 0.98},
                             {1.01, 1.01},
                             {1.03, 1.03},
                             {1.5, 1.5},
                             {0.95, 0.95},
                             {0.95, 1.05},
                             {0.96, 1.01}}) {
    for (const Noise noise : {Noise{0.002, 0.002}, {0.006, 0.002}, {0.01, 0.01}, {0.03, 0.01}}) {
      Rng rng(++seed);
      std::vector<double> effects(kWorkloads, std::log(truth.others));
      effects[0] = std::log(truth.one);
      const double effect = std::accumulate(effects.begin(), effects.end(), 0.0) / kWorkloads;
      int verdicts[v1::Comparison::Verdict_ARRAYSIZE] = {};
      int covered = 0, all_launches = 0;
      for (int trial = 0; trial < trials; ++trial) {
        std::vector<LaunchBlocks> workloads(kWorkloads);
        SpeedupEstimate estimate;
        v1::Comparison::Verdict verdict = v1::Comparison::UNDECIDED;
        int launches = 0;  // whole ones
        bool decided_within = false;
        for (const int look : looks) {
          while (launches < look && !decided_within) {
            decided_within = !AddLaunch(DrawLaunch(effects, noise, &rng), launches + 1 == look,
                                        confidence, &workloads);
            if (!decided_within) ++launches;
          }
          estimate = EstimateSpeedup(workloads, confidence);
          verdict = Judge(estimate, kMinEffect, kWorstRegression);
          if (decided_within || IsSettled(estimate, verdict, kWorstRegression)) break;
        }
        ++verdicts[verdict];
        covered += Covers(estimate.combined, effect);
        for (const LaunchBlocks& one : workloads) all_launches += static_cast<int>(one.size());
      }
      const auto percent = [&](int count) { return 100.0 * count / trials; };
      std::printf(
          "%5.2fx %5.2fx %10.2f %%  %9.2f %% | %8.1f %5.1f %5.1f %9.1f %5.1f | %7.1f | %.1f\n",
          truth.one, truth.others, 100 * noise.launch, 100 * noise.block,
          percent(verdicts[v1::Comparison::IMPROVED]), percent(verdicts[v1::Comparison::EQUAL]),
          percent(verdicts[v1::Comparison::WORSE]), percent(verdicts[v1::Comparison::UNDECIDED]),
          percent(verdicts[v1::Comparison::MIXED]), percent(covered),
          static_cast<double>(all_launches) / kWorkloads / trials);
    }
  }
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 10'000;
  if (argc > 2 || trials < 1) {
    std::fprintf(stderr, "usage: ksearch_interval_bench [TRIALS]\n");
    return 2;
  }
  ksearch::PrintCoverage(trials);
  for (const int most : {ksearch::kDefaultLaunches, ksearch::kDefaultLaunchesOnProcessors}) {
    ksearch::PrintVerdicts(most, trials);
  }
  return 0;
}
