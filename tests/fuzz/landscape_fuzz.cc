// Landscapes that people write, and prompts that a simulated model reads: the bytes up to the first
// NUL are a landscape, the rest is a prompt. Without a landscape of its own the prompt meets a
// small one.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/llm/model_server/landscape/landscape_player.h"
#include "coordinator/llm/model_server/landscape/landscape_program.h"

namespace {

constexpr char kSmall[] = R"(
  task: "t"
  program { input: "x" output: "y" elements: "args->n" scale: 2 start_work: 1000 }
  parameters { name: "tile" ordered: true values { name: "1" } values { name: "2" factor: 0.5 } }
  parameters { name: "layout" values { name: "rows" } values { name: "blocks" factor: 2 } }
  failures { probability: 0.5 kind: WRONG }
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = input.find('\0');
  const absl::string_view text =
      end == absl::string_view::npos ? absl::string_view(kSmall) : input.substr(0, end);
  const absl::string_view prompt = end == absl::string_view::npos ? input : input.substr(end + 1);
  auto landscape = ksearch::Landscape::Parse(text, "fuzz");
  if (!landscape.ok()) {
    CHECK(!landscape.status().message().empty());
    return 0;
  }
  const ksearch::LandscapePoint& start = landscape->start();
  CHECK(landscape->Read(landscape->Write(start)) == start);
  const std::string program = ksearch::RenderProgram(*landscape, {start, {}, ""});
  CHECK(ksearch::ReadProgram(*landscape, program).has_value());
  const ksearch::LandscapePlayer player(*std::move(landscape));
  const auto reply = player.Answer({"call", "<file path=\"a\">", std::string(prompt)});
  CHECK(!reply.text.empty());
  return 0;
}
