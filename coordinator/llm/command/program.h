#ifndef KSEARCH_COORDINATOR_LLM_COMMAND_PROGRAM_H_
#define KSEARCH_COORDINATOR_LLM_COMMAND_PROGRAM_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "common/subprocess.h"

namespace ksearch {

struct ProgramOutput {
  Subprocess::Exit exit;
  std::string out;
  std::string err;         // last 4 KiB of standard error
  bool too_much = false;   // killed: more than max_output_bytes on standard output
  bool timed_out = false;  // killed at the timeout
  bool stopped = false;    // killed because `stop_fd` became readable
};

// Runs a program with `input` on its standard input until it ends. Then kills its whole process
// group, even if a process still holds the output open.
absl::StatusOr<ProgramOutput> RunWithInput(SubprocessOptions options, absl::string_view input,
                                           absl::Duration timeout, int64_t max_output_bytes,
                                           int stop_fd);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_COMMAND_PROGRAM_H_
