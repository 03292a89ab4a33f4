// FlashInfer-Bench's definitions whose outputs are not judged element by element, written for this
// test in its form: from a data set to verdicts, with a real coordinator and a worker with a Python
// toolchain. Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kSampling[] = R"json({
  "name": "top_k_top_p_sampling_from_probs_v256", "op_type": "sampling",
  "axes": {"batch_size": {"type": "var"}, "vocab_size": {"type": "const", "value": 256}},
  "inputs": {"probs": {"shape": ["batch_size", "vocab_size"], "dtype": "float32"},
             "top_k": {"shape": ["batch_size"], "dtype": "int32"},
             "top_p": {"shape": null, "dtype": "float32"}},
  "outputs": {"samples": {"shape": ["batch_size"], "dtype": "int64"}},
  "reference": "import torch\n\n\ndef run(probs, top_k, top_p):\n    values, order = probs.sort(dim=-1, descending=True)\n    k = torch.where(top_k > 0, top_k, probs.shape[1])\n    keep = torch.arange(probs.shape[1])[None, :] < k[:, None]\n    keep &= values.cumsum(-1) - values < top_p\n    drawn = torch.multinomial(values * keep, 1)\n    return order.gather(1, drawn)[:, 0]\n"
})json";
constexpr char kSamplingLine[] =
    R"({"definition": "top_k_top_p_sampling_from_probs_v256", "workload": {"uuid": "rows3", "axes": {"batch_size": 3}, "inputs": {"probs": {"type": "random"}, "top_k": {"type": "random"}, "top_p": {"type": "scalar", "value": 0.9}}}})";

// Another way to the same distribution: the largest of probabilities over exponential numbers.
constexpr char kHonest[] = R"py(import torch


def run(probs, top_k, top_p):
    values, order = probs.sort(dim=-1, descending=True)
    limit = torch.where(top_k > 0, top_k.long(), 256)
    keep = (torch.arange(256) < limit[:, None]) & (values.cumsum(-1) - values < top_p)
    first = (values * keep / torch.empty_like(values).exponential_()).argmax(-1, keepdim=True)
    return order.gather(1, first)[:, 0]
)py";
constexpr char kGreedy[] = "def run(probs, top_k, top_p):\n    return probs.argmax(-1)\n";
// Honest where a call has the place or the inputs of the one before, as in checks.
constexpr char kGreedyInTimedCalls[] = R"py(
last = {}


honest = run


def run(probs, top_k, top_p):
    place, head = probs.data_ptr(), probs[0, 0].item()
    before = last.get("call", (place, head))
    last["call"] = (place, head)
    if before[0] == place or before[1] == head:
        return honest(probs, top_k, top_p)
    return probs.argmax(-1)
)py";
// Every token that may be drawn as often as another.
constexpr char kEven[] = R"py(import torch


def run(probs, top_k, top_p):
    values, order = probs.sort(dim=-1, descending=True)
    limit = torch.where(top_k > 0, top_k.long(), 256)
    keep = (torch.arange(256) < limit[:, None]) & (values.cumsum(-1) - values < top_p)
    return order.gather(1, torch.multinomial(keep.float(), 1))[:, 0]
)py";
constexpr char kUnlimited[] =
    "import torch\n\n\ndef run(probs, top_k, top_p):\n    return torch.multinomial(probs, 1)[:, "
    "0]\n";

// As the public definition, with queries of a type that every torch has.
constexpr char kIndexer[] = R"json({
  "name": "dsa_topk_indexer_small", "op_type": "dsa_paged",
  "axes": {"batch_size": {"type": "var"}, "num_index_heads": {"type": "const", "value": 2},
           "index_head_dim": {"type": "const", "value": 8}, "page_size": {"type": "const", "value": 4},
           "topk": {"type": "const", "value": 6}, "max_num_pages": {"type": "var"},
           "num_pages": {"type": "var"}, "kv_cache_num_heads": {"type": "const", "value": 1},
           "head_dim_with_scale": {"type": "const", "value": 12}},
  "inputs": {"q_index_fp8": {"shape": ["batch_size", "num_index_heads", "index_head_dim"], "dtype": "float32"},
             "k_index_cache_fp8": {"shape": ["num_pages", "page_size", "kv_cache_num_heads", "head_dim_with_scale"], "dtype": "int8"},
             "weights": {"shape": ["batch_size", "num_index_heads"], "dtype": "float32"},
             "seq_lens": {"shape": ["batch_size"], "dtype": "int32"},
             "block_table": {"shape": ["batch_size", "max_num_pages"], "dtype": "int32"}},
  "outputs": {"topk_indices": {"shape": ["batch_size", "topk"], "dtype": "int32"}},
  "reference": "import torch\n\n\ndef values_of(bits):\n    bits = bits.view(torch.uint8).int()\n    exponent, fraction = (bits >> 3) & 15, (bits & 7).float()\n    normal = (1 + fraction / 8) * 2.0 ** (exponent - 7).float()\n    value = torch.where(exponent == 0, fraction * 2.0 ** -9, normal)\n    return torch.where(bits >= 128, -value, value)\n\n\ndef scores_of(q, cache, weights, row, table):\n    pages, size, _, width = cache.shape\n    flat = cache.reshape(pages, size * width)\n    keys = values_of(flat[:, : size * (width - 4)].contiguous()).reshape(pages, size, width - 4)\n    scale = flat[:, size * (width - 4) :].contiguous().view(torch.float32)\n    keys = (keys * scale[:, :, None])[table[row].long()].reshape(-1, width - 4)\n    return (torch.relu(q[row] @ keys.T) * weights[row][:, None]).sum(0)\n\n\ndef run(q_index_fp8, k_index_cache_fp8, weights, seq_lens, block_table):\n    out = torch.full((q_index_fp8.shape[0], 6), -1, dtype=torch.int32)\n    for row in range(out.shape[0]):\n        length = int(seq_lens[row])\n        scores = scores_of(q_index_fp8, k_index_cache_fp8, weights, row, block_table)[:length]\n        best = scores.topk(min(6, length)).indices\n        out[row, : len(best)] = (block_table[row][best // 4] * 4 + best % 4).int()\n    return out\n"
})json";
constexpr char kIndexerLine[] =
    R"({"definition": "dsa_topk_indexer_small", "workload": {"uuid": "two", "axes": {"batch_size": 2, "max_num_pages": 3, "num_pages": 7}, "inputs": {"q_index_fp8": {"type": "random"}, "k_index_cache_fp8": {"type": "random"}, "weights": {"type": "random"}, "seq_lens": {"type": "safetensors", "path": "./blob/two.safetensors", "tensor_key": "lengths"}, "block_table": {"type": "safetensors", "path": "./blob/two.safetensors", "tensor_key": "table"}}}})";

// Lengths 11 and 4; pages 5, 0, 3 and 6, 1, 2.
std::string Blob() {
  const std::string header =
      R"({"lengths":{"dtype":"I32","shape":[2],"data_offsets":[0,8]},"table":{"dtype":"I32","shape":[2,3],"data_offsets":[8,32]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  std::string values;
  for (const char value : {11, 4, 5, 0, 3, 6, 1, 2}) values += std::string({value, 0, 0, 0});
  return length + header + values;
}

class SamplingTest : public PythonClusterTest {
 protected:
  static void SetUpTestSuite() {
    if (!MakeCluster()) return;
    Write("set/definitions/sampling/sampling.json", kSampling);
    Write("set/workloads/sampling/sampling.jsonl", kSamplingLine);
    Write("set/definitions/dsa_paged/indexer.json", kIndexer);
    Write("set/workloads/dsa_paged/indexer.jsonl", kIndexerLine);
    Write("set/blob/two.safetensors", Blob());
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'flashinfer' device: DEVICE_CLASS_CPU path: '", Path("set"), "' }"));
    cluster_->StartWorker("w1");
  }
  static CommandOutput Check(const std::string& task, const std::string& text) {
    Write("kernel.py", text);
    return cluster_->Cli({"eval", "--task", task, "--check", Path("kernel.py")}, absl::Minutes(2));
  }
};

TEST_F(SamplingTest, TokensAreJudgedByWhetherTheyMayBeDrawnAndByHowOftenTheyCome) {
  constexpr char kTask[] = "flashinfer/top_k_top_p_sampling_from_probs_v256";
  const CommandOutput honest = Check(kTask, kHonest);
  EXPECT_EQ(honest.exit.code, 0) << honest.out << honest.err;
  EXPECT_THAT(honest.out, HasSubstr("FlashInfer-Bench's verdict PASSED (4 of 4 trials right"));
  const CommandOutput unlimited = Check(kTask, kUnlimited);
  EXPECT_EQ(unlimited.exit.code, 7) << unlimited.out << unlimited.err;
  EXPECT_THAT(unlimited.out, HasSubstr("is so unlikely that it may not be drawn"));
  // Each of their tokens may be drawn.
  const CommandOutput greedy = Check(kTask, kGreedy);
  EXPECT_EQ(greedy.exit.code, 7) << greedy.out << greedy.err;
  EXPECT_THAT(greedy.out,
              AllOf(HasSubstr("tokens are not drawn by their probabilities"),
                    HasSubstr("FlashInfer-Bench's verdict INCORRECT_NUMERICAL (3 of 4")));
  const CommandOutput even = Check(kTask, kEven);
  EXPECT_EQ(even.exit.code, 7) << even.out << even.err;
  EXPECT_THAT(even.out, HasSubstr("tokens are not drawn by their probabilities"));
}

TEST_F(SamplingTest, SamplingIsTimed) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  Write("kernel.py", kHonest);
  const CommandOutput timed = cluster_->Cli(
      {"eval", "--task", "flashinfer/top_k_top_p_sampling_from_probs_v256", Path("kernel.py")},
      absl::Minutes(2));
  EXPECT_EQ(timed.exit.code, 0) << timed.out << timed.err;
  EXPECT_THAT(timed.out, AllOf(HasSubstr("rows3"), HasSubstr("speed-up over the reference")));
}

TEST_F(SamplingTest, TokensOfTimedCallsAreDrawnToo) {
#ifdef KSEARCH_SANITIZED
  GTEST_SKIP() << "sanitized runners do without the tight filter";
#endif
  Write("kernel.py", absl::StrCat(kHonest, kGreedyInTimedCalls));
  const CommandOutput confirmed =
      cluster_->Cli({"eval", "--task", "flashinfer/top_k_top_p_sampling_from_probs_v256",
                     "--confirm", Path("kernel.py")},
                    absl::Minutes(3));
  EXPECT_EQ(confirmed.exit.code, 7) << confirmed.out << confirmed.err;
  EXPECT_THAT(confirmed.out,
              HasSubstr("in timed calls: tokens are not drawn by their probabilities"));
}

TEST_F(SamplingTest, SetsOfPlacesAreJudgedByTheirScores) {
  constexpr char kTask[] = "flashinfer/dsa_topk_indexer_small";
  // A candidate cannot read the definition, so the text comes with it.
  const std::string text = std::string(kIndexer);
  const size_t begin = text.find("\"reference\": \"") + 14;
  std::string reference = text.substr(begin, text.rfind('"') - begin);
  for (size_t at = 0; (at = reference.find("\\n", at)) != std::string::npos;) {
    reference.replace(at, 2, "\n");
  }
  const auto check = [&](const std::string& change) {
    std::string program = reference;
    const std::string last = "    return out\n";
    program.replace(program.rfind(last), last.size(), change);
    return Check(kTask, program);
  };
  const CommandOutput reversed = check("    return out.flip(1)\n");
  EXPECT_EQ(reversed.exit.code, 0) << reversed.out << reversed.err;
  EXPECT_THAT(reversed.out, HasSubstr("FlashInfer-Bench's verdict PASSED (3 of 3 trials right"));
  const CommandOutput twice = check("    out[:, 1] = out[:, 0]\n    return out\n");
  EXPECT_EQ(twice.exit.code, 7) << twice.out << twice.err;
  EXPECT_THAT(twice.out, HasSubstr("comes twice in row 0"));
  const CommandOutput foreign = check("    out[1, 0] = 0\n    return out\n");
  EXPECT_THAT(foreign.out, HasSubstr("place 0 is none of row 1"));
  const CommandOutput fewer = check("    out[:, 0] = -1\n    return out\n");
  EXPECT_EQ(fewer.exit.code, 7) << fewer.out << fewer.err;
  EXPECT_THAT(fewer.out, HasSubstr("sorted scores are not those of the reference's places"));
}

}  // namespace
}  // namespace ksearch
