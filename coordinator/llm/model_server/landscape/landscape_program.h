#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "coordinator/llm/model_server/landscape/landscape.h"

namespace ksearch {

// A program of a landscape: what it chooses, and what is wrong with it.
struct LandscapeCode {
  LandscapePoint point;
  // KIND_UNSPECIFIED: nothing; else COMPILE_ERROR, WRONG or CRASH.
  v1::LandscapeFailure::Kind defect = v1::LandscapeFailure::KIND_UNSPECIFIED;
  std::string remark;  // one line without meaning, so that programs may differ in it; may be empty

  friend bool operator==(const LandscapeCode&, const LandscapeCode&) = default;
};

// The program in C++. It does as many steps of work as its cost says, and it has its defect.
std::string RenderProgram(const Landscape& landscape, const LandscapeCode& code);

// What RenderProgram made `source` from. nullopt: it is no program of this landscape.
std::optional<LandscapeCode> ReadProgram(const Landscape& landscape, absl::string_view source);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_LANDSCAPE_LANDSCAPE_PROGRAM_H_
