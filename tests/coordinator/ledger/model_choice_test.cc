#include "coordinator/ledger/model_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ksearch {
namespace {

// A role with arms whose replies have fixed costs and gains; plays `calls` calls.
class Bandit {
 public:
  explicit Bandit(size_t arms) : arms_(arms) { rules_.ucb = true; }

  std::vector<int> Play(int calls, const std::vector<double>& gains,
                        const std::vector<int64_t>& costs, uint64_t seed) {
    std::vector<int> chosen(arms_.size(), 0);
    const std::vector<double> weights(arms_.size(), 1);
    for (int call = 1; call <= calls; ++call) {
      const size_t arm = ChooseArm(arms_, weights, rules_, ChoiceDraw(seed, ++number_));
      arms_[arm].set_submitted(arms_[arm].submitted() + 1);
      NoteCost(costs[arm], &arms_[arm]);
      NoteGain(Pointers(), arm, gains[arm], rules_);
      ++chosen[arm];
    }
    return chosen;
  }
  std::vector<v1::ModelArm*> Pointers() {
    std::vector<v1::ModelArm*> pointers;
    for (v1::ModelArm& arm : arms_) pointers.push_back(&arm);
    return pointers;
  }
  ChoiceRules& rules() { return rules_; }
  std::vector<v1::ModelArm>& arms() { return arms_; }

 private:
  std::vector<v1::ModelArm> arms_;
  ChoiceRules rules_;
  int64_t number_ = 0;
};

TEST(ModelChoiceTest, FixedWeightsAreTheSharesOfTheCalls) {
  const std::vector<v1::ModelArm> arms(3);
  std::vector<int> chosen(3, 0);
  for (int call = 0; call < 10'000; ++call) {
    ++chosen[ChooseArm(arms, {1.0, 3.0, 6.0}, ChoiceRules(), ChoiceDraw(5, call))];
  }
  EXPECT_NEAR(chosen[0], 1000, 120);
  EXPECT_NEAR(chosen[1], 3000, 200);
  EXPECT_NEAR(chosen[2], 6000, 200);
}

TEST(ModelChoiceTest, ADrawDependsOnSeedAndNumberAlone) {
  EXPECT_EQ(ChoiceDraw(1, 7), ChoiceDraw(1, 7));
  EXPECT_NE(ChoiceDraw(1, 7), ChoiceDraw(1, 8));
  EXPECT_NE(ChoiceDraw(1, 7), ChoiceDraw(2, 7));
  EXPECT_EQ(Bandit(3).Play(200, {0.1, 0.5, 0}, {1000, 1000, 1000}, 3),
            Bandit(3).Play(200, {0.1, 0.5, 0}, {1000, 1000, 1000}, 3));
}

TEST(ModelChoiceTest, EveryArmIsTriedBeforeAnyTwice) {
  Bandit bandit(4);
  EXPECT_EQ(bandit.Play(4, {1, 0, 0, 0}, {1, 1, 1, 1}, 9), (std::vector<int>{1, 1, 1, 1}));
}

TEST(ModelChoiceTest, CallsInFlightCountAsTries) {
  Bandit bandit(2);
  bandit.arms()[0].set_submitted(1);  // no result yet
  EXPECT_EQ(ChooseArm(bandit.arms(), {1.0, 1.0}, bandit.rules(), 0.0), 1u);
}

TEST(ModelChoiceTest, TheArmThatBringsMoreIsAskedMore) {
  Bandit bandit(2);
  bandit.rules().cost_weight = 0;
  const std::vector<int> chosen = bandit.Play(400, {0.0, 0.8}, {1000, 1000}, 11);
  EXPECT_GT(chosen[1], 2 * chosen[0]);
  // The other arm keeps about its share of exploration.
  EXPECT_GT(chosen[0], 40);
}

TEST(ModelChoiceTest, OfTwoThatBringAlikeTheCheaperIsAskedMore) {
  Bandit bandit(2);
  const std::vector<int> chosen = bandit.Play(400, {0.4, 0.4}, {1'000'000'000, 10'000'000}, 13);
  EXPECT_GT(chosen[1], 2 * chosen[0]);
  bandit = Bandit(2);
  bandit.rules().cost_weight = 0;
  const std::vector<int> blind = bandit.Play(400, {0.4, 0.4}, {1'000'000'000, 10'000'000}, 13);
  EXPECT_LT(std::max(blind[0], blind[1]), 3 * std::min(blind[0], blind[1]));
}

// The range of single costs: a model with one expensive call among many cheap ones is explored
// more than one whose calls all cost the same.
TEST(ModelChoiceTest, TheAllowanceForUnknownCostsFollowsTheRangeOfSingleCalls) {
  Bandit even(2), uneven(2);
  for (int i = 0; i < 10; ++i) {
    NoteCost(10'000'000, &even.arms()[0]);
    NoteCost(i == 0 ? 91'000'000 : 1'000'000, &uneven.arms()[0]);
  }
  EXPECT_EQ(even.arms()[0].nano_usd(), uneven.arms()[0].nano_usd());
  EXPECT_EQ(uneven.arms()[0].least_nano_usd(), 1'000'000);
  EXPECT_EQ(uneven.arms()[0].most_nano_usd(), 91'000'000);
  for (Bandit* bandit : {&even, &uneven}) {
    bandit->rules().cost_weight = 1;
    bandit->arms()[0].set_submitted(10);
    bandit->arms()[1].set_submitted(100);
    for (int i = 0; i < 100; ++i) NoteCost(9'500'000, &bandit->arms()[1]);
  }
  EXPECT_EQ(ChooseArm(even.arms(), {1.0, 1.0}, even.rules(), 0.5), 1u) << "the cheaper one";
  EXPECT_EQ(ChooseArm(uneven.arms(), {1.0, 1.0}, uneven.rules(), 0.5), 0u) << "it may be cheap";
}

TEST(ModelChoiceTest, ThoseThatAreAlikeAreAskedAlike) {
  Bandit bandit(4);
  const std::vector<double> weights(4, 1);
  bandit.Play(4, {0, 0, 0, 0}, {1, 1, 1, 1}, 23);  // each once
  std::vector<int> chosen(4, 0);
  for (int call = 0; call < 10'000; ++call) {
    ++chosen[ChooseArm(bandit.arms(), weights, bandit.rules(), ChoiceDraw(7, call))];
  }
  for (const int count : chosen) EXPECT_NEAR(count, 2500, 200);
  // Two of them are better: they share the best one's share, and the others the rest.
  for (const size_t arm : {0u, 1u}) bandit.arms()[arm].set_worth(0.5);
  for (v1::ModelArm& arm : bandit.arms()) {
    arm.set_best(1);
    arm.set_count(1);
  }
  chosen.assign(4, 0);
  for (int call = 0; call < 10'000; ++call) {
    ++chosen[ChooseArm(bandit.arms(), weights, bandit.rules(), ChoiceDraw(7, call))];
  }
  EXPECT_NEAR(chosen[0], 4000, 250);
  EXPECT_NEAR(chosen[1], 4000, 250);
  EXPECT_NEAR(chosen[2], 1000, 150);
}

TEST(ModelChoiceTest, NoMeanIsAboveTheLargestSeen) {
  Bandit bandit(2);
  NoteGain(bandit.Pointers(), 0, 1.0, bandit.rules());
  const v1::ModelArm& arm = bandit.arms()[0];
  EXPECT_DOUBLE_EQ(arm.worth() / arm.count(), arm.best());
}

TEST(ModelChoiceTest, WhatWasLuckyOnceFades) {
  Bandit bandit(2);
  bandit.rules().cost_weight = 0;
  bandit.rules().exploration = 0.1;
  bandit.Play(2, {3, 0}, {1, 1}, 17);
  const std::vector<int> chosen = bandit.Play(600, {0.0, 0.3}, {1, 1}, 17);
  EXPECT_GT(chosen[1], chosen[0]);
}

TEST(ModelChoiceTest, NumbersStayFinite) {
  Bandit bandit(3);
  bandit.Play(2000, {1e9, 0, 700}, {0, 0, INT64_MAX / 10000}, 19);
  for (const v1::ModelArm& arm : bandit.arms()) {
    EXPECT_TRUE(std::isfinite(arm.worth()) && std::isfinite(arm.best()));
    EXPECT_GE(arm.worth(), 0);
  }
}

}  // namespace
}  // namespace ksearch
