#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_

#include <string>

#include "proto/result.pb.h"

namespace ksearch {

// How a step of a candidate ended. PASSED means: go on.
struct Ending {
  v1::Outcome outcome = v1::OUTCOME_PASSED;
  std::string message;
  // The device or its driver failed, whatever ran on it: no fault of the candidate, if the device
  // itself says so too.
  bool device_failed = false;
  // By a SIGKILL that no limit explains, or by SIGTERM and the like: the candidate's own, or
  // somebody's on this machine.
  bool killed = false;
  // This machine had no memory or no descriptors left, for the verifier or for the process: a word
  // about neither program nor device. The job is tried elsewhere.
  bool machine_failed = false;
  // In a call, by a fault of its own code: a signal such as SIGSEGV, or an access or instruction
  // that a GPU refused and that took the context with it.
  bool crashed = false;
  // The words of an exception that a call ended with, if the program told them. They may hold
  // inputs, so only those of the task's own programs are shown to anybody.
  std::string words = {};
  bool passed() const { return outcome == v1::OUTCOME_PASSED; }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_
