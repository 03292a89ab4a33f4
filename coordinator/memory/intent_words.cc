#include "coordinator/memory/intent_words.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

constexpr size_t kMaxLookedAt = 4 << 10;
constexpr int kTitleWeight = 3;

struct Term {
  v1::IntentKind intent;
  // Beginnings of words that follow each other.
  const char* words;
};

// A term's weight is its number of words.
constexpr Term kTerms[] = {
    {v1::INTENT_KIND_VECTORIZE, "vectoriz"},
    {v1::INTENT_KIND_VECTORIZE, "vector load"},
    {v1::INTENT_KIND_VECTORIZE, "vector store"},
    {v1::INTENT_KIND_VECTORIZE, "float4"},
    {v1::INTENT_KIND_VECTORIZE, "float2"},
    {v1::INTENT_KIND_VECTORIZE, "uint4"},
    {v1::INTENT_KIND_VECTORIZE, "int4"},
    {v1::INTENT_KIND_VECTORIZE, "128 bit"},
    {v1::INTENT_KIND_VECTORIZE, "wide load"},
    {v1::INTENT_KIND_VECTORIZE, "wide store"},
    {v1::INTENT_KIND_VECTORIZE, "simd"},
    {v1::INTENT_KIND_VECTORIZE, "avx"},
    {v1::INTENT_KIND_TILE, "tile"},
    {v1::INTENT_KIND_TILE, "tiling"},
    {v1::INTENT_KIND_TILE, "cache block"},
    {v1::INTENT_KIND_TILE, "loop block"},
    {v1::INTENT_KIND_TILE, "block loop"},
    {v1::INTENT_KIND_SHARED_MEMORY, "shared memory"},
    {v1::INTENT_KIND_SHARED_MEMORY, "smem"},
    {v1::INTENT_KIND_SHARED_MEMORY, "bank conflict"},
    {v1::INTENT_KIND_SHARED_MEMORY, "swizzl"},
    {v1::INTENT_KIND_SHARED_MEMORY, "scratchpad"},
    {v1::INTENT_KIND_REGISTERS, "register block"},
    {v1::INTENT_KIND_REGISTERS, "register til"},
    {v1::INTENT_KIND_REGISTERS, "in register"},
    {v1::INTENT_KIND_REGISTERS, "thread coarsen"},
    {v1::INTENT_KIND_REGISTERS, "coarsen"},
    {v1::INTENT_KIND_REGISTERS, "per thread"},
    {v1::INTENT_KIND_REGISTERS, "micro kernel"},
    {v1::INTENT_KIND_REGISTERS, "microkernel"},
    {v1::INTENT_KIND_COALESCE, "coalesc"},
    {v1::INTENT_KIND_COALESCE, "memory layout"},
    {v1::INTENT_KIND_COALESCE, "data layout"},
    {v1::INTENT_KIND_COALESCE, "transpos"},
    {v1::INTENT_KIND_COALESCE, "contiguous"},
    {v1::INTENT_KIND_COALESCE, "loop interchange"},
    {v1::INTENT_KIND_COALESCE, "interchange"},
    {v1::INTENT_KIND_COALESCE, "pack"},
    {v1::INTENT_KIND_FUSE, "fuse"},
    {v1::INTENT_KIND_FUSE, "fusing"},
    {v1::INTENT_KIND_FUSE, "fusion"},
    {v1::INTENT_KIND_FUSE, "single pass"},
    {v1::INTENT_KIND_FUSE, "one pass"},
    {v1::INTENT_KIND_FUSE, "fewer pass"},
    {v1::INTENT_KIND_PIPELINE, "pipelin"},
    {v1::INTENT_KIND_PIPELINE, "prefetch"},
    {v1::INTENT_KIND_PIPELINE, "double buffer"},
    {v1::INTENT_KIND_PIPELINE, "multi stage"},
    {v1::INTENT_KIND_PIPELINE, "multistage"},
    {v1::INTENT_KIND_PIPELINE, "cp async"},
    {v1::INTENT_KIND_PIPELINE, "async cop"},
    {v1::INTENT_KIND_PIPELINE, "asynchronous cop"},
    {v1::INTENT_KIND_PIPELINE, "tma"},
    {v1::INTENT_KIND_PIPELINE, "warp speciali"},
    {v1::INTENT_KIND_PIPELINE, "overlap"},
    {v1::INTENT_KIND_TENSOR_CORES, "tensor core"},
    {v1::INTENT_KIND_TENSOR_CORES, "wmma"},
    {v1::INTENT_KIND_TENSOR_CORES, "wgmma"},
    {v1::INTENT_KIND_TENSOR_CORES, "mma"},
    {v1::INTENT_KIND_TENSOR_CORES, "tl dot"},
    {v1::INTENT_KIND_REDUCE, "shuffle"},
    {v1::INTENT_KIND_REDUCE, "warp reduc"},
    {v1::INTENT_KIND_REDUCE, "block reduc"},
    {v1::INTENT_KIND_REDUCE, "tree reduc"},
    {v1::INTENT_KIND_REDUCE, "reduction"},
    {v1::INTENT_KIND_REDUCE, "accumulator"},
    {v1::INTENT_KIND_DECOMPOSE, "split k"},
    {v1::INTENT_KIND_DECOMPOSE, "stream k"},
    {v1::INTENT_KIND_DECOMPOSE, "paralleli"},
    {v1::INTENT_KIND_DECOMPOSE, "openmp"},
    {v1::INTENT_KIND_DECOMPOSE, "multi thread"},
    {v1::INTENT_KIND_DECOMPOSE, "multithread"},
    {v1::INTENT_KIND_DECOMPOSE, "threads"},
    {v1::INTENT_KIND_DECOMPOSE, "grid stride"},
    {v1::INTENT_KIND_DECOMPOSE, "load balanc"},
    {v1::INTENT_KIND_DECOMPOSE, "work distribution"},
    {v1::INTENT_KIND_DECOMPOSE, "per row"},
    {v1::INTENT_KIND_DECOMPOSE, "warp per"},
    {v1::INTENT_KIND_DECOMPOSE, "block per"},
    {v1::INTENT_KIND_OCCUPANCY, "occupancy"},
    {v1::INTENT_KIND_OCCUPANCY, "launch bound"},
    {v1::INTENT_KIND_OCCUPANCY, "block size"},
    {v1::INTENT_KIND_OCCUPANCY, "register pressure"},
    {v1::INTENT_KIND_LAUNCH, "persistent"},
    {v1::INTENT_KIND_LAUNCH, "fewer launch"},
    {v1::INTENT_KIND_LAUNCH, "launch overhead"},
    {v1::INTENT_KIND_LAUNCH, "single launch"},
    {v1::INTENT_KIND_LAUNCH, "one launch"},
    {v1::INTENT_KIND_LAUNCH, "single kernel"},
    {v1::INTENT_KIND_LAUNCH, "cuda graph"},
    {v1::INTENT_KIND_PRECISION, "fast math"},
    {v1::INTENT_KIND_PRECISION, "approximat"},
    {v1::INTENT_KIND_PRECISION, "lower precision"},
    {v1::INTENT_KIND_PRECISION, "reduced precision"},
    {v1::INTENT_KIND_PRECISION, "intrinsic"},
    {v1::INTENT_KIND_PRECISION, "polynomial"},
    {v1::INTENT_KIND_PRECISION, "exp2"},
    {v1::INTENT_KIND_PRECISION, "rsqrt"},
    {v1::INTENT_KIND_PRECISION, "quantiz"},
    {v1::INTENT_KIND_ALGORITHM, "algorithm"},
    {v1::INTENT_KIND_ALGORITHM, "online softmax"},
    {v1::INTENT_KIND_ALGORITHM, "welford"},
    {v1::INTENT_KIND_ALGORITHM, "winograd"},
    {v1::INTENT_KIND_ALGORITHM, "strassen"},
    {v1::INTENT_KIND_ALGORITHM, "fft"},
    {v1::INTENT_KIND_ALGORITHM, "radix"},
    {v1::INTENT_KIND_UNROLL, "unroll"},
    {v1::INTENT_KIND_UNROLL, "instruction level"},
    {v1::INTENT_KIND_UNROLL, "ilp"},
    {v1::INTENT_KIND_UNROLL, "branchless"},
    {v1::INTENT_KIND_UNROLL, "dependency chain"},
    {v1::INTENT_KIND_SYNCHRONIZE, "atomic"},
    {v1::INTENT_KIND_SYNCHRONIZE, "syncthreads"},
    {v1::INTENT_KIND_SYNCHRONIZE, "barrier"},
    {v1::INTENT_KIND_SYNCHRONIZE, "synchroniz"},
    {v1::INTENT_KIND_REUSE, "reuse"},
    {v1::INTENT_KIND_REUSE, "precomput"},
    {v1::INTENT_KIND_REUSE, "hoist"},
    {v1::INTENT_KIND_REUSE, "cache hint"},
    {v1::INTENT_KIND_REUSE, "l2 cach"},
    {v1::INTENT_KIND_REUSE, "ldg"},
    {v1::INTENT_KIND_REUSE, "non temporal"},
    {v1::INTENT_KIND_REUSE, "streaming store"},
    {v1::INTENT_KIND_REUSE, "rasteriz"},
    {v1::INTENT_KIND_SPECIALIZE, "speciali"},
    {v1::INTENT_KIND_SPECIALIZE, "template"},
    {v1::INTENT_KIND_SPECIALIZE, "special case"},
    {v1::INTENT_KIND_SPECIALIZE, "fast path"},
    {v1::INTENT_KIND_SPECIALIZE, "compile time"},
    {v1::INTENT_KIND_TUNE, "tune"},
    {v1::INTENT_KIND_TUNE, "tuning"},
    {v1::INTENT_KIND_TUNE, "autotun"},
    {v1::INTENT_KIND_TUNE, "larger block"},
    {v1::INTENT_KIND_TUNE, "smaller block"},
    {v1::INTENT_KIND_TUNE, "parameters"},
};

// Lower case, everything but letters and digits a space, one space before each word.
std::string Normal(absl::string_view text) {
  std::string normal = " ";
  for (const char c : text.substr(0, kMaxLookedAt)) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte)) {
      normal += absl::ascii_tolower(byte);
    } else if (normal.back() != ' ') {
      normal += ' ';
    }
  }
  if (normal.back() != ' ') normal += ' ';
  return normal;
}

// How often consecutive words of `text` begin like those of the term.
int Occurrences(const std::vector<std::string>& text, const std::vector<std::string>& term) {
  int found = 0;
  for (size_t i = 0; i + term.size() <= text.size(); ++i) {
    bool all = true;
    for (size_t j = 0; all && j < term.size(); ++j) all = absl::StartsWith(text[i + j], term[j]);
    if (all) ++found;
  }
  return found;
}

std::vector<std::string> WordsOf(absl::string_view text) {
  return absl::StrSplit(Normal(text), ' ', absl::SkipEmpty());
}

const std::vector<std::pair<v1::IntentKind, std::vector<std::string>>>& Terms() {
  static const auto* const terms = [] {
    auto* made = new std::vector<std::pair<v1::IntentKind, std::vector<std::string>>>;
    for (const Term& term : kTerms) made->emplace_back(term.intent, WordsOf(term.words));
    return made;
  }();
  return *terms;
}

}  // namespace

v1::IntentKind IntentIn(absl::string_view title, absl::string_view text) {
  const std::vector<std::string> title_words = WordsOf(title);
  const std::vector<std::string> text_words = WordsOf(text);
  std::map<v1::IntentKind, int> weights;  // sorted, so that the first of equal weights counts
  for (const auto& [intent, words] : Terms()) {
    const int found =
        kTitleWeight * Occurrences(title_words, words) + Occurrences(text_words, words);
    if (found > 0) weights[intent] += found * static_cast<int>(words.size());
  }
  v1::IntentKind best = v1::INTENT_KIND_UNSPECIFIED;
  int most = 0;
  for (const auto& [intent, weight] : weights) {
    if (weight <= most) continue;
    most = weight;
    best = intent;
  }
  return best;
}

}  // namespace ksearch
