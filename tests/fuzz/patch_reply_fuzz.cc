// Any text a model may send instead of changes to a program. What is accepted is a program like any
// other; a refusal says why.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/proposer/text_safety.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ksearch;  // NOLINT: a test's main function
  const absl::string_view reply(reinterpret_cast<const char*>(data), size);
  v1::Sources base;
  base.set_language(v1::LANGUAGE_CPP);
  base.add_files()->set_path("kernel.cpp");
  base.mutable_files(0)->set_content("int ksearch_run() {\n  int a = 1;\n\n  return a;\n}\n");
  base.add_files()->set_path("tile.h");
  base.mutable_files(1)->set_content("a\nb\na\n");
  const absl::StatusOr<v1::Sources> sources = ParsePatchReply(reply, base);
  if (sources.ok()) {
    size_t bytes = 0;
    for (const v1::SourceFile& file : sources->files()) {
      CHECK(!file.path().empty() && file.path()[0] != '/' && !absl::StrContains(file.path(), ".."));
      CHECK(IsValidUtf8(file.content()) && absl::EndsWith(file.content(), "\n"));
      bytes += file.content().size();
    }
    CHECK(sources->files_size() <= kMaxSourceFiles);
    CHECK(bytes <= static_cast<size_t>(kMaxSourceBytes));
  } else {
    const absl::StatusCode code = sources.status().code();
    CHECK(code == absl::StatusCode::kInvalidArgument ||
          code == absl::StatusCode::kFailedPrecondition ||
          code == absl::StatusCode::kResourceExhausted);
    CHECK(!sources.status().message().empty() && sources.status().message().size() < 5000);
  }
  const absl::StatusOr<std::vector<std::string>> points = ParsePointsReply(reply, 4);
  if (points.ok()) {
    CHECK(!points->empty() && points->size() <= 4);
    for (const std::string& point : *points) {
      CHECK(!point.empty() && point.size() <= 600 && !absl::StrContains(point, "\n"));
    }
  }
  return 0;
}
