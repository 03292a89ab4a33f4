#ifndef KSEARCH_TESTS_INTEGRATION_HOSTILE_CANDIDATES_H_
#define KSEARCH_TESTS_INTEGRATION_HOSTILE_CANDIDATES_H_

#include <string>
#include <vector>

#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// One program of tests/bad_candidates and how it must end.
struct HostileCandidate {
  std::string path;  // below tests/bad_candidates, without ".cpp"; made up by the test if there is
                     // no such file
  // Any of these: which one may depend on the moment, or on what this machine offers (control
  // groups).
  std::vector<v1::Outcome> outcomes;
  std::string message = "";  // part of the result's
  enum class Measure { kScreen, kScreenLarge, kConfirm };
  Measure measure = Measure::kScreen;
  // Takes long or gigabytes: left out unless KSEARCH_HOSTILE=all.
  bool heavy = false;
};

const std::vector<HostileCandidate>& HostileCandidates();

// Twins that resemble a hostile one and must pass.
const std::vector<std::string>& HonestTwins();

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_HOSTILE_CANDIDATES_H_
