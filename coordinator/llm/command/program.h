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
  std::string err;         // its last 4 KiB
  bool too_much = false;   // more than max_output_bytes on standard output: killed
  bool timed_out = false;  // killed
  bool stopped = false;    // `stop_fd` became readable: killed
};

// Runs a program with `input` as its standard input until it ends. Then its whole process group is
// killed, whatever still holds its output open.
absl::StatusOr<ProgramOutput> RunWithInput(SubprocessOptions options, absl::string_view input,
                                           absl::Duration timeout, int64_t max_output_bytes,
                                           int stop_fd);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_COMMAND_PROGRAM_H_
