// A solution that parses is a candidate with its files unchanged, or says why it is none; traces
// are read from any bytes.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/suites/flashinfer/flashinfer_programs.h"
#include "coordinator/suites/flashinfer/flashinfer_solution.h"
#include "coordinator/suites/flashinfer/flashinfer_traces.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& trace : ksearch::ParseFlashInferTraces(text, "fuzz", "norm")) {
    CHECK(!trace.solution.empty() && trace.latency_ms >= 0);
  }
  const auto solution = ksearch::ParseFlashInferSolution(text, "fuzz");
  if (!solution.ok()) {
    CHECK(solution.status().message().substr(0, 4) == "fuzz");
    return 0;
  }
  ksearch::v1::Definition definition;
  definition.set_name(solution->definition);
  definition.add_inputs()->set_name("x");
  definition.add_outputs()->set_name("y");
  const auto program =
      ksearch::ProgramOfSolution(*solution, definition, ksearch::v1::DEVICE_CLASS_CUDA);
  if (!program.ok()) {
    CHECK(!program.status().message().empty());
    return 0;
  }
  const int own = program->files_size() - static_cast<int>(solution->sources.size());
  CHECK(own == 0 || own == 1);
  for (size_t i = 0; i < solution->sources.size(); ++i) {
    const ksearch::v1::SourceFile& file = program->files(own + static_cast<int>(i));
    CHECK(file.content() == solution->sources[i].content());
  }
  return 0;
}
