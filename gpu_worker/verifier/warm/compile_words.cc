#include "gpu_worker/verifier/warm/compile_words.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gpu_worker/verifier/dialogue/runner_reply.h"

namespace ksearch {
namespace {

constexpr absl::string_view kTraceback = "Traceback (most recent call last):\n";
constexpr absl::string_view kCut = "[...] ";
constexpr size_t kMostWords = 1500;

// The beginnings of lines that name compilers' exceptions.
constexpr absl::string_view kCompilers[] = {"triton.",          "torch._inductor.",
                                            "torch._dynamo.",   "torch.utils.cpp_extension",
                                            "CompilationError", "ninja"};

bool NamesCompiler(absl::string_view words) {
  for (const absl::string_view line : absl::StrSplit(words, '\n')) {
    if (std::any_of(std::begin(kCompilers), std::end(kCompilers),
                    [line](absl::string_view begin) { return absl::StartsWith(line, begin); })) {
      return true;
    }
  }
  // torch.utils.cpp_extension has no exception type of its own.
  return absl::StrContains(words, "Error building extension");
}

}  // namespace

Ending DescribeCompileError(Ending ending) {
  if (ending.outcome == v1::OUTCOME_TIMEOUT) {
    ending.outcome = v1::OUTCOME_COMPILE_TIMEOUT;
    return ending;
  }
  if (ending.words.empty()) return ending;
  absl::string_view words = ending.words;
  if (const size_t last = words.rfind(kTraceback); last != absl::string_view::npos) {
    words.remove_prefix(last + kTraceback.size());
  }
  if (NamesCompiler(words)) ending.outcome = v1::OUTCOME_COMPILE_ERROR;
  ending.message =
      words.size() <= kMostWords
          ? std::string(words)
          : absl::StrCat(kCut, words.substr(words.size() - (kMostWords - kCut.size())));
  ending.message = CleanText(ending.message, static_cast<int64_t>(kMostWords) + 100);
  return ending;
}

}  // namespace ksearch
