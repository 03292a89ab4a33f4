// States that earlier versions of the program saved.
#include "coordinator/search/saved_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "coordinator/search/saved_programs.h"
#include "tests/coordinator/search/random_replies.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {
namespace {

// Returns the form of version 1, in which the log's fields were beside the others.
std::string AsVersion1(v1::SearchState state) {
  v1::EvaluationLogState log = state.log();
  log.clear_floor_us();
  state.clear_log();
  state.set_version(1);
  return absl::StrCat(state.SerializeAsString(), log.SerializeAsString());
}

TEST(SavedSearchTest, AStateThatVersion1WroteIsReadWhole) {
  // A search on a GPU with three cycles, after 45 steps.
  const char* source = std::getenv("KSEARCH_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const auto bytes =
      ReadFile(absl::StrCat(source, "/tests/coordinator/search/data/version_1.state"), 1 << 20);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto state = DecodeSearchState(*bytes);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->version(), kSearchStateVersion);
  EXPECT_EQ(state->cycles_size(), 3);
  const v1::EvaluationLogState& log = state->log();
  EXPECT_EQ(log.screened_size(), 16);
  EXPECT_GE(log.candidates(), log.screened_size());
  EXPECT_EQ(log.seed().sources().files(0).content(), "seed score=0.6");
  EXPECT_GT(log.best_screened(), 1);
  EXPECT_EQ(log.baseline_us().at("w"), 100);
  // And saved in the new form it is read again, and is the same.
  const auto again = DecodeSearchState(StateBytes(*state));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(StateBytes(*again), StateBytes(*state));
  EXPECT_EQ(AsVersion1(*state).size(), bytes->size());
}

TEST(SavedSearchTest, AnyStateOfASearchSurvivesTheOldForm) {
  int states = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SearchContext context = TestContext(/*paper=*/false, 20, 3);
    context.task.set_device(v1::DEVICE_CLASS_CUDA);
    context.config.set_profile(v1::PROFILE_POLICY_AUTO);
    context.config.mutable_world_model()->set_learn_from_confirmations(true);
    SearchDriver driver(context, RandomReplies(seed));
    driver.screen = [](const ScreenCandidate& candidate) {
      v1::JobResult result = FakeScreening(candidate.sources);
      if (result.workloads_size() > 0) result.mutable_workloads(0)->set_floor_us(7);
      return result;
    };
    driver.confirm = [](const v1::Sources& sources) {
      return sources.files(0).content().size() % 3 == 0 ? v1::OUTCOME_INCORRECT
                                                        : v1::OUTCOME_PASSED;
    };
    driver.after_step = [&](SearchDriver& self) {
      v1::SearchState state = self.state();
      // The bytes kept from one save to the next equal fresh ones.
      SavedPrograms anew, solutions(v1::SearchState::kSolutionsFieldNumber);
      ASSERT_EQ(self.strategy().Save(), EncodeWithoutTree(state, &anew, &solutions));
      state.mutable_log();  // that of the beginning is empty, and so is not written
      const auto decoded = DecodeSearchState(AsVersion1(state));
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      ASSERT_EQ(StateBytes(*decoded), StateBytes(state));
      ++states;
    };
    driver.Start();
    driver.Run();
  }
  EXPECT_GT(states, 200);
}

TEST(SavedSearchTest, TheTreeIsInItsOwnPlaceOrInStatesOfEarlierVersions) {
  SearchDriver driver(TestContext(/*paper=*/false, 10), RandomReplies(1));
  driver.Start();
  driver.Run();
  const v1::SearchState whole = driver.state();
  ASSERT_GT(whole.world_model().nodes_size(), 5);
  const std::string saved = driver.strategy().Save();
  EXPECT_LT(saved.size() + whole.world_model().ByteSizeLong() / 2, StateBytes(whole).size());
  v1::WorldModel kept = whole.world_model();
  kept.clear_active_node_id();  // the state knows better: it may change within a revision
  TreeShelf shelf;
  shelf.Keep(kept);
  EXPECT_EQ(StateBytes(DecodeSearchState(saved, &shelf).value()), StateBytes(whole));
  EXPECT_EQ(StateBytes(DecodeSearchState(StateBytes(whole), &shelf).value()), StateBytes(whole));
  const TreeShelf empty;
  const absl::Status gone = DecodeSearchState(saved, &empty).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(gone.message()), testing::HasSubstr("the tree of the search is gone"));
}

}  // namespace
}  // namespace ksearch
