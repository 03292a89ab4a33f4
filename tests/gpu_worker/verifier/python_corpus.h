#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch {

// One program of tests/bad_candidates/python that attacks, and how it must end.
struct PythonCheat {
  std::string name;  // of the file, without ".py"
  // Any of these: which one may depend on the moment. OUTCOME_PASSED: it gains nothing, so that a
  // confirmation against an honest program must not find it faster.
  std::vector<v1::Outcome> outcomes;
  std::string message = "";  // part of the result's
  enum class Measure { kCheck, kScreen, kScreenLarge, kConfirm };
  Measure measure = Measure::kCheck;
  // One of its kind that is tried every time; the others are left out unless
  // KSEARCH_PYTHON_CORPUS=all.
  bool always = false;
};

const std::vector<PythonCheat>& PythonCheats();

// Programs that resemble one that attacks, and must pass without a suspicion.
struct PythonTwin {
  std::string name;
  bool always = false;
};
const std::vector<PythonTwin>& HonestPythonPrograms();

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_
