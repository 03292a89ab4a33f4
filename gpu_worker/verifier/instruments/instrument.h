#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/instrument_command.h"

namespace ksearch {

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
