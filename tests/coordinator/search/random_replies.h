#ifndef KSEARCH_TESTS_COORDINATOR_SEARCH_RANDOM_REPLIES_H_
#define KSEARCH_TESTS_COORDINATOR_SEARCH_RANDOM_REPLIES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "common/rng.h"
#include "tests/coordinator/search/search_driver.h"

namespace ksearch {

// A model that gives good and bad answers as a pure function of seed and call, so that two searches
// with the same questions get the same answers.
class RandomReplies {
 public:
  explicit RandomReplies(uint64_t seed) : seed_(seed) {}

  std::string operator()(const AskModel& ask) const {
    Rng rng(seed_ * 1000003 + static_cast<uint64_t>(ask.call_number));
    if (ask.role == "code") {
      const uint64_t kind = rng.NextBelow(10);
      if (kind == 0) return "unusable";
      if (kind == 1) return "popular score=0.75";  // a duplicate sooner or later
      if (kind < 6) return absl::StrCat("program ", ask.call_number, " fail");
      return absl::StrCat("program ", ask.call_number, " score=", 0.5 + 2 * rng.NextDouble());
    }
    if (rng.NextBelow(8) == 0) return "unusable {";
    std::string script;
    const int ops = ask.labels.purpose == "init" ? 5 : static_cast<int>(rng.NextBelow(4));
    for (int i = 0; i < ops; ++i) absl::StrAppend(&script, Op(ask, i, &rng));
    return script;
  }

 private:
  std::string AnyNode(Rng* rng) const {
    const uint64_t pick = rng->NextBelow(12);
    return pick == 0 ? "root" : absl::StrCat("n", pick - 1);
  }

  std::string Op(const AskModel& ask, int i, Rng* rng) const {
    const bool init = ask.labels.purpose == "init";
    const uint64_t kind = init ? 0 : rng->NextBelow(8);
    if (kind < 4) {
      const std::string parent = init                         ? "root"
                                 : kind == 1                  ? AnyNode(rng)
                                 : ask.labels.node_id.empty() ? "root"
                                                              : ask.labels.node_id;
      return absl::StrCat("ops { insert { parent_id: '", parent, "' node_id: 'n",
                          init ? i : static_cast<int>(rng->NextBelow(40)), "' node { title: 'T",
                          rng->NextBelow(60), "' score: ", rng->NextDouble(),
                          " difficulty: ", 1 + rng->NextBelow(5), " } } } ");
    }
    if (kind == 4) {
      return absl::StrCat("ops { update { node_id: '", AnyNode(rng),
                          "' patch { score: ", 1.05 * rng->NextDouble(), " notes: 'n' } } } ");
    }
    if (kind == 5) {
      return absl::StrCat("ops { split { node_id: '", AnyNode(rng), "' children { node { title: 'S",
                          rng->NextBelow(20), "' } } } } ");
    }
    return absl::StrCat("ops { remove { node_id: '", AnyNode(rng), "' reason: 'r' } } ");
  }

  const uint64_t seed_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_COORDINATOR_SEARCH_RANDOM_REPLIES_H_
