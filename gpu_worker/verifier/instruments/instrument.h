#ifndef KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_
#define KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gpu_worker/verifier/dialogue/instrument_command.h"

namespace ksearch {

// Looks for `program` next to `compiler_path` (of the CUDA toolchain; may be empty), on PATH, and
// in `usual`. NOT_FOUND lists the places that were searched.
absl::StatusOr<Instrument> FindInstrument(const std::string& program,
                                          const std::string& compiler_path,
                                          const std::string& usual = "/usr/local/cuda/bin");

// compute-sanitizer with one of its tools: "memcheck", "racecheck", "synccheck". Its
// report is what ReadSanitizerReport reads.
InstrumentCommand SanitizerCommand(const Instrument& sanitizer, const std::string& tool);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_INSTRUMENTS_INSTRUMENT_H_
