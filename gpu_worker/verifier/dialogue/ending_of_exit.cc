#include "gpu_worker/verifier/dialogue/ending_of_exit.h"

#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ksearch {
namespace {

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal) : absl::StrCat("SIG", name);
}

}  // namespace

Ending EndingOfExit(const SandboxExit& exit, bool loading) {
  const v1::Outcome outcome = loading ? v1::OUTCOME_LOAD_ERROR : v1::OUTCOME_RUNTIME_ERROR;
  const absl::string_view where = loading ? "while loading" : "in a call";
  if (exit.memory_limit_hit) {
    return {v1::OUTCOME_RESOURCE_LIMIT, absl::StrCat("out of memory ", where)};
  }
  if (exit.output_limit_hit) {
    return {v1::OUTCOME_RESOURCE_LIMIT,
            absl::StrCat("stopped ", where, " because it printed output without end")};
  }
  if (!exit.signaled && exit.code <= 128) {
    return {outcome, absl::StrCat("the process exited with status ", exit.code, " ", where)};
  }
  // A supervisor in between reports a signal as 128 + its number.
  const int signal = exit.signaled ? exit.code : exit.code - 128;
  if (signal == SIGXCPU || signal == SIGXFSZ) {
    return {v1::OUTCOME_RESOURCE_LIMIT,
            absl::StrCat("killed by ", SignalName(signal), " ", where,
                         signal == SIGXCPU ? ": processor time limit" : ": file size limit")};
  }
  if (signal == SIGSYS) {
    return {outcome, absl::StrCat("killed by SIGSYS ", where,
                                  ": used a system call that the sandbox forbids")};
  }
  Ending ending = {outcome, absl::StrCat("killed by ", SignalName(signal), " ", where)};
  // The others come from a batch system that takes its node back, to every process of the job.
  for (const int from_outside : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) {
    if (signal == from_outside) ending.killed = true;
  }
  if (signal == SIGKILL && exit.machine_out_of_memory) {
    ending.message = absl::StrCat("the kernel killed the process ", where,
                                  " for lack of memory, within its own limit");
    ending.machine_failed = true;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    if (signal == fault && !loading) ending.crashed = true;
  }
  return ending;
}

}  // namespace ksearch
