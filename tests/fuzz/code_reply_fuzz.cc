// Any text a model may send instead of a program. What is accepted keeps its promises and survives
// being shown in a prompt and read back.

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
  for (const v1::Language language : {v1::LANGUAGE_CPP, v1::LANGUAGE_CUDA, v1::LANGUAGE_PYTHON}) {
    const absl::StatusOr<v1::Sources> sources = ParseCodeReply(reply, language);
    if (!sources.ok()) {
      CHECK(absl::IsInvalidArgument(sources.status()));
      CHECK(!sources.status().message().empty() && sources.status().message().size() < 1000);
      continue;
    }
    CHECK(sources->language() == language);
    CHECK(sources->files_size() >= 1 && sources->files_size() <= kMaxSourceFiles);
    size_t bytes = 0;
    for (const v1::SourceFile& file : sources->files()) {
      CHECK(!file.path().empty() && file.path()[0] != '/' && file.path()[0] != '-');
      CHECK(!absl::StrContains(file.path(), ".."));
      CHECK(IsValidUtf8(file.content()) && absl::EndsWith(file.content(), "\n"));
      bytes += file.content().size();
    }
    CHECK(bytes <= static_cast<size_t>(kMaxSourceBytes));
    const absl::StatusOr<v1::Sources> again = ParseCodeReply(RenderSources(*sources), language);
    CHECK(again.ok());
    CHECK(again->SerializeAsString() == sources->SerializeAsString());
  }
  return 0;
}
