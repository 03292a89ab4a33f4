#ifndef KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_
#define KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_

#include <string>
#include <vector>

#include "proto/result.pb.h"

namespace ksearch {

// An attacking program of tests/bad_candidates/python, and how it must end.
struct PythonCheat {
  std::string name;  // of the file, without ".py"
  // The allowed outcomes; timing may decide which one occurs. OUTCOME_PASSED means that the attack
  // gains nothing: a confirmation against an honest program must not find it faster.
  std::vector<v1::Outcome> outcomes;
  std::string message = "";  // part of the result's
  enum class Measure { kCheck, kScreen, kScreenLarge, kConfirm };
  Measure measure = Measure::kCheck;
  // One of its kind that is tried every time; the others are left out unless
  // KSEARCH_PYTHON_CORPUS=all.
  bool always = false;
};

const std::vector<PythonCheat>& PythonCheats();

// An honest program that resembles an attack and must pass without a suspicion.
struct PythonTwin {
  std::string name;
  bool always = false;
};
const std::vector<PythonTwin>& HonestPythonPrograms();

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_VERIFIER_PYTHON_CORPUS_H_
