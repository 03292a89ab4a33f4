#ifndef KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_INSTRUMENT_COMMAND_H_
#define KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_INSTRUMENT_COMMAND_H_

#include <string>
#include <vector>

namespace ksearch {

// The descriptor in the sandbox of the file that an instrument writes its report to.
inline constexpr int kInstrumentReportFd = 4;
// The same as a path, for --log-file.
inline constexpr char kInstrumentReportPath[] = "/proc/self/fd/4";

// A program of the CUDA toolkit that starts and observes another program: compute-sanitizer, ncu.
struct Instrument {
  std::string path;  // absolute
  // Folders of the instrument that are not part of every sandbox.
  std::vector<std::string> folders;
};

// The beginning of a command line; the program to observe follows it.
struct InstrumentCommand {
  std::vector<std::string> words;
  std::vector<std::string> folders;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_DIALOGUE_INSTRUMENT_COMMAND_H_
