#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/llm/model_server/landscape/landscape.h"

namespace ksearch {

// A program of a landscape: its choices and its defect.
struct LandscapeCode {
  LandscapePoint point;
  // KIND_UNSPECIFIED: none; otherwise COMPILE_ERROR, WRONG or CRASH.
  v1::LandscapeFailure::Kind defect = v1::LandscapeFailure::KIND_UNSPECIFIED;
  std::string remark;  // one meaningless line that makes programs differ; may be empty

  friend bool operator==(const LandscapeCode&, const LandscapeCode&) = default;
};

// Returns the program in C++. It does as many steps of work as its cost says, and it has its
// defect.
std::string RenderProgram(const Landscape& landscape, const LandscapeCode& code);

// Inverts RenderProgram. nullopt if `source` is not a program of this landscape.
std::optional<LandscapeCode> ReadProgram(const Landscape& landscape, absl::string_view source);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_
