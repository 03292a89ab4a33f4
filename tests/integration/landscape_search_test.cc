// Strategies, with their real prompts and parsers, on every shipped landscape, with many seeds: the
// results must reach given bounds, so that a change which makes a strategy worse is noticed.
// Measurements and time are simulated; a search of 120 evaluations takes some hundredths of a
// second.
// To see the table: KSEARCH_SEEDS=20 landscape_search_test (docs/comparing.md).
#include "tests/integration/landscape_search.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/compare/paired_statistics.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/repetitions.h"

namespace ksearch {
namespace {

constexpr int kRounds = Repetitions(120, 40);  // the bounds are for 120

std::string Folder() {
  return absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/configs/demo/landscapes/");
}

// The number that the bounds are for.
int SeedsOfBounds(absl::string_view landscape) { return landscape == "deceptive" ? 60 : 20; }

int Seeds(absl::string_view landscape) {
  int seeds = Repetitions(SeedsOfBounds(landscape), 1);
  const char* const given = std::getenv("KSEARCH_SEEDS");
  if (given != nullptr && !absl::SimpleAtoi(given, &seeds)) ADD_FAILURE() << "KSEARCH_SEEDS";
  return seeds;
}

// A line of data/landscape_arms.txt.
struct Arm {
  std::string name;
  v1::RunConfig config;
  std::map<std::string, double> least;  // by landscape
};

// The file has the least geometric mean over the seeds.
const std::vector<Arm>& Arms() {
  static const auto* const arms = [] {
    auto* read = new std::vector<Arm>;
    const std::string path = absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"),
                                          "/tests/integration/data/landscape_arms.txt");
    const std::string text = ReadFile(path, 1 << 20).value();
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      if (line[0] == '#') continue;
      const std::vector<std::string> parts = absl::StrSplit(line, '|');
      EXPECT_EQ(parts.size(), 3) << line;
      Arm arm;
      arm.name = std::string(absl::StripAsciiWhitespace(parts.at(0)));
      EXPECT_TRUE(ParseTextproto(parts.at(1), path, &arm.config).ok()) << line;
      for (const absl::string_view word : absl::StrSplit(parts.at(2), ' ', absl::SkipEmpty())) {
        const std::pair<std::string, std::string> bound = absl::StrSplit(word, '=');
        EXPECT_TRUE(absl::SimpleAtod(bound.second, &arm.least[bound.first])) << line;
      }
      read->push_back(std::move(arm));
    }
    return read;
  }();
  return *arms;
}

class LandscapeSearchTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto landscape = Landscape::Load(absl::StrCat(Folder(), GetParam(), ".landscape.textproto"));
    ASSERT_TRUE(landscape.ok()) << landscape.status();
    player_ = std::make_unique<LandscapePlayer>(*std::move(landscape));
    task_ = MakeDirectorySuite({Folder() + "tasks"}).value()->Load("tunable_scale_f32").value();
  }

  LandscapeSearch Search(const Arm& arm, int seed, int parallel = 1) const {
    v1::RunConfig config = arm.config;
    config.set_language(v1::LANGUAGE_CPP);
    config.set_rounds(kRounds);
    config.set_parallel(parallel);
    config.set_seed(static_cast<uint64_t>(seed));
    return SearchLandscape(*player_, task_, config);
  }

  std::unique_ptr<LandscapePlayer> player_;
  v1::Task task_;
};

TEST_P(LandscapeSearchTest, EveryArmKeepsItsBounds) {
  std::map<std::string, std::vector<double>> logs;
  for (const Arm& arm : Arms()) {
    for (int seed = 1; seed <= Seeds(GetParam()); ++seed) {
      const LandscapeSearch found = Search(arm, seed);
      EXPECT_EQ(found.error, "") << arm.name << ", seed " << seed;
      EXPECT_LE(found.evaluations, kRounds) << arm.name;
      // Some strategies refuse programs without evaluating them.
      EXPECT_GE(found.evaluations, kRounds / 3) << arm.name << ", seed " << seed;
      EXPECT_EQ(found.rejected_edits, 0) << arm.name << ", seed " << seed;
      logs[arm.name].push_back(std::log(found.speedup));
    }
  }
  const std::vector<double>& control = logs["best_of_n"];
  std::printf("%s: the best there is %.2fx\n", GetParam(),
              1 / player_->landscape().LeastCost().value_or(1));
  for (const Arm& arm : Arms()) {
    std::vector<double> differences;
    for (size_t i = 0; i < control.size(); ++i) {
      differences.push_back(logs[arm.name][i] - control[i]);
    }
    const Estimate speedup = BootstrapMean({logs[arm.name]}, {});
    if (Seeds(GetParam()) == SeedsOfBounds(GetParam()) && arm.least.count(GetParam()) > 0) {
      EXPECT_GE(std::exp(speedup.value), arm.least.at(GetParam())) << arm.name;
    }
    const Estimate ratio = BootstrapMean({differences}, {});
    std::printf("  %-24s %6.2fx [%.2f, %.2f]   beside best_of_n %.2fx [%.2f, %.2f], p %.4f\n",
                arm.name.c_str(), std::exp(speedup.value), std::exp(speedup.low),
                std::exp(speedup.high), std::exp(ratio.value), std::exp(ratio.low),
                std::exp(ratio.high), WilcoxonSignedRank(differences));
  }
}

// The same search gives the same result to the last digit, on any machine.
TEST_P(LandscapeSearchTest, IsRepeatable) {
  for (const Arm& arm : Arms()) {
    EXPECT_EQ(Search(arm, 3, /*parallel=*/4).best, Search(arm, 3, /*parallel=*/4).best) << arm.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, LandscapeSearchTest,
                         testing::Values("smooth", "deceptive", "plateau"));

}  // namespace
}  // namespace ksearch
