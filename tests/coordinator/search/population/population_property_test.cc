// The behavior that all strategies with a population must share: determinism, exact resuming,
// budgets, and a state without programs. Their differences have separate tests.
#include <functional>
#include <set>
#include <tuple>

#include "absl/strings/match.h"
#include "coordinator/search/population/adaevolve.h"
#include "coordinator/search/population/evoengineer.h"
#include "coordinator/search/population/openevolve.h"
#include "coordinator/search/population/puct.h"
#include "coordinator/search/population/shinka.h"
#include "coordinator/search/racing/racing.h"
#include "tests/common/repetitions.h"
#include "tests/coordinator/search/population/population_fixture.h"

namespace ksearch {
namespace {

template <typename Policy, typename Settings>
std::unique_ptr<SearchStrategy> Make(const char* name, const SearchContext& context,
                                     const Settings& settings) {
  return std::make_unique<AttemptSearch>(name, context, FakeAttemptProposer(),
                                         std::make_unique<Policy>(Completed<Policy>(settings)));
}

struct Strategy {
  const char* name;
  AttemptDriver::Make make;
};

std::vector<Strategy> Strategies() {
  const auto openevolve = [](const char* preset) {
    return [preset](const SearchContext& context) {
      v1::OpenEvolveSettings settings;
      settings.set_preset(preset);
      settings.set_migration_interval(3);
      settings.set_population(8);
      return Make<OpenEvolve>("openevolve", context, settings);
    };
  };
  const auto evoengineer = [](const char* preset) {
    return [preset](const SearchContext& context) {
      v1::EvoEngineerSettings settings;
      settings.set_preset(preset);
      return Make<EvoEngineer>("evoengineer", context, settings);
    };
  };
  const auto shinka = [](const char* preset) {
    return [preset](const SearchContext& context) {
      v1::ShinkaSettings settings;
      settings.set_preset(preset);
      settings.set_migration_interval(4);
      settings.set_migration_rate(0.3);
      settings.set_notes_interval(3);
      settings.set_novelty_threshold(0.5);
      return Make<Shinka>("shinka", context, settings);
    };
  };
  const auto puct = [](const SearchContext& context) {
    v1::PuctSettings settings;
    settings.set_history(5);
    return Make<Puct>("puct", context, settings);
  };
  const auto adaevolve = [](const SearchContext& context) {
    v1::AdaEvolveSettings settings;
    settings.set_stagnation_window(4);
    settings.set_stagnation_gain(0.5);
    settings.set_spawn_cooldown(6);
    settings.set_spawn_productivity(0.5);
    settings.set_migration_interval(5);
    settings.set_population(4);
    settings.set_reply_form(v1::REPLY_FORM_UNIFIED_DIFF);
    return Make<AdaEvolve>("adaevolve", context, settings);
  };
  const auto racing = [](const SearchContext& context) {
    v1::RacingSettings settings;
    settings.set_lines(3);
    SettingFaults faults;
    Racing::Complete(context.config.parallel(), &settings, &faults);
    return std::make_unique<AttemptSearch>(
        "racing", context, FakeAttemptProposer(),
        std::make_unique<Racing>(settings, context.config.rounds()));
  };
  return {{"oe_ksearch", openevolve("oe-ksearch")},
          {"oe_tuned", openevolve("oe-tuned")},
          {"evoengineer_free", evoengineer("free")},
          {"evoengineer_full", evoengineer("full")},
          {"shinka_stock", shinka("shinka-stock")},
          {"shinka_ksearch", shinka("shinka-ksearch")},
          {"puct", puct},
          {"adaevolve", adaevolve},
          {"racing", racing}};
}

// A model that answers anything, as a pure function of seed and call.
std::string RandomReply(uint64_t seed, const AskModel& ask) {
  Rng rng(seed * 1000003 + static_cast<uint64_t>(ask.call_number));
  const uint64_t kind = rng.NextBelow(12);
  if (ask.role == "notes") return kind < 3 ? "unusable" : absl::StrCat("try ", kind, " / or not");
  if (kind == 0) return "unusable";
  if (kind == 1) return "popular score=0.75";  // a duplicate sooner or later
  if (kind < 4) return absl::StrCat("program ", ask.call_number, " fail");
  if (kind < 6) return absl::StrCat("patch program -> program v", ask.call_number);
  return absl::StrCat("program ", ask.call_number, " score=", 0.5 + 2 * rng.NextDouble());
}

class PopulationPropertyTest : public testing::TestWithParam<std::tuple<Strategy, int>> {
 protected:
  std::vector<std::string> Transcript(uint64_t seed, bool restart) {
    const auto& [strategy, parallel] = GetParam();
    SearchContext context = AttemptContext(12 + static_cast<int>(seed % 29), parallel);
    context.config.set_seed(seed);
    context.task.set_device(seed % 2 == 0 ? v1::DEVICE_CLASS_CUDA : v1::DEVICE_CLASS_CPU);
    context.config.set_profile(v1::PROFILE_POLICY_AUTO);
    context.config.mutable_evaluation()->set_examine_new_bests(true);
    if (seed % 3 == 1) {
      context.config.add_seed_solution()->set_path("kernel.cpp");
      context.config.mutable_seed_solution(0)->set_content("seed score=0.6");
      for (const char* text : {"seed score=0.6", "other seed score=0.8", "third seed fail"}) {
        v1::SourceFile* file = context.config.add_seeds()->add_files();
        file->set_path("kernel.cpp");
        file->set_content(text);
      }
    }
    AttemptDriver driver(context, strategy.make,
                         [seed](const AskModel& ask) { return RandomReply(seed, ask); });
    Rng order(seed);
    driver.pick = [&](size_t count) { return static_cast<size_t>(order.NextBelow(count)); };
    driver.restart_before_every_step = restart;
    const auto by_size = [](size_t divisor) {
      return [divisor](const v1::Sources& sources) {
        return sources.files(0).content().size() % divisor == 0 ? v1::OUTCOME_INCORRECT
                                                                : v1::OUTCOME_PASSED;
      };
    };
    driver.confirm = by_size(3);
    driver.examine = by_size(5);
    driver.loses = [](const std::string& tag) { return absl::EndsWith(tag, "7"); };
    driver.fault = [](const AskModel& ask) {
      return ask.call_number % 13 == 5 ? absl::UnavailableError("down") : absl::OkStatus();
    };
    const int rounds = context.config.rounds();
    driver.after_step = [&, most = parallel](AttemptDriver& self) {
      const v1::AttemptSearchState state = self.state();
      ASSERT_LE(state.rounds_started(), rounds);
      ASSERT_EQ(state.rounds_done() + state.attempts_size(), state.rounds_started());
      ASSERT_LE(state.attempts_size(), most);
      ASSERT_LE(self.strategy().Save().size(), 60000u);
    };
    driver.Start();
    driver.Run();
    EXPECT_FALSE(driver.failed()) << driver.finish_reason();
    EXPECT_EQ(driver.state().rounds_done(), rounds);
    std::set<std::string> programs;
    for (const ScreenCandidate& screen : driver.screened) {
      if (absl::EndsWith(screen.tag, "7")) continue;
      EXPECT_TRUE(programs.insert(screen.candidate_id).second) << "screened twice: " << screen.tag;
    }
    return driver.transcript;
  }
};

TEST_P(PopulationPropertyTest, ARestartBeforeEveryEventChangesNothing) {
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(15, 4); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const auto undisturbed = Transcript(seed, false);
    ASSERT_EQ(undisturbed, Transcript(seed, true));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, PopulationPropertyTest,
                         testing::Combine(testing::ValuesIn(Strategies()), testing::Values(1, 5)),
                         [](const auto& parameter) {
                           return absl::StrCat(std::get<0>(parameter.param).name, "_",
                                               std::get<1>(parameter.param));
                         });

}  // namespace
}  // namespace ksearch
