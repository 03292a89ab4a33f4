// Which model the bandit chooses, and what its statistics are after some gains.
#include <vector>

#include "bench/agreement/agreement_case.h"
#include "coordinator/ledger/model_choice.h"

namespace ksearch {

Json ModelShares(const Json& each) {
  v1::RunConfig config;
  ReadMessage(each.at("config"), &config);
  const ChoiceRules rules = ChoiceRulesOf(config);
  std::vector<v1::ModelArm> arms;
  for (const Json& json : each.at("arms")) ReadMessage(json, &arms.emplace_back());
  std::vector<v1::ModelArm*> all;
  for (v1::ModelArm& arm : arms) all.push_back(&arm);
  if (each.contains("gains")) {
    for (const Json& gain : each.at("gains")) {
      NoteGain(all, gain.at("arm").get<size_t>(), gain.at("gain").get<double>(), rules);
    }
  }
  Json answer;
  answer["books"] = Json::array();
  for (const v1::ModelArm& arm : arms) {
    answer["books"].push_back({arm.worth(), arm.count(), arm.best()});
  }
  const int64_t draws = each.at("draws");
  std::vector<int64_t> counts(arms.size(), 0);
  const std::vector<double> weights(arms.size(), 1.0);
  for (int64_t i = 1; i <= draws; ++i) {
    ++counts[ChooseArm(arms, weights, rules, ChoiceDraw(each.at("seed").get<uint64_t>(), i))];
  }
  answer["counts"] = counts;
  return answer;
}

}  // namespace ksearch
