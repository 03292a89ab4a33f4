#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_

#include <string>

#include "proto/result.pb.h"

namespace ksearch {

// How a step of a candidate ended. PASSED means that the next step may begin.
struct Ending {
  v1::Outcome outcome = v1::OUTCOME_PASSED;
  std::string message;
  // The device or its driver reported a failure. The candidate is not at fault if the device itself
  // confirms it.
  bool device_failed = false;
  // Ended by a SIGKILL that no limit explains, or by SIGTERM and the like. The candidate or
  // anything else on this machine may have sent it.
  bool killed = false;
  // This machine ran out of memory or descriptors, for the verifier or for the process. That says
  // nothing about the program or the device; the job is tried elsewhere.
  bool machine_failed = false;
  // A call crashed through a fault of its own code: a signal such as SIGSEGV, or an access or
  // instruction that the GPU refused and that destroyed the context.
  bool crashed = false;
  // The message of the exception that ended a call, if the program reported one. It may contain
  // input values, so it is shown only for the task's own programs.
  std::string words = {};
  bool passed() const { return outcome == v1::OUTCOME_PASSED; }
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_ENDING_H_
