#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// The descriptor in the sandbox of the file that an instrument writes its report to.
inline constexpr int kInstrumentReportFd = 4;
// The same as a path, for --log-file.
inline constexpr char kInstrumentReportPath[] = "/proc/self/fd/4";

// A program of the CUDA toolkit that starts another one and looks on: compute-sanitizer, ncu.
struct Instrument {
  std::string path;  // absolute
  // What of it lies outside the folders that every sandbox shows.
  std::vector<std::string> folders;
};

// The beginning of a command line; the program to look at follows.
struct InstrumentCommand {
  std::vector<std::string> words;
  std::vector<std::string> folders;
};

// `program` beside `compiler_path` (of the CUDA toolchain; may be empty), on PATH, or in `usual`.
// NOT_FOUND says where it was looked for.
absl::StatusOr<Instrument> FindInstrument(const std::string& program,
                                          const std::string& compiler_path,
                                          const std::string& usual = "/usr/local/cuda/bin");

// compute-sanitizer with one of its tools: "memcheck", "racecheck", "synccheck". Its
// report is what ReadSanitizerReport reads.
InstrumentCommand SanitizerCommand(const Instrument& sanitizer, const std::string& tool);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_
